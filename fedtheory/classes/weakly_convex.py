"""Weakly convex and smooth functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import Average, FunctionClass, each, extremes, f_star
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class WeaklyConvex(FunctionClass):
    """Each f_i has curvatures between -s and r >= s >= 0: f_i + (s/2)|.|^2 is convex, f_i is r-smooth. A property of
    each f_i, so that the average has it too; the average has a minimiser, x*.

    ``mu`` is the letter of s, ``L`` that of r. ``symmetric``: s = r, so that all that is known is that gradients are
    r-Lipschitz. There is no kappa.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    symmetric: bool = False

    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.symmetric:
            return f"each with an {self.L}-Lipschitz gradient"
        return f"each with curvatures between -{self.mu} and {self.L}"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.mu: lambda problem, params: -problem.mu, self.L: "L"}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        # Declared are -s and r.
        return bool(min(problem.f.mu) >= problem.mu and max(problem.f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -s and r, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """What is known of the average f: it is r-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))
