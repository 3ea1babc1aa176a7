"""Permutation compressors: all clients split the coordinates among them at random (Szlendak, Tyurin, Richtarik 2022).

With n k = d every coordinate is sent by exactly one client, scaled by n. One client alone sees rand-k; the clients
together are dependent.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import numpy as np
from sympy.utilities.iterables import multiset_permutations

from fedtheory.compressors import Family, rand_k
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.randomness import Distribution, Size, check_enumerable


@dataclass(frozen=True)
class Blocks:
    """n disjoint random blocks of k coordinates that cover all d = n k of them. Draws are masks ``(n, d)``."""

    n: int
    k: int

    @property
    def count(self) -> int:
        """Number of outcomes: (nk)!/(k!)^n."""
        return factorial(self.n * self.k) // factorial(self.k) ** self.n

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``: masks ``(*size, n, d)``."""
        owners = np.argsort(rng.random((*size, self.n * self.k)), axis=-1) // self.k
        return self._masks(owners)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        owners = np.array(list(multiset_permutations(np.repeat(np.arange(self.n), self.k).tolist())))
        share = Fraction(1, self.count)
        p = np.full(self.count, share, dtype=object) if exact else np.full(self.count, float(share))
        return self._masks(owners), p

    def _masks(self, owners: Array) -> Array:
        return owners[..., None, :] == np.arange(self.n)[:, None]


@dataclass(frozen=True)
class Permuted(Family):
    """rand-k with k = d/n at each of n clients, which send disjoint blocks. Made by :func:`perm_k`.

    ``compressor`` is what one client does, and its bits those of rand-k: coordinates are named. Raises ``ValueError``
    for another compressor.
    """

    joint: str = "permuted"

    def __post_init__(self) -> None:
        one, n = self.compressor, self.n
        if self.joint != "permuted":
            raise ValueError("a permuted family takes no other dependence")
        if n < 1 or one.d % n or one.name != rand_k(one.d, one.d // n).name:
            raise ValueError(f"{n} permuted compressors are rand-k with n k = d, got {one.name} with d = {one.d}")

    @property
    def omega_av(self) -> Scalar:
        r"""1 for n >= 2, and 0 for n = 1, where nothing is lost.

        $E|\frac1n \sum_i (C_i(x_i) - x_i)|^2 = \frac1n \sum_i |x_i|^2 - |\bar x|^2$: coordinate j of the mean is
        that of a uniformly random client. It vanishes where all x_i agree, but eq. (3) of LoCoDL allows any x_i, among
        them those of sum 0. There the factor is 1, which is more than the (n - 1)/n of independent rand-k.
        """
        return Fraction(int(self.n > 1))

    @property
    def draws(self) -> Distribution:
        """The disjoint blocks of coordinates."""
        return Blocks(self.n, self.compressor.d // self.n)


def perm_k(d: int, n: int) -> Permuted:
    """n compressors with k = d/n; omega = n - 1. Raises ``ValueError`` unless n divides d."""
    if n < 1 or d < 1 or d % n:
        raise ValueError(f"permuted compressors need n k = d: {n} clients do not divide d = {d}")
    return Permuted(rand_k(d, d // n), n)
