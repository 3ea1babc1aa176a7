"""Functions of some class beside a convex g, of which only proximal points are asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.classes.base import FunctionClass
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class Composite(FunctionClass):
    """f_1, ..., f_n of the class ``of``, beside a closed and convex g, smooth or not: minimise (1/n) sum f_i + g.

    ``problem.g.resolvent(1 / gamma, x[..., None, :] / gamma)[..., 0, :]`` is the proximal point at x for the stepsize
    gamma; ``problem.g.gradient`` gives a subgradient. x* is a minimiser of the whole. ``ValueError`` for a class that
    says something of the average of the f_i, which is least at x* only where there is no g.
    """

    of: FunctionClass

    has_g = True
    with_g = True

    def __post_init__(self) -> None:
        super().__post_init__()
        of: Any = self.of
        if not isinstance(of, FunctionClass) or isinstance(of, Composite):
            raise ValueError(f"a composite problem is made of a class of functions, got {of!r:.60}")
        own = type(of).average is not FunctionClass.average or type(of).steepest is not FunctionClass.steepest
        if own or of.conjugates or of.optimum != "consensus":
            raise ValueError(f"{type(of).__name__} speaks of functions that have no g beside them")

    @property
    def constants(self) -> tuple[str, ...]:  # type: ignore[override]
        """The constants of the problem that the class has."""
        return self.of.constants

    @property
    def loose(self) -> bool:  # type: ignore[override]
        """Whether the formulas say less than all that is known of the class."""
        return self.of.loose

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{self.of.text}, g convex"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class of the f_i, and where their values come from."""
        return self.of.letters

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol] | None:
        """The letters of the least and the largest curvature of the f_i, where their class has both."""
        return self.of.ends

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the f_i of an instance are of their class, and g is convex."""
        alone = self.of.contains(replace(problem, g=None), params)
        return alone and problem.g is not None and min(problem.g.mu) >= 0

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return self.of.curvatures(replace(problem, g=None), params)

    def curvatures_of_g(self, problem: Problem, params: Any) -> tuple[Any, Any]:
        """Least and largest curvature of g: 0, or what one that does not keep to it has, and no largest one."""
        least = Fraction(0) if problem.g is None else min(0 * problem.mu, *problem.g.mu)
        return least, math.inf
