"""Samplers of convex functions that need not be smooth: linear and quadratic ones with a kink in each coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.classes import StronglyConvex
from fedtheory.instances import Recipe, check_shape, number, pick, small
from fedtheory.numbers.rational import Array
from fedtheory.problems.functions import Functions
from fedtheory.sampling import members
from fedtheory.sampling.members import Sampler, sampler

#: Which subgradient is given at a kink, or balances there, in the place of the sign.
_CHOICES = tuple(Fraction(v) for v in (0, 0, 1, -1, "1/2"))
_SHARES = tuple(Fraction(v) for v in (0, 0, "1/4", "-1/4", 1, -1))
#: Lengths of which the squares add up to 1: how steep functions are along each coordinate.
STEEP = {1: (("1",),), 2: (("3/5", "4/5"), ("1", "0")), 3: (("2/3", "1/3", "2/3"), ("0", "1", "0"))}


def _kink(rng: np.random.Generator) -> Fraction:
    """Where a kink is, from x*: mostly there."""
    return pick(rng, (Fraction(0), Fraction(0), small(rng, 1)[0]))


def _client(rng: np.random.Generator, d: int, least: Fraction, size: Fraction) -> Recipe:
    """A convex function: curvatures of ``least`` or more, jumps of its derivatives of the ``size`` or none."""
    return {
        "h": tuple(least + pick(rng, (0, 0, 0, 1, 10)) * size for _ in range(d)),
        "jump": tuple(pick(rng, (0, 1, 1, 2)) * size for _ in range(d)),
        "jump_at": tuple(_kink(rng) for _ in range(d)),
        "choice": tuple(pick(rng, _CHOICES) for _ in range(d)),
        "balancing": tuple(pick(rng, _CHOICES) for _ in range(d)),
        "y": small(rng, d),
    }


class ConvexSampler(Sampler):
    """Convex functions, or strongly convex ones."""

    @property
    def strongly(self) -> bool:
        """True if there is a letter for the least curvature."""
        return isinstance(self.of, StronglyConvex)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        size = members.scale(rng)
        least = size if self.strongly else Fraction(0)
        clients = tuple(_client(rng, d, least, size * pick(rng, (1, 1, 10))) for _ in range(n))
        recipe: dict[str, Any] = {"d": d, "x": small(rng, d), "clients": clients}
        if with_g:
            recipe["g"] = {**_client(rng, d, least, size), "y": (Fraction(0),) * d}
        return {**recipe, str(self.of.mu): least} if self.strongly else recipe

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, infinity) as declared of the functions of a recipe, mu = 0 of convex ones."""
        mu = recipe[str(self.of.mu)] if self.strongly else Fraction(0)
        check_shape(recipe["d"], *([mu] if self.strongly else []))
        return number(mu, exact), float("inf")


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
                # What the gradient at x* leaves is for the jump.
                sign = abs(balancing[j]) if at[j] == 0 else Fraction(1)
                jumps.append(used * (steep[j] - abs(y[i][j])) / (1 + sign))
            kinks = {"jump": tuple(jumps), "jump_at": at, "choice": choice, "balancing": balancing}
            return {"h": (Fraction(0),) * d, **kinks, "y": y[i]}

        return {"d": d, "x": small(rng, d), "clients": tuple(client(i) for i in range(n)), str(self.of.M): M}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(0, M) for the M of a recipe. Raise ``ValueError`` unless it is positive."""
        M = recipe[str(self.of.M)]
        check_shape(recipe["d"], M)
        return number(0, exact), number(M, exact)


class CompositeSampler(Sampler):
    """Functions of a class, and a g with kinks."""

    @property
    def inner(self) -> Sampler:
        """The sampler of the class of the f_i."""
        return sampler(self.of.of, self.drawing)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = self.inner.draw(rng, n, d, False, minimised)
        g = _client(rng, d, Fraction(0), members.scale(rng))
        return {**recipe, "g": {**g, "y": (Fraction(0),) * d}}

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point, beside a g that is 0 but for its gradient."""
        flat = (Fraction(0),)
        return {**self.inner.at(values, n, stiff, False), "g": {"h": flat, "y": flat}}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the f_i of a recipe."""
        return self.inner.declared(recipe, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        if len(parts) == 1 and parts[0] is recipe["g"]:
            return members.curved(parts, x, y, exact)
        return self.inner.build(recipe, parts, x, y, exact)
