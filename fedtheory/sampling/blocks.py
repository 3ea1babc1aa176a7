"""Sampler of convex functions that are smooth in blocks of coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances import Recipe, check_shape, number, numbers, pick, small
from fedtheory.numbers.rational import Array, apply, exact, inverse
from fedtheory.problems.blocks import Blocks
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import less_parabola
from fedtheory.problems.quadratic import Turned
from fedtheory.sampling import members
from fedtheory.sampling.members import Sampler

#: Curvatures of sums over coordinates, and entries of the vectors of coupled ones, relative to what a block allows.
_SHARES = tuple(Fraction(v) for v in (1, 1, 1, 0, 0, "1/2"))
_WEIGHTS = tuple(Fraction(v) for v in (1, 1, -1, -1, "1/2", 0))
#: Vectors of length 1, by their number of entries: those of more have one entry that is not 0.
_UNIT = {2: tuple(tuple(map(Fraction, v)) for v in (("3/5", "4/5"), ("4/5", "-3/5"), (1, 0)))}
#: Digits of a root that is not rational, from below.
_ROOT = 10**6


class BlockSmoothSampler(Sampler):
    r"""Sums over coordinates of functions with one or two slopes, and functions a'(x - x*) squared, which couple all
    coordinates.

    A recipe says them relative to the constants of the class: ``h`` and ``h_above`` are shares of the L_j, and
    ``toward`` is a relative to their roots. ``times``: what each is multiplied by, 1 for members.
    """

    relative = True

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        b = len(self.of.L)
        d = max(b, min(d, b + 2))
        sizes = _split(rng, d, b)
        sort = pick(rng, ("coupled", "coupled", "separable", "kinks"))

        def client() -> Recipe:
            one: dict[str, Any] = {"times": Fraction(1), "y": small(rng, d)}
            if sort == "coupled":
                return {**one, "toward": tuple(v for size in sizes for v in _direction(rng, size))}
            one["h"] = tuple(pick(rng, _SHARES) for _ in range(d))
            if sort == "kinks":
                one |= {"h_above": tuple(pick(rng, _SHARES) for _ in range(d)), "kink": small(rng, d)}
            return one

        L = {str(letter): members.scale(rng) * pick(rng, (1, 1, 4, 9, Fraction(1, 4))) for letter in self.of.L}
        clients = tuple(client() for _ in range(n))
        return {"d": d, "blocks": sizes, "x": small(rng, d), "clients": clients, **L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(0, the sum of the L_j) for the L_j of a recipe. Raise ``ValueError`` unless these are positive."""
        L = self._constants(recipe)
        check_shape(recipe["d"], *L)
        return number(0, exact), number(sum(L), exact)

    def blocks(self, recipe: Recipe, exact: bool) -> Blocks:
        """The blocks of a recipe. Raise ``ValueError`` unless they are of all coordinates."""
        sizes = recipe["blocks"]
        if sum(sizes) != recipe["d"]:
            raise ValueError(f"blocks of {sizes} coordinates are not of {recipe['d']} coordinates")
        return Blocks(tuple(sizes), tuple(number(L, exact) for L in self._constants(recipe)))

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``. Raise ``ValueError`` if only
        some are coupled."""
        clients = self.clients_of(recipe)
        vectors = [c["a"] for c in clients if "a" in c]
        if not vectors:
            return members.curved(clients, x, y, exact)
        if len(vectors) < len(clients):
            raise ValueError("all functions are coupled, or none is")
        return _squares(vectors, x, y, exact)

    def clients_of(self, recipe: Recipe) -> tuple[Recipe, ...]:
        """The clients with what they are, rather than with shares of the constants of the class."""
        sizes = self.blocks(recipe, True).sizes
        of_each = [L for size, L in zip(sizes, self._constants(recipe), strict=True) for _ in range(size)]

        def client(given: Recipe) -> Recipe:
            times, kept = given["times"], {k: v for k, v in given.items() if k not in ("times", "toward")}
            if "toward" in given:
                # A root that is irrational is a little too small.
                return {**kept, "a": tuple(v * _root(times * L) for v, L in zip(given["toward"], of_each, strict=True))}
            slopes = {k: given[k] for k in members.SLOPES if k in given}
            return {
                **kept,
                **{k: tuple(times * v * L for v, L in zip(h, of_each, strict=True)) for k, h in slopes.items()},
            }

        return tuple(map(client, recipe["clients"]))

    def _constants(self, recipe: Recipe) -> list[Fraction]:
        return [recipe[str(letter)] for letter in self.of.L]


def _split(rng: np.random.Generator, d: int, b: int) -> tuple[int, ...]:
    """Sizes of b blocks of d coordinates."""
    cuts = sorted(int(v) for v in rng.choice(np.arange(1, d), size=b - 1, replace=False)) if b > 1 else []
    return tuple(end - start for start, end in zip((0, *cuts), (*cuts, d), strict=True))


def _direction(rng: np.random.Generator, size: int) -> tuple[Fraction, ...]:
    """A vector of length 1 at most, in small rationals."""
    unit = pick(rng, _UNIT[2]) if size == 2 else (Fraction(1), *(Fraction(0),) * (size - 1))
    weight = pick(rng, _WEIGHTS)
    return tuple(weight * v for v in unit)


def _root(of: Fraction) -> Fraction:
    """The root of a positive number, or a rational just below it."""
    if of <= 0:
        raise ValueError("functions are multiplied by positive numbers")
    size = of.numerator * of.denominator
    if math.isqrt(size) ** 2 == size:
        return Fraction(math.isqrt(size), of.denominator)
    return Fraction(math.isqrt(size * _ROOT**2), of.denominator * _ROOT)


def _squares(vectors: Sequence[tuple[Fraction, ...]], x: Array, y: Array, exactly: bool) -> Functions:
    """Half the squares of a_i'(z - x), plus what is linear."""
    lengths = [sum(v * v for v in a) for a in vectors]
    bend = max(*lengths, Fraction(0)) or Fraction(1)
    a, size = numbers(vectors, exactly), numbers(lengths, exactly)
    lift = number(bend, exactly)
    d = a.shape[-1]
    one = exact(np.eye(d, dtype=int)) if exactly else np.eye(d)
    # Singular Hessians are regular ones less a multiple of the identity.
    H = lift * one + a[:, :, None] * a[:, None, :]
    spectra = np.repeat(0 * size[:, None] + lift, d, axis=-1)
    spectra[:, -1] = lift + size
    return less_parabola(Turned(H, x[..., None, :] - apply(inverse(H), y), spectra=spectra), x, lift)
