"""Which of its own examples each client uses: passes in a random order, or picks with replacement.

Examples are rows of one table, client by client, so that a draw names rows of the table: clients may hold different
numbers of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Size, check_enumerable


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def _equally_likely(count: int, exact: bool) -> Array:
    probabilities = np.full(count, Fraction(1, count), dtype=object)
    return probabilities if exact else to_float(probabilities)


@dataclass(frozen=True)
class ClientPermutations:
    """An independent uniformly random order of the rows of each client.

    Draws are rows ``(n,)``: those of client k, in the order drawn, where its rows are in the table.
    """

    sizes: Array

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return prod(factorial(int(size)) for size in self.sizes)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        keys = np.repeat(np.arange(len(self.sizes)), self.sizes) + rng.random((*size, int(self.sizes.sum())))
        return np.argsort(keys, axis=-1)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        rows = [range(start, start + size) for start, size in zip(_starts(self.sizes), self.sizes, strict=True)]
        orders = product(*(list(permutations(of_client)) for of_client in rows))
        draws = np.array([[row for of_client in order for row in of_client] for order in orders])
        return draws, _equally_likely(self.count, exact)


@dataclass(frozen=True)
class ClientPicks:
    """``m`` rows of each client, uniformly random and independent, with replacement. Draws are rows ``(K, m)``."""

    sizes: Array
    m: int

    def __post_init__(self) -> None:
        if self.m < 1:
            raise ValueError(f"the number of local steps must be positive, got {self.m}")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return prod(int(size) ** self.m for size in self.sizes)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        high = np.asarray(self.sizes)[:, None]
        return _starts(self.sizes)[:, None] + rng.integers(high, size=(*size, len(self.sizes), self.m))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        ranges = [
            range(start, start + size)
            for start, size in zip(_starts(self.sizes), self.sizes, strict=True)
            for _ in range(self.m)
        ]
        draws = np.array(list(product(*ranges))).reshape(-1, len(self.sizes), self.m)
        return draws, _equally_likely(self.count, exact)
