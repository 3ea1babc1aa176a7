"""The names that methods are written with, for one import."""

from typing import NamedTuple

from fedtheory.algorithms.base import method
from fedtheory.algorithms.parts import Clients, Gradients, Models, Momentum, Point, zeros
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem, everywhere
from fedtheory.randomness import Distribution, Draw

__all__ = [
    "Array",
    "Clients",
    "Distribution",
    "Draw",
    "Gradients",
    "Models",
    "Momentum",
    "NamedTuple",
    "Point",
    "Problem",
    "Scalar",
    "everywhere",
    "method",
    "zeros",
]
