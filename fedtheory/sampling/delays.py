"""Sampler of delays: a recipe holds a few of them, which go round, as the digits of one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedtheory.classes import Delays
from fedtheory.instances import Recipe, pick
from fedtheory.problems.delays import OLDEST, Stale
from fedtheory.sampling.field_sampler import FieldSampler

#: The number of possible delays.
_BASE = OLDEST + 1
#: The number of delays before they repeat.
_PLACES = 6
#: The number whose digits are all 1.
_ONES = sum(_BASE**i for i in range(_PLACES))


@dataclass(frozen=True)
class DelaysSampler(FieldSampler[Delays]):
    """Delays of each client: all alike, or any."""

    @property
    def entries(self) -> tuple[str]:
        """The entry of a recipe for the delays."""
        return (f"{self.field}_digits",)

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """The dimension, and delays: mostly the longest, or one for each client."""
        alike = pick(rng, (0, 1, 2, OLDEST, OLDEST)) * _ONES
        each = [int(pick(rng, (0, 0, 1, 2, OLDEST))) for _ in range(_PLACES)]
        mixed = sum(age * _BASE**i for i, age in enumerate(each))
        return d, {self.entries[0]: pick(rng, (alike, mixed))}

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The longest delays of all clients."""
        return {self.entries[0]: OLDEST * _ONES}

    def build(self, recipe: Recipe, n: int, exact: bool) -> Stale:
        """The delays of a recipe. Raise ``ValueError`` unless they are digits."""
        digits = recipe[self.entries[0]]
        if not isinstance(digits, int) or not 0 <= digits < _BASE**_PLACES:
            raise ValueError(f"delays are the {_PLACES} digits of a number to the base {_BASE}")
        return Stale(n, tuple(digits // _BASE**i % _BASE for i in range(_PLACES)))
