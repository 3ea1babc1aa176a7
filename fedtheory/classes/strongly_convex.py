"""Strongly convex and smooth functions: with the same constants, with constants of their own, or only some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    MU,
    WORSE,
    Average,
    Bounds,
    Declared,
    FunctionClass,
    OfClient,
    OfTwoConstants,
    Outside,
    each,
    extremes,
    only_declared,
    parts,
    with_part,
)
from fedtheory.instances import Recipe, members, pick
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array, square_root
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import Quadratics


@dataclass(frozen=True)
class _BetweenConstants(OfTwoConstants):
    """Each f_i, and g where there is one, between two constants that are declared of all."""

    has_g = True

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance have the constants declared."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in parts(problem))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        return beyond_constants(self, problem, params, known)


def beyond_constants(of: FunctionClass, problem: Problem, params: object, known: Problem) -> Outside:
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
            changed = only_declared(functions, of_mu, of_L)
            yield f"{name} functions", with_part(problem, part, changed), params


@dataclass(frozen=True)
class SmoothStronglyConvex(_BetweenConstants):
    """Each f_i, and g where there is one, is mu-strongly convex and L-smooth: a property of each, not of the average.

    ``mu``, ``L``: the letters of the constants declared of all. ``conjugates``: the method sees the f_i through their
    conjugates; ``quadratics``: the class is of quadratics only.

    Args:
        mu: The letter of the strong convexity constant.
        L: The letter of the smoothness constant.
        conjugates: True if the method sees the f_i through their conjugates.
        quadratics: True for quadratics only.
        optimum: What x* is: "consensus" by default, "stationary" or "sum zero".

    Examples:
        >>> import fedtheory as ft
        >>> mu, L = ft.letters("mu L")
        >>> ft.SmoothStronglyConvex(mu, L).text
        'each mu-strongly convex and L-smooth'
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
        """The facts about the members that proofs may assume."""
        client = OfClient("mu", "L", conjugates=True, equal=True, of_g=True)
        return Declared(
            Bounds(MU, ELL),
            client=client,
            convex=True,
            differentiable=True,
            between=True,
            linear_gradients=self.quadratics,
        )

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance have the constants declared, and are quadratics if all are."""
        quadratic = not self.quadratics or all(isinstance(part, Quadratics) for part in parts(problem))
        return quadratic and super().contains(problem, params)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)


@dataclass(frozen=True)
class SmoothEach(_BetweenConstants):
    """Each f_i, and g where there is one, is mu-strongly convex and L_i-smooth, with the constant L_i <= L that it has,
    which ``problem.f.L`` gives: mu is one for all, the L_i are of each.

    Args:
        mu: The letter of the strong convexity constant.
        L: The letter of a bound on all L_i.
        optimum: What x* is, by default the minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.SmoothEach(*ft.letters("mu L")).text
        'each mu-strongly convex and L_i-smooth, L_i <= L'
    """

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and L_i-smooth, L_i <= {self.L}"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(client=OfClient("mu", "f.L", conjugates=True, equal=True), differentiable=True, between=True)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return each(extremes(problem)[0], problem.n), problem.f.L


@sampler.register(SmoothStronglyConvex)
@sampler.register(SmoothEach)
class StronglyConvexSampler(Sampler):
    """Strongly convex and smooth functions."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions: curvatures mostly at the ends of the class."""
        L = members.scale(rng)
        mu = L / self.condition(rng)
        kinks = self.drawing.kinks and not self.of.quadratics
        drawn = members.draw_functions(rng, n, d, (mu, L), with_g, kinks)
        return {**drawn, str(self.of.mu): mu, str(self.of.L): L}

    def condition(self, rng: np.random.Generator) -> Fraction:
        """A condition number, L/mu, that the class has."""
        return pick(rng, self.drawing.conditions) if self.drawing.conditions else members.condition(rng)

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point, L/mu = ``values["kappa"]``: L for the first ``stiff`` clients, mu for
        others.

        ``ValueError`` for a condition number below 1, or one that the class does not have.
        """
        kappa = values["kappa"]
        if kappa < 1:
            raise ValueError(f"kappa must be at least 1, got {kappa}")
        if self.drawing.conditions and not isinstance(square_root(kappa), Fraction):
            raise ValueError(f"kappa must be the square of a rational here, so that the stepsizes are: got {kappa}")
        mu, L = (Fraction(1), kappa) if self.of.conjugates else (1 / kappa, Fraction(1))
        flat = (Fraction(0),)
        clients = tuple({"h": (L if i < stiff else mu,), "y": flat} for i in range(n))
        g = {"g": {"h": (mu,), "y": flat}} if with_g else {}
        return {"d": 1, "x": flat, "clients": clients, **g, str(self.of.mu): mu, str(self.of.L): L}

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``;
        ``ValueError`` unless their curvatures are positive."""
        return members.functions(parts, x, y, exact)


@dataclass(frozen=True)
class OneStronglyConvex(OfTwoConstants):
    """One f_i is mu-strongly convex, the others are convex; each f_i is L-smooth.

    ``which``: the field of ``Params`` that says which one, counted from 0; f_1 unless it is given. Nothing
    more is assumed of the average: it is (mu/n)-strongly convex.
    """

    which: str = ""

    @property
    def text(self) -> str:
        """The class, in words."""
        one = f"f_i, i = {self.which}," if self.which else "f_1"
        return f"{one} {self.mu}-strongly convex, the others convex, all {self.L}-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(client=OfClient("mu", "L", equal=True, one=self.which))

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f = problem.f
        return bool(f.mu[self._place(params)] >= problem.mu and min(f.mu) >= 0 and max(f.L) <= problem.L)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        f = problem.f
        lower, one = each(Fraction(0), problem.n), self._place(params)
        lower[one] = min(problem.mu, f.mu[one])
        return lower, each(max(problem.L, *f.L), problem.n)

    def _place(self, params: object) -> int:
        return int(getattr(params, self.which)) if self.which else 0


@sampler.register(OneStronglyConvex)
class OneStronglyConvexSampler(Sampler):
    """Functions, the first of them strongly convex."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        share = pick(rng, (Fraction(1), Fraction(1, 100), Fraction(0)))
        first, *others = recipe["clients"]
        flatter = [{**c, **{k: tuple(share * v for v in c[k]) for k in members.SLOPES if k in c}} for c in others]
        return {**recipe, "clients": (first, *flatter), str(self.of.mu): mu, str(self.of.L): L}


@dataclass(frozen=True)
class StronglyConvexOnAverage(OfTwoConstants):
    """Each f_i is convex and L-smooth; the average is mu-strongly convex.

    Of the average only pairs of a point with x* are used.

    Args:
        mu: The letter of the strong convexity constant of the average.
        L: The letter of the smoothness constant of each f_i.
        optimum: What x* is, by default the minimiser of the average, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.StronglyConvexOnAverage(*ft.letters("mu L")).text
        'each convex and L-smooth, their average mu-strongly convex'
    """

    flat: ClassVar[str] = "SmoothConvex({})"

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth, their average {self.mu}-strongly convex"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(sympy.S.Zero, ELL), average=_convex_from_minimiser(MU), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong: their least curvatures add up."""
        f = problem.f
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and f.mu.mean() >= problem.mu)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(min(Fraction(0), mu), problem.n), each(L, problem.n)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f, mu-strongly convex, at a point and x*."""
        return _convex_from_minimiser(min(problem.mu, problem.f.mu.mean()))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or whose average is."""
        yield from super().outside(problem, params, known)
        f = problem.f
        changed = only_declared(f, each(problem.mu * (1 - WORSE), f.n), f.L)
        yield "less convex functions", replace(problem, f=changed), params


def _convex_from_minimiser(mu: Scalar) -> Average:
    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        """mu/2 |x - x*|^2 <= f(x) - f* <= <grad f(x), x - x*> - mu/2 |x - x*|^2."""
        square = mu / 2 * x**2
        yield "average from x*", square - gap
        if gradient is not None:
            yield "average to x*", gap + square - gradient * x

    return formulas


@sampler.register(StronglyConvexOnAverage)
class StronglyConvexOnAverageSampler(Sampler):
    """Convex functions with a strongly convex average."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, or of one that is a little beyond."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        # Occasionally f_i that are not convex, or flat: they break, or attain, the condition on each f_i alone.
        less = pick(rng, (Fraction(0),) * 8 + (mu, 2 * mu))
        clients = tuple(
            {**c, **{k: tuple(v - less for v in c[k]) for k in members.SLOPES if k in c}} for c in recipe["clients"]
        )
        mean = max(sum(min(members.slopes_of(c)) for c in clients) / n, Fraction(0))
        declared = pick(rng, (mu, min(mean, L), min(mean, L), min(2 * mean, L)))
        return {**recipe, "clients": clients, str(self.of.mu): declared or mu, str(self.of.L): L}
