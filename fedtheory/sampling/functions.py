"""Samplers of function classes: recipes of members, drawn or at given letters, and the functions that these describe.

A class states which functions belong to it; of each class one sampler here says which of these are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.classes import (
    BlockSmoothConvex,
    Composite,
    Convex,
    ConvexLipschitz,
    ConvexQuadraticGrowth,
    OneStronglyConvex,
    PolyakLojasiewicz,
    RestrictedSecant,
    Smooth,
    SmoothBlocks,
    SmoothConvex,
    SmoothConvexLipschitz,
    SmoothEach,
    SmoothOwn,
    SmoothStronglyConvex,
    StronglyConvex,
    StronglyConvexOnAverage,
    WeaklyConvex,
)
from fedtheory.instances import Recipe, check_shape, generic, number, numbers, pick, small
from fedtheory.numbers.rational import Array, square_root
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import LessHuber
from fedtheory.problems.quadratic import diagonal
from fedtheory.problems.separable import lojasiewicz_constant
from fedtheory.sampling import blocks, growing, members, nonsmooth
from fedtheory.sampling.members import Sampler, sampler

#: How much smaller than the members' own Polyak-Lojasiewicz constant the one declared of them is.
_SHARES = tuple(Fraction(v) for v in (1, 1, 1, 1, "1/2"))

__all__ = ["Sampler", "sampler"]


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
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``.
        Raise ``ValueError`` unless their curvatures are positive."""
        return members.functions(parts, x, y, exact)


@sampler.register(SmoothBlocks)
class BlocksSampler(StronglyConvexSampler):
    """Quadratics with any centres, each of a variable of its own."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        top = members.scale(rng)
        mu = top / self.condition(rng)
        spread = pick(rng, ((1,), (1, 2, 3, 4), (1, 10, 100), (1, 4))) if not self.of.common else (1, 1, 2)
        bounds = [max(mu, top / pick(rng, spread)) for _ in range(n - 1)] + [top]
        # Each function at the ends of its own class, or flatter.
        clients = tuple(
            {"L": L, "h": tuple(pick(rng, (L, L, mu, (L + mu) / 2)) for _ in range(d)), "c": small(rng, d)}
            for L in bounds
        )
        level = Fraction(0) if self.of.common else pick(rng, tuple(Fraction(v) for v in (0, 0, 1, -2, 50)))
        recipe = {"d": d, "level": level, "clients": clients}
        return {**recipe, str(self.of.mu): mu} if self.of.common else recipe

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """L_1 = 1, the other L_i = 1/``values["spread"]``, or all of them 1; mu = 1/kappa."""
        base, spread = super().at(values, n, stiff, False), values.get("spread", Fraction(1))
        mu = 1 / values["kappa"]
        if not mu <= 1 / spread <= 1:
            raise ValueError("spread = L_max/L_min must lie between 1 and kappa")
        bounds = [Fraction(1), *[1 / spread] * (n - 1)]
        slopes = [c["h"] if self.of.common else (mu,) for c in base["clients"]]
        clients = tuple({"L": L, "h": h, "c": (Fraction(0),)} for L, h in zip(bounds, slopes, strict=True))
        recipe = {"d": 1, "level": Fraction(0), "clients": clients}
        return {**recipe, str(self.of.mu): mu} if self.of.common else recipe

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        check_shape(recipe["d"], *(v for c in recipe["clients"] for v in c["h"]))
        low = min(v for c in recipe["clients"] for v in c["h"])
        mu = recipe[str(self.of.mu)] if self.of.common else low
        return number(mu, exact), number(max(c["L"] for c in recipe["clients"]), exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        h, c = (numbers([client[key] for client in parts], exact) for key in ("h", "c"))
        return diagonal(h, c, number(recipe["level"], exact) / len(parts))


@sampler.register(SmoothConvex)
class SmoothConvexSampler(Sampler):
    """Convex and smooth functions, flat in some directions or everywhere."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions: curvatures mostly 0 or L, now and then a small one."""
        L = members.scale(rng)
        low = pick(rng, (Fraction(0), Fraction(0), L / members.condition(rng)))
        return {**members.draw_functions(rng, n, d, (low, L), with_g), str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(0, L) for the L of a recipe. Raise ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(0, exact), number(L, exact)


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

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(-L, L) for the L of a recipe. Raise ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(-L, exact), number(L, exact)


@sampler.register(WeaklyConvex)
class WeaklyConvexSampler(Sampler):
    """Weakly convex and smooth functions."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        r = members.scale(rng)
        # Convex functions are among them where the letter may be 0.
        least = "1/14" if self.of.mu.is_positive else 0
        s = r * (
            Fraction(1) if self.of.symmetric else pick(rng, tuple(Fraction(v) for v in (least, "1/7", "3/7", 1, 1)))
        )
        low = (r + s) / members.condition(rng) - s
        recipe: Recipe = members.draw_functions(rng, n, d, (low, r), with_g)
        if minimised and low < 0:
            recipe = members.minimised(members.draw_strips(rng, recipe, -s, r) if pick(rng, (True, False)) else recipe)
        return {**recipe, str(self.of.mu): s, str(self.of.L): r}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(-s, r) for the s and r of a recipe. Raise ``ValueError`` unless 0 <= s <= r, s = r where they must be
        equal.
        """
        s, r = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], r)
        if not 0 <= s <= r or (self.of.symmetric and s != r) or (self.of.mu.is_positive and s == 0):
            raise ValueError(f"curvatures lie between -{self.of.mu} and {self.of.L} >= {self.of.mu} >= 0")
        return number(-s, exact), number(r, exact)


@sampler.register(PolyakLojasiewicz)
class LojasiewiczSampler(Sampler):
    """Functions whose average is Polyak-Lojasiewicz, some of them not convex, and flat directions."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constant that they have."""
        # Stepsizes have nine digits: of a size far from 1 they leave certificates no room.
        L = pick(rng, (Fraction(1), Fraction(1), generic(rng, Fraction(1, 2), Fraction(4))))
        mu = L / members.condition(rng)
        recipe: Recipe = members.draw_functions(rng, n, d, (mu, L), False)
        sort = pick(rng, ("convex", "convex", "strips", "average", "flat"))
        if sort == "strips":
            recipe = members.minimised(members.draw_strips(rng, recipe, -L, L, monotone=True))
        elif sort == "average":
            # Curvatures between the ends are not 0: a function that is linear has no L_i.
            ends = (-L * Fraction(6, 7), L)
            recipe = members.minimised(members.draw_functions(rng, n, d, ends, False, kinks=False, turned=False))
        elif sort == "flat" and d > 1:
            plain = members.draw_functions(rng, n, d, (mu, L), False, kinks=False, turned=False)
            flat = tuple({**c, "h": (Fraction(0), *c["h"][1:])} for c in plain["clients"])
            recipe = {**plain, "clients": flat}
        own = _constant(recipe)
        if own <= 0:
            # No constant serves: plain functions have one.
            recipe = members.draw_functions(rng, n, d, (mu, L), False)
            own = _constant(recipe)
        if self.of.own:
            L = sum(max(members.sizes(c)) for c in recipe["clients"]) / n
        return {**recipe, str(self.of.mu): own * pick(rng, _SHARES), str(self.of.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe. Raise ``ValueError`` unless 0 < mu <= L."""
        mu, L = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], mu, L)
        if mu > L:
            raise ValueError(
                f"a Polyak-Lojasiewicz constant is at most the smoothness constant: {self.of.mu} <= {self.of.L}"
            )
        return number(mu, exact), number(L, exact)


@sampler.register(OneStronglyConvex)
class OneStronglyConvexSampler(Sampler):
    """Functions of which the first is strongly convex."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        share = pick(rng, (Fraction(1), Fraction(1, 100), Fraction(0)))
        first, *others = recipe["clients"]
        flatter = [{**c, **{k: tuple(share * v for v in c[k]) for k in members.SLOPES if k in c}} for c in others]
        return {**recipe, "clients": (first, *flatter), str(self.of.mu): mu, str(self.of.L): L}


@sampler.register(StronglyConvexOnAverage)
class StronglyConvexOnAverageSampler(Sampler):
    """Convex functions with a strongly convex average."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, or of one that is a little beyond."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        recipe = members.draw_functions(rng, n, d, (mu, L), with_g)
        # Sometimes f_i that are not convex, or flat ones, so that each condition is violated, or attained, by itself.
        less = pick(rng, (Fraction(0),) * 8 + (mu, 2 * mu))
        clients = tuple(
            {**c, **{k: tuple(v - less for v in c[k]) for k in members.SLOPES if k in c}} for c in recipe["clients"]
        )
        mean = max(sum(min(members.slopes_of(c)) for c in clients) / n, Fraction(0))
        declared = pick(rng, (mu, min(mean, L), min(mean, L), min(2 * mean, L)))
        return {**recipe, "clients": clients, str(self.of.mu): declared or mu, str(self.of.L): L}


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

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
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
        f: Any = LessHuber(h, c, u.astype(h.dtype), np.where(b > 0, b, 1 + 0 * b), 0 * b, width)
        return f


sampler.register(Convex, nonsmooth.ConvexSampler)
sampler.register(StronglyConvex, nonsmooth.ConvexSampler)
sampler.register(ConvexLipschitz, nonsmooth.LipschitzSampler)
sampler.register(Composite, nonsmooth.CompositeSampler)
sampler.register(SmoothConvexLipschitz, growing.SmoothLipschitzSampler)
sampler.register(BlockSmoothConvex, blocks.BlockSmoothSampler)
sampler.register(ConvexQuadraticGrowth, growing.QuadraticGrowthSampler)
sampler.register(RestrictedSecant, growing.RestrictedSecantSampler)


def _constant(recipe: Recipe) -> Fraction:
    """The Polyak-Lojasiewicz constant of the average of a recipe's functions, or a lower bound, as a fraction."""
    x = numbers((0,) * recipe["d"], True)
    f = members.curved(recipe["clients"], x, numbers([(0,) * recipe["d"]] * len(recipe["clients"]), True), True)
    return Fraction(lojasiewicz_constant(f, x))
