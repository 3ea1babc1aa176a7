"""Functions of the rows of clients: shapes and constants that all of them share."""

from __future__ import annotations

import numpy as np

from fedtheory.numbers.rational import Array, to_float


class OfRows:
    """Functions of the rows ``A (n, m, p)`` of n clients, m each."""

    A: Array

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.A.shape[0])

    @property
    def m(self) -> int:
        """Number of rows of each client."""
        return int(self.A.shape[1])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        raise NotImplementedError

    def _points(self, x: Array) -> Array:
        """``x`` in floats, a point shared by all clients repeated for each: ``(..., n, d)``."""
        if x.shape[-2:] not in ((self.n, self.d), (1, self.d)):
            raise ValueError(f"points of all clients have shape (..., {self.n}, {self.d}), got {x.shape}")
        return np.broadcast_to(to_float(x), (*x.shape[:-2], self.n, self.d))


def for_each(mu: object, n: int) -> Array:
    """A positive number for each of n clients, ``(n,)``. Raise ``ValueError`` unless ``mu`` is one, or as many."""
    given = np.asarray(mu, dtype=np.float64)
    if given.shape not in ((), (n,)) or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(f"mu must be a positive number, or one for each of the {n} clients, got {mu}")
    return np.broadcast_to(given, n)
