"""Samplers of functions that are bounded by how steep they are, or by how their average grows or slopes from x*."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances import Recipe, check_shape, number, numbers, pick, small
from fedtheory.numbers.rational import Array
from fedtheory.problems.functions import Functions
from fedtheory.problems.growth import secants, upper_growth
from fedtheory.problems.ridged import Ridged
from fedtheory.sampling import members
from fedtheory.sampling.members import Sampler
from fedtheory.sampling.nonsmooth import STEEP

#: How much weaker than the members' own constants those are that are declared of them.
_SHARES = tuple(Fraction(v) for v in (1, 1, 1, 1, "1/2"))
#: How high ridges are, as a share of the curvature along them.
_RIDGES = tuple(Fraction(v) for v in ("1/4", "1/10", "1/100", "-1/4"))


def _average(recipe: Recipe, build: Callable[..., Functions]) -> tuple[Functions, Array]:
    """The functions of a recipe, less their tangents at x*, in fractions, and x* = 0."""
    clients, x = recipe["clients"], numbers((0,) * recipe["d"], True)
    return build(clients, x, numbers([(0,) * recipe["d"]] * len(clients), True), True), x


class SmoothLipschitzSampler(Sampler):
    """Sums over coordinates of functions that are quadratic between two lines, mostly as steep as the class allows."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        L, M = members.scale(rng), members.scale(rng)
        steep = [M * Fraction(v) for v in pick(rng, STEEP.get(d, (("1", *("0",) * (d - 1)),)))]
        drawn = [[pick(rng, (-1, 0, 0, 1)) for _ in range(d)] for _ in range(n)]
        means = [Fraction(sum(v[j] for v in drawn), n) for j in range(d)]
        # At x* as steep as the class allows, or less, so that there is something left on both sides.
        most = max(Fraction(1), *(abs(v[j] - means[j]) for v in drawn for j in range(d)))
        share = pick(rng, (Fraction(1), Fraction(1, 2), Fraction(1, 4))) / most
        y = [tuple(share * steep[j] * (v[j] - means[j]) for j in range(d)) for v in drawn]
        used = pick(rng, (Fraction(1), Fraction(1), Fraction(1), Fraction(1, 2)))

        def client(i: int) -> Recipe:
            h = [pick(rng, (L, L, L / 2)) if v else Fraction(0) for v in steep]
            # From x* the gradient has so far to go, down and up, until it is as steep as can be.
            down, up = ([used * (steep[j] + sign * y[i][j]) for j in range(d)] for sign in (1, -1))
            return {
                "h": (Fraction(0),) * d,
                "h_above": tuple(h),
                "h_beyond": (Fraction(0),) * d,
                "kink": tuple(-a / b if b else Fraction(0) for a, b in zip(down, h, strict=True)),
                "kink_beyond": tuple(a / b if b else Fraction(0) for a, b in zip(up, h, strict=True)),
                "y": y[i],
            }

        clients = tuple(client(i) for i in range(n))
        return {"d": d, "x": small(rng, d), "clients": clients, str(self.of.L): L, str(self.of.M): M}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, ...]:
        """(0, L, M) for the L and the M of a recipe. Raise ``ValueError`` unless they are positive."""
        L, M = recipe[str(self.of.L)], recipe[str(self.of.M)]
        check_shape(recipe["d"], L, M)
        return number(0, exact), number(L, exact), number(M, exact)


class QuadraticGrowthSampler(Sampler):
    """Convex functions with a kink in each coordinate, beside x*, whose average is below a parabola."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constant that they have."""
        L = members.scale(rng)

        def client() -> Recipe:
            # A line that touches the parabola L z^2/2 is 0 at half the place where it does.
            jump = tuple(L * pick(rng, tuple(Fraction(v) for v in (0, "1/2", "1/2", 1))) for _ in range(d))
            side = tuple(pick(rng, (1, -1)) for _ in range(d))
            share = pick(rng, (Fraction(0), Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2)))
            low, high = share * L, pick(rng, (share * L, L))
            # On the other side of x* it may be as high as it can: a step from the kink leads there.
            return {
                "h": tuple(high if s > 0 else low for s in side),
                "h_above": tuple(low if s > 0 else high for s in side),
                "kink": (Fraction(0),) * d,
                "jump": jump,
                "jump_at": tuple(s * (a / L or Fraction(1)) for s, a in zip(side, jump, strict=True)),
                "choice": tuple(pick(rng, (Fraction(1), Fraction(-1), Fraction(0))) for _ in range(d)),
                "y": small(rng, d),
            }

        recipe: Recipe = {"d": d, "x": small(rng, d), "clients": tuple(client() for _ in range(n))}
        own = Fraction(upper_growth(*_average(recipe, members.curved)))
        return {**recipe, str(self.of.L): own / pick(rng, _SHARES) if own > 0 else L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(0, L) for the L of a recipe. Raise ``ValueError`` unless it is positive."""
        L = recipe[str(self.of.L)]
        check_shape(recipe["d"], L)
        return number(0, exact), number(L, exact)


class RestrictedSecantSampler(Sampler):
    """Functions whose average slopes towards x*, some of them with strips that are far from convex."""

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member, with the constants that they have."""
        L = members.scale(rng)
        mu = L / members.condition(rng)
        plain = members.draw_functions(rng, n, d, (mu, L), False)
        recipe: Recipe = plain
        sort = pick(rng, ("convex", "strips", "strips", "average", "ridges"))
        if sort == "ridges" and d > 1:
            recipe = _ridged(rng, plain, L)
        elif sort == "strips":
            recipe = members.draw_strips(rng, plain, -L * pick(rng, (1, 1, 3, 10)), L, monotone=True)
        elif sort == "average":
            ends = (-L * Fraction(6, 7), L)
            recipe = members.draw_functions(rng, n, d, ends, False, turned=False)
        least, largest = self._constants(recipe)
        if least <= 0:
            recipe = plain
            least, largest = self._constants(recipe)
        share = pick(rng, _SHARES)
        return {**recipe, str(self.of.mu): Fraction(least) * share, str(self.of.L): Fraction(largest) / share}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe. Raise ``ValueError`` unless 0 < mu <= L."""
        mu, L = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], mu, L)
        if mu > L:
            raise ValueError(f"a restricted secant constant is at most the error bound: {self.of.mu} <= {self.of.L}")
        return number(mu, exact), number(L, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (n, d)`` at ``x (d,)``. Raise ``ValueError`` if only some have
        ridges."""
        if not any("ridge" in c for c in parts):
            return members.curved(parts, x, y, exact)
        if not all("ridge" in c for c in parts) or any(len(set(c["h"])) > 1 for c in parts):
            raise ValueError("all functions have ridges, and one curvature beside them, or none has")
        a, c = (numbers([c[key] for c in parts], exact) for key in ("h", "ridge"))
        found: Any = Ridged(a[:, 0], c, x, y)
        return found

    def _constants(self, recipe: Recipe) -> tuple[Any, Any]:
        x = numbers((0,) * recipe["d"], True)
        return secants(
            self.build(recipe, recipe["clients"], x, 0 * numbers([c["y"] for c in recipe["clients"]], True), True), x
        )


def _ridged(rng: np.random.Generator, recipe: Recipe, size: Fraction) -> Recipe:
    """The recipe with functions of the curvature ``size`` along each ray from x*, or half of it, with ridges."""

    def client(given: Recipe) -> Recipe:
        a = size * pick(rng, (Fraction(1), Fraction(1), Fraction(1, 2)))
        return {"h": (a,) * recipe["d"], "y": given["y"], "ridge": a * pick(rng, _RIDGES)}

    return {**recipe, "clients": tuple(map(client, recipe["clients"]))}
