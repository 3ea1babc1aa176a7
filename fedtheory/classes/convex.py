"""Convex functions that need not be smooth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    MU,
    WORSE,
    Bounds,
    Declared,
    FunctionClass,
    Outside,
    each,
    only_declared,
    parts,
    with_part,
)
from fedtheory.instances import Recipe, Source, check_shape, members, number, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem

#: The subgradients given at a kink, or balancing there, in the place of the sign.
_CHOICES = tuple(Fraction(v) for v in (0, 0, 1, -1, "1/2"))


_SHARES = tuple(Fraction(v) for v in (0, 0, "1/4", "-1/4", 1, -1))


#: Lengths whose squares add up to 1: how steep functions are along each coordinate.
STEEP = {1: (("1",),), 2: (("3/5", "4/5"), ("1", "0")), 3: (("2/3", "1/3", "2/3"), ("0", "1", "0"))}


@dataclass(frozen=True)
class Convex(FunctionClass):
    """Each f_i, and g where there is one, is closed and convex, smooth or not; the sum has a minimiser, x*.

    ``problem.f.gradient`` gives a subgradient, the same whenever it is asked at one point; y* are subgradients at x*
    that balance, which need not be those given. ``problem.f.resolvent`` gives proximal points. There are no letters.

    Args:
        optimum: What x* is, by default a minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.Convex().text
        'each convex'
    """

    alike = True
    constants: ClassVar[tuple[str, ...]] = ()
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each convex"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(sympy.S.Zero, None), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are convex."""
        return all(min(part.mu) >= 0 for part in parts(problem))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        least = min(0 * problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        return _not_convex(self, problem, params, known)


@dataclass(frozen=True)
class StronglyConvex(FunctionClass):
    """Each f_i, and g where there is one, is closed and mu-strongly convex, smooth or not.

    Subgradients and proximal points are those of :class:`Convex`. There is no L, and no kappa.

    Args:
        mu: The letter of the strong convexity constant.
        optimum: What x* is, by default the minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.StronglyConvex(ft.letters("mu")).text
        'each mu-strongly convex'
    """

    mu: sympy.Symbol

    alike = True
    flat: ClassVar[str] = "Convex()"
    constants: ClassVar[tuple[str, ...]] = ("mu",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(MU, None), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance have the constant declared."""
        return all(min(part.mu) >= problem.mu for part in parts(problem))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: mu, or what functions that do not keep to it have, and no
        largest one."""
        least = min(problem.mu, *(v for part in parts(problem) for v in part.mu))
        return each(least, problem.n), each(math.inf, problem.n)

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        return _not_convex(self, problem, params, known)


@dataclass(frozen=True)
class ConvexLipschitz(FunctionClass):
    """Each f_i is convex and M-Lipschitz, so that its subgradients are of length M at most; the sum has a minimiser,
    x*. A property of each f_i, so that the average has it too.

    Subgradients and proximal points are those of :class:`fedtheory.classes.convex.Convex`. ``M``: the letter of the
    Lipschitz constant of the functions, which a problem of this class declares in the place of a smoothness constant:
    ``problem.L`` is M. There is no mu, and no kappa.

    Args:
        M: The letter of the Lipschitz constant.
        optimum: What x* is, by default a minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.ConvexLipschitz(ft.letters("M")).text
        'each convex and M-Lipschitz'
    """

    M: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.M}-Lipschitz"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letter of the class, and where its value comes from."""
        return {self.M: "L"}

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(Bounds(sympy.S.Zero, None, steepest=ELL**2), convex=True)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are convex, and no steeper than declared."""
        return bool(min(problem.f.mu) >= 0 and max(_steepest_squared(problem.f)) <= problem.L**2)

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0, or what functions that do not keep to it have, and no
        largest one."""
        return each(min(0 * problem.mu, *problem.f.mu), problem.n), each(math.inf, problem.n)

    def steepest(self, problem: Problem, params: object) -> Scalar:
        """The square of the length of a subgradient, at most: as declared, or as of functions that do not keep to
        it."""
        return max(problem.L**2, *_steepest_squared(problem.f))

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        return _not_convex(self, problem, params, known)


def _steepest_squared(f: Any) -> Any:
    """The squares of the Lipschitz constants, ``(n,)``: infinite for functions that state none."""
    return getattr(f, "steepest_squared", each(math.inf, f.n))


def _not_convex(of: FunctionClass, problem: Problem, params: object, known: Problem) -> Outside:
    """Instances with one function a little less convex than the class allows, or than those of ``known``; or
    steeper, where it bounds gradients."""
    low, _ = of.curvatures(problem, params)
    steepest = of.steepest(problem, params)
    for part, own in (("f", problem.f), ("g", problem.g)):
        if own is None:
            continue
        posed, f = getattr(known, part), cast(Any, own)
        squares = getattr(f, "steepest_squared", None)
        for i in range(f.n):
            here = np.arange(f.n) == i
            less = np.where(here, np.minimum(low[0], posed.mu) - WORSE, f.mu)
            flat = only_declared(f, less, f.L, steepest_squared=squares)
            yield "less convex functions", with_part(problem, part, flat), params
            if steepest is not None:
                steeper = np.where(here, steepest * (1 + WORSE), squares)
                steep = only_declared(f, f.mu, f.L, steepest_squared=steeper)
                yield "steeper functions", with_part(problem, part, steep), params


@sampler.register(Convex)
@sampler.register(StronglyConvex)
class ConvexSampler(Sampler):
    """Convex functions, or strongly convex ones."""

    @property
    def strongly(self) -> bool:
        """True if the least curvature has a letter."""
        return isinstance(self.of, StronglyConvex)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        size = members.scale(rng)
        least = size if self.strongly else Fraction(0)
        clients = tuple(kinked(rng, d, least, size * pick(rng, (1, 1, 10))) for _ in range(n))
        recipe: dict[str, Any] = {"d": d, "x": small(rng, d), "clients": clients}
        if with_g:
            recipe["g"] = {**kinked(rng, d, least, size), "y": (Fraction(0),) * d}
        return {**recipe, str(self.of.mu): least} if self.strongly else recipe

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, infinity) as declared of the functions of a recipe, mu = 0 of convex ones."""
        mu = recipe[str(self.of.mu)] if self.strongly else Fraction(0)
        check_shape(recipe["d"], *([mu] if self.strongly else []))
        return number(mu, exact), float("inf")


@sampler.register(ConvexLipschitz)
class LipschitzSampler(Sampler):
    """Convex and Lipschitz functions, linear on both sides of a kink in each coordinate."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member: mostly as steep as the class allows."""
        M = members.scale(rng)
        steep = tuple(M * Fraction(v) for v in pick(rng, STEEP.get(d, (("1", *("0",) * (d - 1)),))))
        drawn = [[pick(rng, _SHARES) for _ in range(d)] for _ in range(n)]
        means = [sum(v[j] for v in drawn) / n for j in range(d)]
        # The largest gradient at x*, less the mean, is as long as the class allows, or shorter.
        most = [max(Fraction(1), *(abs(v[j] - means[j]) for v in drawn)) for j in range(d)]
        y = [tuple(steep[j] * (v[j] - means[j]) / most[j] for j in range(d)) for v in drawn]
        used = pick(rng, (Fraction(1), Fraction(1), Fraction(1), Fraction(1, 2)))

        def client(i: int) -> Recipe:
            choice, balancing = (tuple(pick(rng, _CHOICES) for _ in range(d)) for _ in range(2))
            at = tuple(_kink(rng) for _ in range(d))
            jumps = []
            for j in range(d):
                # The jump takes the rest of the gradient at x*.
                sign = abs(balancing[j]) if at[j] == 0 else Fraction(1)
                jumps.append(used * (steep[j] - abs(y[i][j])) / (1 + sign))
            kinks = {"jump": tuple(jumps), "jump_at": at, "choice": choice, "balancing": balancing}
            return {"h": (Fraction(0),) * d, **kinks, "y": y[i]}

        return {"d": d, "x": small(rng, d), "clients": tuple(client(i) for i in range(n)), str(self.of.M): M}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, M) for the M of a recipe; ``ValueError`` unless it is positive."""
        M = recipe[str(self.of.M)]
        check_shape(recipe["d"], M)
        return number(0, exact), number(M, exact)


def _kink(rng: np.random.Generator) -> Fraction:
    """The place of a kink, from x*: mostly there."""
    return pick(rng, (Fraction(0), Fraction(0), small(rng, 1)[0]))


def kinked(rng: np.random.Generator, d: int, least: Fraction, size: Fraction) -> Recipe:
    """A convex function: curvatures of ``least`` or more, jumps of its derivatives of the ``size`` or none."""
    return {
        "h": tuple(least + pick(rng, (0, 0, 0, 1, 10)) * size for _ in range(d)),
        "jump": tuple(pick(rng, (0, 1, 1, 2)) * size for _ in range(d)),
        "jump_at": tuple(_kink(rng) for _ in range(d)),
        "choice": tuple(pick(rng, _CHOICES) for _ in range(d)),
        "balancing": tuple(pick(rng, _CHOICES) for _ in range(d)),
        "y": small(rng, d),
    }
