"""Contractive compressors, possibly biased: E|C(x) - x|^2 <= (1 - alpha) |x|^2 with 0 < alpha <= 1.

Error feedback (EF21) takes these. An unbiased compressor becomes one when it is scaled down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedtheory.compressors import FLOAT_BITS, Compressor
from fedtheory.numbers.rational import Array, is_exact, square_root
from fedtheory.numbers.scalar import Scalar
from fedtheory.randomness import Constant, Distribution, Draw


@dataclass(frozen=True)
class Contractive:
    """A map C on R^d, random or not.

    ``draws``: the distribution of its randomness; ``apply(draw, x)``: C(x) for ``x (..., d)`` and draws whose leading
    axes broadcast against those of x; ``alpha``: its contraction factor; ``bits``: length of one message.
    """

    name: str
    d: int
    draws: Distribution
    apply: Callable[[Draw, Array], Array]
    alpha: Scalar
    bits: int

    def sample(self, rng: np.random.Generator, x: Array) -> Array:
        """C(x) with fresh randomness for each row of ``x (..., d)``."""
        return self.apply(self.draws.sample(rng, x.shape[:-1]), x)


def top_k(d: int, k: int) -> Contractive:
    """The k entries of largest size, the first ones among equals. alpha = k/d, bits 32 k + k ceil(log2 d)."""
    if not 1 <= k <= d:
        raise ValueError(f"top-k keeps between 1 and d = {d} coordinates, got k = {k}")

    def apply(draw: Array, x: Array) -> Array:
        # The rank of an entry is its place in the order of sizes, the inverse of the sorting permutation.
        rank = np.argsort(np.argsort(-abs(x), axis=-1, kind="stable"), axis=-1)
        kept = np.where(rank < k, x, 0 * x)
        return np.broadcast_to(kept, (*np.broadcast_shapes(draw.shape[:-1], x.shape[:-1]), d))

    return Contractive(f"top-{k}", d, Constant(), apply, Fraction(k, d), k * (FLOAT_BITS + (d - 1).bit_length()))


def shrinking(d: int, alpha: Scalar) -> Contractive:
    """(1 - sqrt(1 - alpha)) x, without draws: the errors of all rounds have one direction. Every entry is sent."""

    def apply(draw: Array, x: Array) -> Array:
        return np.broadcast_to(
            (1 - square_root(1 - alpha)) * x, (*np.broadcast_shapes(draw.shape[:-1], x.shape[:-1]), d)
        )

    return Contractive("(1 - sqrt(1 - alpha)) x", d, Constant(), apply, alpha, d * FLOAT_BITS)


def scaled(compressor: Compressor) -> Contractive:
    """C/(1 + omega) for an unbiased compressor C in U(omega): alpha = 1/(1 + omega), the same message."""
    alpha = 1 / (1 + compressor.omega)

    def apply(draw: Draw, x: Array) -> Array:
        value = compressor.apply(draw, x)
        return (alpha if is_exact(value) else float(alpha)) * value

    return Contractive(f"scaled {compressor.name}", compressor.d, compressor.draws, apply, alpha, compressor.bits)
