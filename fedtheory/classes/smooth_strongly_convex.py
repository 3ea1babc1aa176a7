"""Strongly convex and smooth functions, each with the same constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import WORSE, FunctionClass, Outside, each, extremes, parts
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothStronglyConvex(FunctionClass):
    """Each f_i, and g where there is one, is mu-strongly convex and L-smooth: a property of each, not of the average.

    ``mu``, ``L``: the letters of the constants declared of all. ``conjugates``: the method sees the f_i through their
    conjugates. ``kinks``: whether functions with two slopes are among the members; ``turned``: whether Hessians with
    other eigenvectors are; ``identical``: f_1 = ... = f_n; ``quadratics``: the class is of quadratics only.
    ``conditions``: options for L/mu, any if there are none.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    conjugates: bool = False
    kinks: bool = True
    turned: bool = True
    identical: bool = False
    quadratics: bool = False
    conditions: tuple[Fraction, ...] = ()

    optima: ClassVar[tuple[str, ...]] = ("consensus", "stationary", "sum zero")
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least and the largest curvature."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance have the constants declared."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        for part in ("f", "g"):
            functions = getattr(problem, part, None)
            if functions is None:
                continue
            posed = getattr(known, part)
            mu, L = np.minimum(functions.mu, problem.mu), np.maximum(np.maximum(functions.L, posed.L), problem.L)
            # The class of each function may be wider than what is declared of all.
            lower = (mu - WORSE * abs(mu), np.minimum(mu, posed.mu) - WORSE * L)
            worse = [("less smooth", functions.mu, (1 + WORSE) * L)]
            worse += [("less convex", below, functions.L) for below in lower]
            for name, of_mu, of_L in worse:
                changed: Any = SimpleNamespace(n=functions.n, d=functions.d, mu=of_mu, L=of_L)
                yield f"{name} functions", replace(problem, **{part: changed}), params
