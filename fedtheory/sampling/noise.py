"""Sampler of stochastic gradients: recipes of noise, and the noise that these describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedtheory.classes import NoisyGradients
from fedtheory.instances import Recipe, generic, number, numbers, pick
from fedtheory.problems.noise import Noise

#: Coins of all clients together that are enumerated at most.
_COINS = 6
#: A unit vector that is none of the axes, by its first coordinates.
_SLANTED = (Fraction(3, 5), Fraction(4, 5))


@dataclass(frozen=True)
class NoiseSampler:
    """Noise of two values along a line, symmetric or not: as large as the class allows, or not."""

    of: NoisyGradients

    @property
    def field(self) -> str:
        """The field of ``Params`` in which the noise is."""
        return self.of.field

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, and noise of a size."""
        sigma = pick(rng, (Fraction(1), Fraction(1), generic(rng, Fraction(1, 20), Fraction(20))))
        recipe: Recipe = {
            "sigma": sigma,
            "skew": pick(rng, tuple(Fraction(v) for v in (1, 1, 1, 3, "1/3"))),
            "slanted": int(rng.integers(2)),
            "turning": int(pick(rng, (0, 0, 0, 1))),
            "dependence": pick(rng, ("independent",) * 3 + ("shared",)),
        }
        return d, {**recipe, **({self.of.batch: int(pick(rng, (1, 1, 2, 3)))} if self.of.batch else {})}

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients, at most n, whose coins can be enumerated."""
        return n if recipe["dependence"] == "shared" else max(1, min(n, _COINS // self._batch(recipe)))

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The noise at a grid's point."""
        batch = {self.of.batch: int(values[self.of.batch])} if self.of.batch else {}
        plain = {"skew": Fraction(1), "slanted": 0, "turning": 0, "dependence": "independent"}
        return {"sigma": values["sigma"], **plain, **batch}

    def build(self, recipe: Recipe, n: int, exact: bool) -> Noise:
        """The noise of a recipe; ``ValueError`` unless it has a positive skew, a batch, and coins that are few."""
        d, batch = recipe["d"], self._batch(recipe)
        if recipe["skew"] <= 0 or batch < 1:
            raise ValueError("noise has a positive skew, and batches of at least 1")
        if batch * (n if recipe["dependence"] == "independent" else 1) > 4 * _COINS:
            raise ValueError("the coins of so many clients are not enumerated")
        along = _SLANTED if recipe["slanted"] and d > 1 else (Fraction(1),)
        direction = numbers((*along, *(Fraction(0),) * (d - len(along))), exact)
        sigma, skew = number(recipe["sigma"], exact), number(recipe["skew"], exact)
        return Noise(n, sigma, direction, batch, skew, recipe["dependence"], bool(recipe["turning"]))

    def _batch(self, recipe: Recipe) -> int:
        return int(recipe[self.of.batch]) if self.of.batch else 1
