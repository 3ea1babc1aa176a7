"""Convex and smooth functions with a strongly convex average."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy

from fedtheory.classes.base import WORSE, Average, FunctionClass, Outside, each
from fedtheory.instances import members
from fedtheory.instances.base import Recipe, check_shape, number, pick
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class StronglyConvexOnAverage(FunctionClass):
    """Each f_i is convex and L-smooth; the average is mu-strongly convex.

    Of the average only pairs of a point with x* are used.
    """

    mu: sympy.Symbol
    L: sympy.Symbol

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth, their average {self.mu}-strongly convex"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least curvature of the average, and the largest of each."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance are known to belong to the class: their least curvatures add up."""
        f = problem.f
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and f.mu.mean() >= problem.mu)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, or of one that is a little beyond."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        # Now and then f_i that are not convex, or flat ones: what is said of each is then broken, or attained, alone.
        less = pick(rng, (Fraction(0),) * 8 + (mu, 2 * mu))
        clients = tuple(
            {**c, **{k: tuple(v - less for v in c[k]) for k in members.SLOPES if k in c}} for c in recipe["clients"]
        )
        mean = max(sum(min(members.slopes_of(c)) for c in clients) / n, Fraction(0))
        declared = pick(rng, (mu, min(mean, L), min(mean, L), min(2 * mean, L)))
        return {**recipe, "clients": clients, str(self.mu): declared or mu, str(self.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless positive."""
        mu, L = recipe[str(self.mu)], recipe[str(self.L)]
        check_shape(recipe["d"], mu, L)
        return number(mu, exact), number(L, exact)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = members.curvatures(problem)
        return each(min(Fraction(0), mu), problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """What is known of the average f, mu-strongly convex, at a point and x*."""
        mu = min(problem.mu, problem.f.mu.mean())

        def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
            """mu/2 |x - x*|^2 <= f(x) - f* <= <grad f(x), x - x*> - mu/2 |x - x*|^2."""
            square = mu / 2 * x**2
            yield "average from x*", square - gap
            if gradient is not None:
                yield "average to x*", gap + square - gradient * x

        return formulas

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or whose average is."""
        yield from super().outside(problem, params, known)
        f: Any = problem.f
        changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=each(problem.mu * (1 - WORSE), f.n), L=f.L)
        yield "less convex functions", replace(problem, f=changed), params
