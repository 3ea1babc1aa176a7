"""Convex functions that need not be smooth, with bounded subgradients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class ConvexLipschitz(FunctionClass):
    """Each f_i is convex and M-Lipschitz, so that its subgradients are of length M at most; the sum has a minimiser,
    x*. A property of each f_i, so that the average has it too.

    Subgradients and proximal points are those of :class:`fedtheory.classes.convex.Convex`. ``M``: the letter of the
    Lipschitz constant of the functions, which a problem of this class declares in the place of a smoothness constant:
    ``problem.L`` is M. There is no mu, and no kappa.
    """

    M: sympy.Symbol

    constants: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.M}-Lipschitz"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.M: "L"}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance are convex, and no steeper than declared."""
        return bool(min(problem.f.mu) >= 0 and max(_steepest_squared(problem.f)) <= problem.L**2)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        return each(min(0 * problem.mu, *problem.f.mu), problem.n), each(math.inf, problem.n)

    def steepest(self, problem: Problem, params: Any) -> Any:
        """The square of the length of a subgradient, at most: as declared, or as of functions that do not keep to
        it."""
        return max(problem.L**2, *_steepest_squared(problem.f))


def _steepest_squared(f: Any) -> Any:
    """The squares of the Lipschitz constants, ``(n,)``: infinite of functions that tell none."""
    return getattr(f, "steepest_squared", each(math.inf, f.n))
