"""Convex and smooth functions of which the first is strongly convex."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.classes.base import FunctionClass, each
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class OneStronglyConvex(FunctionClass):
    """f_1 is mu-strongly convex, the others are convex; each f_i is L-smooth.

    Of the average nothing is said: it is (mu/n)-strongly convex.
    """

    mu: sympy.Symbol
    L: sympy.Symbol

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f_1 {self.mu}-strongly convex, the others convex, all {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least curvature of f_1, and the largest of all."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return bool(f.mu[0] >= problem.mu and min(f.mu) >= 0 and max(f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        f = problem.f
        lower = each(Fraction(0), problem.n)
        lower[0] = min(problem.mu, f.mu[0])
        return lower, each(max(problem.L, *f.L), problem.n)
