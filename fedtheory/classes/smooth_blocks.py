"""Strongly convex and smooth functions, each of a variable of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothBlocks(FunctionClass):
    """h_1, ..., h_n, each of a variable of its own, each mu_i-strongly convex and L_i-smooth with the L_i ``(n,)`` of a
    field ``L`` of ``Params``, which the setting's ``parameters`` make of the clients' entries ``L``.

    ``mu``, ``L``: the least of the mu_i and the largest of the L_i. ``common``: whether one mu is declared of all. The
    members are quadratics with any centres.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    common: bool = False

    optima: ClassVar[tuple[str, ...]] = ("sum zero", "none")

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each mu_i-strongly convex and L_i-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least and the largest curvature."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        convex = bool(min(problem.f.mu) >= problem.mu)
        return convex and all(h <= bound for h, bound in zip(problem.f.L, params.L, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(min(problem.mu, *problem.f.mu), problem.n), params.L
