"""The names that methods are written with, for one import."""

from typing import NamedTuple

from fedtheory.algorithms.base import method
from fedtheory.algorithms.examples import Example, Given
from fedtheory.algorithms.parts import Clients, Gradients, Models, Momentum, Point, zeros
from fedtheory.algorithms.slips import Table, edits
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem, everywhere
from fedtheory.randomness import Bernoulli, Distribution, Draw, Product, UniformSubset
