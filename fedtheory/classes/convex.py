"""Convex functions, smooth or not, and those of them that are strongly convex."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each, parts
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class Convex(FunctionClass):
    """Each f_i, and g where there is one, is closed and convex, smooth or not; the sum has a minimiser, x*.

    ``problem.f.gradient`` gives a subgradient, the same whenever it is asked at one point; y* are subgradients at x*
    that balance, which need not be those given. ``problem.f.resolvent`` gives proximal points. There are no letters.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """None."""
        return {}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance are convex."""
        return all(min(part.mu) >= 0 for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        least = min(0 * problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)


@dataclass(frozen=True)
class StronglyConvex(FunctionClass):
    """Each f_i, and g where there is one, is closed and mu-strongly convex, smooth or not.

    Subgradients and proximal points are those of :class:`Convex`. There is no L, and no kappa.
    """

    mu: sympy.Symbol

    constants: ClassVar[tuple[str, ...]] = ("mu",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.mu: "mu"}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance have the constant declared."""
        return all(min(part.mu) >= problem.mu for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: mu, or what functions that do not keep to it have, and no
        largest one."""
        least = min(problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)
