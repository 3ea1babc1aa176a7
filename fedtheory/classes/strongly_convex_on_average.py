"""Convex and smooth functions with a strongly convex average."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.classes.base import Average, FunctionClass, each, extremes
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

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
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
