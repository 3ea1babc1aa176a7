"""Convex and smooth functions of which the first is strongly convex."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.classes.base import FunctionClass, each
from fedtheory.instances import members
from fedtheory.instances.base import Recipe, check_shape, number, pick
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

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        share = pick(rng, (Fraction(1), Fraction(1, 100), Fraction(0)))
        first, *others = recipe["clients"]
        flatter = [{**c, **{k: tuple(share * v for v in c[k]) for k in members.SLOPES if k in c}} for c in others]
        return {**recipe, "clients": (first, *flatter), str(self.mu): mu, str(self.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless positive."""
        mu, L = recipe[str(self.mu)], recipe[str(self.L)]
        check_shape(recipe["d"], mu, L)
        return number(mu, exact), number(L, exact)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        f = problem.f
        lower = each(Fraction(0), problem.n)
        lower[0] = min(problem.mu, f.mu[0])
        return lower, each(max(problem.L, *f.L), problem.n)
