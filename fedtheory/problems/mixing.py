"""Matrices by which clients mix their vectors with those of their neighbours, in fractions: of real graphs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, has_nonnegative_pivots, inverse, is_exact, to_float

_STAR, _RING, _PATH = "star", "ring", "path"
#: Eigenvalues of Laplacians that are rational: the least positive one and the largest, by the graph and its size.
_SPECTRA = {(_RING, 4): (2, 4), (_RING, 6): (1, 4), (_PATH, 2): (2, 2), (_PATH, 3): (1, 3)}
#: The graphs, in the order of a recipe's numbers; "flipped" is the complete graph with a negative eigenvalue.
GRAPHS = ("complete", _STAR, _RING, _PATH, "flipped")
#: The largest rounding error of a spectral gap.
_ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True)
class Mixing:
    """The symmetric and doubly stochastic ``matrix (n, n)``, of fractions, of a ``graph``."""

    matrix: Array
    graph: str

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.matrix)

    @property
    def name(self) -> str:
        """The graph and the matrix, in words."""
        rows = ", ".join(f"({', '.join(str(Fraction(v)) for v in row)})" for row in self.matrix)
        return f"W of a {self.graph} graph, rows {rows}"

    @cached_property
    def _floats(self) -> Array:
        return to_float(self.matrix)

    def mix(self, x: Array) -> Array:
        """sum_j W_ij x_j for each i, ``(..., n, d) -> (..., n, d)``."""
        return np.matmul(self.matrix if is_exact(x) else self._floats, x)

    @cached_property
    def _inverse(self) -> Array:
        """That of I - W + J, where all entries of J are 1/n."""
        eye = np.eye(self.n, dtype=int).astype(object) + Fraction(0)
        return inverse(eye - self.matrix + Fraction(1, self.n))

    def solve(self, v: Array) -> Array:
        """The vectors z ``(..., n, d)`` of mean 0 with z - W z = v less its mean, for v ``(..., n, d)``.

        There is one if W has a spectral gap.
        """
        apart = v - v.sum(axis=-2, keepdims=True) / self.n
        return np.matmul(self._inverse if is_exact(apart) else to_float(self._inverse), apart)

    def is_doubly_stochastic(self) -> bool:
        """Return True if the matrix is symmetric, without negative entries, and all rows have the sum 1."""
        W = self.matrix
        return bool((W == W.T).all() and (W >= 0).all() and (W.sum(axis=1) == 1).all())

    def has_gap(self, delta: Any) -> bool:
        """Return True if all eigenvalues but that of the ones have an absolute value of at most 1 - delta."""
        off = self.matrix - Fraction(1, self.n)
        least = Fraction(delta) - (_ROUNDING if isinstance(delta, float) else 0)
        eye = np.eye(self.n, dtype=int).astype(object)
        return bool(least <= 1) and has_nonnegative_pivots((1 - least) ** 2 * eye - np.matmul(off, off))


def of_graph(graph: str, n: int, delta: Fraction) -> Mixing:
    """A matrix I - w (Laplacian) of a graph of n clients with the spectral gap ``delta``, or of the complete graph,
    where there is none."""
    eye, ones = (np.array(m, dtype=object) + Fraction(0) for m in (np.eye(n, dtype=int), np.ones((n, n), dtype=int)))
    if graph == "flipped" and n == 2:
        return Mixing((delta - 1) * eye + (2 - delta) * ones / n, graph)
    spectrum = (1, n) if graph == _STAR and n > 2 else _SPECTRA.get((graph, n))
    if spectrum is not None:
        least, largest = spectrum
        edges = np.zeros((n, n), dtype=int)
        for i in range(n):
            for j in range(i):
                near = j == 0 if graph == _STAR else i - j == 1 or (graph == _RING and i - j == n - 1)
                edges[i, j] = edges[j, i] = near
        degrees, w = edges.sum(axis=1), delta / least
        if w * int(degrees.max()) <= 1 and 2 - w * largest >= delta:
            return Mixing(eye - w * (np.diag(degrees) - edges), graph)
    return Mixing((1 - delta) * eye + delta * ones / n, "complete")
