"""Delays of clients: which of several vectors each of them saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.numbers.rational import Array

#: A delay that is as long as there are vectors.
OLDEST = 7


@dataclass(frozen=True)
class Stale:
    """Delays of n clients, in rounds.

    ``ages``: that of client i at the k-th time a step asks, both counted from 0, is the one at place i + k, and the
    places go round.
    """

    n: int
    ages: tuple[int, ...]

    @property
    def name(self) -> str:
        """The delays, in words."""
        words = [_word(age) for age in self.ages]
        if len(set(words)) == 1:
            return f"delays of all clients: {words[0]}"
        return f"delays, of client after client and time after time: {', '.join(words)}"

    def in_step(self) -> Asked:
        """The delays as one step asks for them."""
        return Asked(self)

    def seen(self, *vectors: Array) -> Array:
        """``ValueError``: before and after a step the delays would seem to be the same."""
        raise ValueError("delays are asked for outside of a step")


@dataclass
class Asked:
    """Delays as one step asks for them; ``times``: how often it did so far."""

    of: Stale
    times: int = 0

    def seen(self, latest: Array, *before: Array) -> Array:
        """Return, for each client, the vector that is as old as its delay, or the oldest: ``(..., n, d)``.

        ``latest``, ``before``: from the latest to the oldest, each ``(..., n, d)``, or ``(..., 1, d)`` for all clients.
        ``ValueError`` for other shapes.
        """
        given = [np.asarray(vectors) for vectors in (latest, *before)]
        n, ages = self.of.n, self.of.ages
        if any(vectors.ndim <= 1 or vectors.shape[-2] not in (1, n) for vectors in given):
            raise ValueError("clients see vectors of all of them, or of each: write x[..., None, :] for a point x")
        alike = np.broadcast_arrays(*given)
        wide = [np.broadcast_to(vectors, (*vectors.shape[:-2], n, vectors.shape[-1])) for vectors in alike]
        which = [min(ages[(i + self.times) % len(ages)], len(wide) - 1) for i in range(n)]
        self.times += 1
        return np.stack([wide[k][..., i, :] for i, k in enumerate(which)], axis=-2)


def _word(age: int) -> str:
    return "the oldest" if age >= OLDEST else str(age)
