"""Smooth functions whose average meets the Polyak-Lojasiewicz condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from fedtheory.classes.base import Average, FunctionClass, each
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.separable import lojasiewicz_constant


@dataclass(frozen=True)
class PolyakLojasiewicz(FunctionClass):
    r"""The average f of the f_i is mu-Polyak-Lojasiewicz, |grad f(x)|^2 \ge 2 mu (f(x) - f^*), and has a minimiser, x*;
    each f_i is L-smooth, convex or not.

    The condition is of the average: the f_i need not meet it, nor be bounded below. x* is one of perhaps many
    minimisers. ``own``: each f_i is smooth with an L_i of its own, which ``problem.f.L`` tells, and L, of f, is the
    mean of the L_i.

    What is known of the average are these inequalities at every point, and that f is L-smooth: necessary conditions, so
    that a bound that they give holds, and one that they do not give may hold. Among the members are functions that are
    not convex, and flat directions.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    own: bool = False

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.own:
            return f"f {self.mu}-Polyak-Lojasiewicz and {self.L}-smooth, f_i L_i-smooth, {self.L} the mean of the L_i"
        return f"f {self.mu}-Polyak-Lojasiewicz, each f_i {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the two constants, of which the first is at most the other."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance are known to belong to the class."""
        smooth = _lipschitz(problem.f)
        within = smooth.mean() <= problem.L if self.own else max(smooth) <= problem.L
        return bool(within and lojasiewicz_constant(problem.f, problem.optimum.x) >= problem.mu)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, of ``own`` constants -L_i and L_i."""
        smooth = _lipschitz(problem.f)
        largest = smooth if self.own else each(max(problem.L, *smooth), problem.n)
        return -largest, largest

    def mean_square(self, problem: Problem, params: Any) -> Any:
        """The mean of the squares of the Lipschitz constants of the gradients, of ``own`` constants the L_i."""
        return (self.curvatures(problem, params)[1] ** 2).mean()

    def average(self, problem: Problem, params: Any) -> Average:
        """What is known of the average f at a point."""
        smooth = _lipschitz(problem.f)
        mu, L = problem.mu, max(problem.L, smooth.mean() if self.own else max(smooth))

        def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
            """|grad f(x)|^2/(2L) <= f(x) - f* <= |grad f(x)|^2/(2 mu)."""
            if gradient is None:
                yield "f at least f*", -1 * gap
                return
            yield "f at least f*", gradient**2 / (2 * L) - gap
            yield "Polyak-Lojasiewicz", gap - gradient**2 / (2 * mu)

        return formulas


def _lipschitz(f: Any) -> Array:
    """The Lipschitz constants of the gradients, ``(n,)``."""
    found: Array = np.maximum(f.L, -f.mu)
    return found
