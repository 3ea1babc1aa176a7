"""Convex and smooth functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each, extremes, parts
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Each f_i, and g where there is one, is convex and L-smooth, none needs to be strongly convex; the sum has a
    minimiser, x*, and perhaps others.

    A property of each f_i, so that the average is convex and L-smooth too. The members are flat in some directions, or
    everywhere. There is no mu, and no kappa.
    """

    L: sympy.Symbol

    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L"}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        return all(min(part.mu) >= 0 and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)
