"""Smooth functions that need not be strongly convex, convex or not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import sympy

from fedtheory.classes.base import (
    ELL,
    WORSE,
    Average,
    Bounds,
    Declared,
    FunctionClass,
    OfClient,
    Outside,
    each,
    extremes,
    f_star,
    only_declared,
    parts,
)
from fedtheory.instances import Recipe, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import LessHuber
from fedtheory.problems.quadratic import diagonal


@dataclass(frozen=True, init=False)
class Smooth(FunctionClass):
    """Each f_i, and g where there is one, is L-smooth, convex or not: a property of each f_i, so that the average is
    L-smooth too. The sum has a minimiser, x*.

    There is no mu, and no kappa: where two letters are given, as to other classes, the first says nothing.

    Args:
        *letters: L, or mu and L.
        L: The letter of the smoothness constant, by name.
        optimum: What x* is, by default a minimiser of the sum, "consensus".

    Raises:
        ValueError: For another number of letters.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Smooth(ft.letters("L")).text
        'each L-smooth, convex or not'
    """

    L: sympy.Symbol

    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    def __init__(self, *letters: sympy.Symbol, L: sympy.Symbol | None = None, optimum: str = "") -> None:
        """``Smooth(L)``, or ``Smooth(mu, L)``; ``ValueError`` for anything else."""
        given = letters if L is None else (*letters, L)
        if len(given) not in (1, 2):
            raise ValueError(f"Smooth takes one letter, L, got {len(given)}")
        object.__setattr__(self, "L", given[-1])
        object.__setattr__(self, "optimum", optimum)
        self.__post_init__()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.L}-smooth, convex or not"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(
            Bounds(-ELL, ELL), average=f_star(ELL), client=OfClient("-L", "L", of_g=True), differentiable=True
        )

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        return all(min(part.mu) >= -problem.L and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        largest = max(L, -mu)
        return each(-largest, problem.n), each(largest, problem.n)

    def average(self, problem: Problem, params: object) -> Average:
        """Inequalities known for the average f: it is L-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))


@sampler.register(Smooth)
class SmoothSampler(Sampler):
    """Smooth functions, convex or not."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L = members.scale(rng)
        low = L * pick(rng, tuple(Fraction(v) for v in (-1, -1, -1, "-1/7", 0, "1/7")))
        recipe: Recipe = members.draw_functions(rng, n, d, (low, L), with_g)
        if minimised and low < 0:
            recipe = members.minimised(members.draw_strips(rng, recipe, low, L) if pick(rng, (True, False)) else recipe)
        return {**recipe, str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(-L, L) for the L of a recipe; ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(-L, exact), number(L, exact)


@dataclass(frozen=True)
class SmoothConvex(FunctionClass):
    """Each f_i, and g where there is one, is convex and L-smooth, none needs to be strongly convex; the sum has a
    minimiser, x*, and perhaps others.

    A property of each f_i, so that the average is convex and L-smooth too. The members are flat in some directions, or
    everywhere. There is no mu, and no kappa.

    Args:
        L: The letter of the smoothness constant.
        optimum: What x* is, by default a minimiser of the sum, "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.SmoothConvex(ft.letters("L")).text
        'each convex and L-smooth'
    """

    L: sympy.Symbol

    alike = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(
            Bounds(sympy.S.Zero, ELL), client=OfClient("0", "L", of_g=True), convex=True, differentiable=True
        )

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        return all(min(part.mu) >= 0 and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        return each(mu, problem.n), each(L, problem.n)


@sampler.register(SmoothConvex)
class SmoothConvexSampler(Sampler):
    """Convex and smooth functions, flat in some directions or everywhere."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions: curvatures mostly 0 or L, now and then a small one."""
        L = members.scale(rng)
        low = pick(rng, (Fraction(0), Fraction(0), L / members.condition(rng)))
        return {**members.draw_functions(rng, n, d, (low, L), with_g), str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, L) for the L of a recipe; ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(0, exact), number(L, exact)


@dataclass(frozen=True)
class SmoothOwn(FunctionClass):
    """Each f_i has an r_i-Lipschitz gradient, convex or not, with the r_i ``(n,)`` of a field ``r`` of ``Params``,
    which the setting's ``parameters`` make of the clients' entries ``r``.

    A property of each f_i. Nothing is known of an optimum, and the class has no letters. The members are quadratics,
    and quadratics less a bend.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("none",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each with an r_i-Lipschitz gradient"

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume."""
        return Declared(client=OfClient("-params.r", "params.r"), differentiable=True)

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance belong to the class."""
        f = problem.f
        return all(-r <= mu and r >= L for mu, L, r in zip(f.mu, f.L, params.r, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        r = np.maximum(params.r, np.maximum(problem.f.L, -problem.f.mu))
        return -r, r

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Named instances just outside the class, each worse by a little."""
        r = (1 + WORSE) * known.f.L
        for i in range(problem.n):
            L = np.where(np.arange(problem.n) == i, r, problem.f.L)
            for name, mu in (("less smooth", problem.f.mu), ("less convex", -L)):
                changed = only_declared(problem.f, mu, L)
                yield f"{name} functions", replace(problem, f=changed), params


@sampler.register(SmoothOwn)
class OwnSmoothnessSampler(Sampler):
    """Quadratics, and quadratics less a bend."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""

        def client() -> Recipe:
            h = tuple(pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", "1/50"))) for _ in range(d))
            bend = pick(rng, tuple(Fraction(v) for v in (0, 0, 1, 2, 2)))
            width = pick(rng, (Fraction(1), Fraction(100)))
            if pick(rng, (True, False, False)):
                # Nearly as concave as the class allows, wherever states are.
                h, bend, width = (Fraction(1, 50), *h[1:]), Fraction(2), Fraction(100)
            size = max(*h, bend - min(h))
            scale = pick(rng, (Fraction(1), Fraction(1), Fraction(3)))
            more = {"c": small(rng, d), "width": width}
            return {"h": tuple(scale * v for v in h), "bend": scale * bend, "r": scale * size, **more}

        return {"d": d, "clients": tuple(client() for _ in range(n))}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe."""
        r = max(c["r"] for c in recipe["clients"])
        return number(-r, exact), number(r, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """Functions with their bends at the origin."""
        check_shape(recipe["d"], *(v for c in parts for v in (*c["h"], c["r"], c["width"])))
        if any(c["bend"] < 0 for c in parts):
            raise ValueError("bends must not be negative")
        h, c, b, width = (numbers([client[key] for client in parts], exact) for key in ("h", "c", "bend", "width"))
        if not any(client["bend"] for client in parts):
            return diagonal(h, c)
        u = np.zeros(h.shape, dtype=int) + (b > 0)[:, None] * np.eye(1, recipe["d"], dtype=int)
        return cast(Functions, LessHuber(h, c, u.astype(h.dtype), np.where(b > 0, b, 1 + 0 * b), 0 * b, width))
