"""Strongly convex and smooth functions: with the same constants, with constants of their own, or only some of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import (
    ELL,
    MU,
    Average,
    Bounds,
    Declared,
    FunctionClass,
    OfClient,
    each,
    extremes,
    parts,
)
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class _BetweenConstants(FunctionClass):
    """Each f_i, and g where there is one, between two constants that are declared of all."""

    mu: sympy.Symbol
    L: sympy.Symbol

    has_g = True

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least and the largest curvature."""
        return self.mu, self.L

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance have the declared constants."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in parts(problem))


@dataclass(frozen=True)
class SmoothStronglyConvex(_BetweenConstants):
    """Each f_i, and g where there is one, is mu-strongly convex and L-smooth: a property of each, not of the average.

    ``mu``, ``L``: the letters of the constants declared of all. ``conjugates``: the method sees the f_i through their
    conjugates; ``quadratics``: the class is of quadratics only.
    """

    conjugates: bool = False
    quadratics: bool = False

    alike = True
    flat: ClassVar[str] = "SmoothConvex({})"
    optima: ClassVar[tuple[str, ...]] = ("consensus", "stationary", "sum zero")

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and {self.L}-smooth"

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        client = OfClient("mu", "L", conjugates=True, equal=True, of_g=True)
        return Declared(Bounds(MU, ELL), client=client, convex=True, differentiable=True, between=True)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)


@dataclass(frozen=True)
class SmoothEach(_BetweenConstants):
    """Each f_i, and g where there is one, is mu-strongly convex and L_i-smooth, with the constant L_i <= L that it has,
    which ``problem.f.L`` gives: mu is one for all, the L_i are of each."""

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and L_i-smooth, L_i <= {self.L}"

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(client=OfClient("mu", "f.L", conjugates=True, equal=True), differentiable=True, between=True)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(extremes(problem)[0], problem.n), problem.f.L


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

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        client = OfClient("mu" if self.common else "f.mu", "params.L", conjugates=True, equal=True)
        return Declared(client=client, differentiable=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        convex = bool(min(problem.f.mu) >= problem.mu)
        return convex and all(h <= bound for h, bound in zip(problem.f.L, params.L, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(min(problem.mu, *problem.f.mu), problem.n), params.L


@dataclass(frozen=True)
class ConvexBlocks(SmoothBlocks):
    """h_1, ..., h_n, each of a variable of its own, convex and L_i-smooth; the members are strongly convex."""

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each convex and L_i-smooth"

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(client=OfClient("0", "params.L", conjugates=True, equal=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(min(0 * problem.mu, *problem.f.mu), problem.n), params.L


@dataclass(frozen=True)
class OneStronglyConvex(FunctionClass):
    """One f_i is mu-strongly convex, the others are convex; each f_i is L-smooth.

    ``which``: the field of ``Params`` that says which one, counted from 0; f_1 unless it is given. Of the average
    nothing is said: it is (mu/n)-strongly convex.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    which: str = ""

    @property
    def text(self) -> str:
        """The class, in words."""
        one = f"f_i, i = {self.which}," if self.which else "f_1"
        return f"{one} {self.mu}-strongly convex, the others convex, all {self.L}-smooth"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least curvature of the one, and the largest of all."""
        return self.mu, self.L

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(client=OfClient("mu", "L", equal=True, one=self.which))

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f = problem.f
        return bool(f.mu[self._place(params)] >= problem.mu and min(f.mu) >= 0 and max(f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        f = problem.f
        lower, one = each(Fraction(0), problem.n), self._place(params)
        lower[one] = min(problem.mu, f.mu[one])
        return lower, each(max(problem.L, *f.L), problem.n)

    def _place(self, params: Any) -> int:
        return int(getattr(params, self.which)) if self.which else 0


@dataclass(frozen=True)
class StronglyConvexOnAverage(FunctionClass):
    """Each f_i is convex and L-smooth; the average is mu-strongly convex.

    Of the average only pairs of a point with x* are used.
    """

    mu: sympy.Symbol
    L: sympy.Symbol

    flat: ClassVar[str] = "SmoothConvex({})"

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth, their average {self.mu}-strongly convex"

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the least curvature of the average, and the largest of each."""
        return self.mu, self.L

    @property
    def declares(self) -> Declared:
        """What proofs may assume of the members."""
        return Declared(Bounds(sympy.S.Zero, ELL), average=_convex_from_minimiser(MU), convex=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are known to belong to the class: their least
        curvatures add up.
        """
        f = problem.f
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and f.mu.mean() >= problem.mu)

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(min(Fraction(0), mu), problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """Return what is known of the average f, mu-strongly convex, at a point and x*."""
        return _convex_from_minimiser(min(problem.mu, problem.f.mu.mean()))


def _convex_from_minimiser(mu: Any) -> Average:
    def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
        """mu/2 |x - x*|^2 <= f(x) - f* <= <grad f(x), x - x*> - mu/2 |x - x*|^2."""
        square = mu / 2 * x**2
        yield "average from x*", square - gap
        if gradient is not None:
            yield "average to x*", gap + square - gradient * x

    return formulas
