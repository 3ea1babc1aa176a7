"""Strongly convex and smooth functions, each with the same constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each, extremes, parts
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothStronglyConvex(FunctionClass):
    """Each f_i, and g where there is one, is mu-strongly convex and L-smooth: a property of each, not of the average.

    ``mu``, ``L``: the letters of the constants declared of all. ``conjugates``: the method sees the f_i through their
    conjugates; ``quadratics``: the class is of quadratics only.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    conjugates: bool = False
    quadratics: bool = False

    optima: ClassVar[tuple[str, ...]] = ("consensus", "stationary", "sum zero")
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least and the largest curvature."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance have the constants declared."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)
