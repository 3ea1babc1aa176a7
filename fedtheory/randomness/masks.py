"""Random masks of clients and coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import factorial, prod

import numpy as np
from sympy.utilities.iterables import multiset_permutations

from fedtheory.numbers.rational import Array
from fedtheory.randomness import Size, check_enumerable


@dataclass(frozen=True)
class Pattern:
    """The random masks ``(n, d)``: the columns of the template in random order, one a client.

    Row k of the template has s ones, in the columns s k, ..., s k + s - 1 modulo n. Where s d < n (few coordinates,
    many clients) they do not wrap around: s d clients send one entry each, the others nothing. Else every client sends
    floor(s d/n) or ceil(s d/n) entries.
    """

    n: int
    d: int
    s: int

    def __post_init__(self) -> None:
        if not 2 <= self.s <= self.n:
            raise ValueError(f"s must be between 2 and the {self.n} clients, got {self.s}")

    @cached_property
    def columns(self) -> Array:
        """The columns of the template, as rows: ``(n, d)`` booleans."""
        out = np.zeros((self.n, self.d), dtype=bool)
        for k in range(self.d):
            out[(self.s * k + np.arange(self.s)) % self.n, k] = True
        return out

    @cached_property
    def _distinct(self) -> tuple[Array, Array, Array]:
        """Different columns, which of them each column is, and how often each occurs."""
        values, which, counts = np.unique(self.columns, axis=0, return_inverse=True, return_counts=True)
        return values, which.reshape(-1), counts

    @property
    def count(self) -> int:
        """Permutations, those that exchange equal columns taken as one; all are equally likely."""
        return factorial(self.n) // prod(factorial(int(c)) for c in self._distinct[2])

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return self.columns[np.argsort(rng.random((*size, self.n)), axis=-1)]

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        values, which, _ = self._distinct
        masks = values[np.array(list(multiset_permutations(which.tolist())))]
        share = Fraction(1, self.count)
        return masks, np.full(len(masks), share, dtype=object) if exact else np.full(len(masks), float(share))
