"""Strongly convex and smooth functions, each with a smoothness constant of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from fedtheory.classes.base import FunctionClass, each, extremes, parts
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothEach(FunctionClass):
    """Each f_i, and g where there is one, is mu-strongly convex and L_i-smooth, with the constant L_i <= L that it has,
    which ``problem.f.L`` tells: mu is one for all, the L_i are of each."""

    mu: sympy.Symbol
    L: sympy.Symbol

    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and L_i-smooth, L_i <= {self.L}"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least and the largest curvature."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance have the constants declared."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(extremes(problem)[0], problem.n), problem.f.L
