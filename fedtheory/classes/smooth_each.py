"""Strongly convex and smooth functions, each with a smoothness constant of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.classes.base import each, extremes
from fedtheory.classes.smooth_strongly_convex import SmoothStronglyConvex
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothEach(SmoothStronglyConvex):
    """Each f_i is mu-strongly convex and L_i-smooth, with the constant L_i <= L that it has, which ``problem.f.L``
    tells: mu is one for all, the L_i are of each."""

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and L_i-smooth, L_i <= {self.L}"

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(extremes(problem)[0], problem.n), problem.f.L
