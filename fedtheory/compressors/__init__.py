"""Unbiased random compressors: LoCoDL, Section 1.3 and Section 4.

A compressor C in U(omega) satisfies E C(x) = x and E|C(x) - x|^2 <= omega |x|^2 (eq. (2)). Each is frozen
data: the distribution of its randomness, the map ``apply(draw, x)``, its ``omega`` and its message length in
``bits``. A family is n of them at work together, with the joint constant omega_av of eq. (3).

Vectors are not validated: one with a NaN or an infinite entry never compresses to a finite one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array, exact, is_exact
from fedtheory.numbers.scalar import Scalar
from fedtheory.randomness import Bernoulli as Coin
from fedtheory.randomness import (
    Constant,
    Distribution,
    Draw,
    Independent,
    Product,
    Shared,
    Size,
    Uniform01,
    UniformSubset,
    check_enumerable,
    checked_probabilities,
    support_of,
)

#: Bits of a real sent uncompressed (IEEE single precision, LoCoDL Section 4).
FLOAT_BITS = 32
#: Bits of a real sent by natural compression: a sign and an eight-bit exponent.
NATURAL_BITS = 9


class Layout(NamedTuple):
    """The layout of one message, in this order; :mod:`fedtheory.compressors.codec` writes it.

    ``flag``: a bit that says whether anything follows; then ``entries`` reals, each in ``real`` bits (32: IEEE single
    precision; 9: sign and exponent of a power of two, times ``scale``, which both sides know); ``indexed``: each is
    preceded by its coordinate.
    """

    entries: int
    real: int = FLOAT_BITS
    indexed: bool = False
    flag: bool = False
    scale: Scalar = 1


@dataclass(frozen=True)
class Compressor:
    """A random map C on R^d: LoCoDL, Section 1.3.

    Args:
        name: The name, as in reports and traces.
        d: The dimension.
        draws: The distribution of its randomness.
        apply: ``apply(draw, x)``: C(x), for ``x (..., d)`` and draws whose leading axes broadcast against those of x.
        omega: Its relative variance: E|C(x) - x|^2 <= omega |x|^2.
        bits: The length of one message in bits, the longest if they differ; 0 to leave it open.
        enumerate: For one vector ``x (d,)`` the outcomes ``(K, d)`` and probabilities ``(K,)``; needed only if the
            support of ``draws`` is infinite.
        layout: How a message is written, None to leave it open.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.compressors import rand_k
        >>> half = rand_k(d=2, k=1)
        >>> half.omega
        Fraction(1, 1)
        >>> values, probabilities = half.outcomes(np.array([1.0, 3.0]))
        >>> values.tolist(), probabilities.tolist()
        ([[2.0, 0.0], [0.0, 6.0]], [0.5, 0.5])
    """

    name: str
    d: int
    draws: Distribution
    apply: Callable[[Draw, Array], Array]
    omega: Scalar
    bits: int = 0
    enumerate: Callable[[Array], tuple[Array, Array]] | None = None
    layout: Layout | None = None

    def sample(self, rng: np.random.Generator, x: Array) -> Array:
        """Return C(x), with fresh randomness for every vector.

        Args:
            rng: The random numbers.
            x: The vectors, ``(..., d)``.

        Returns:
            The compressed vectors, ``(..., d)``.
        """
        return self.apply(self.draws.sample(rng, x.shape[:-1]), x)

    def outcomes(self, x: Array) -> tuple[Array, Array]:
        """Return all values of C(x) for one vector, and their probabilities. Exact on fractions.

        Args:
            x: The vector, ``(d,)``.

        Returns:
            The values ``(K, d)`` and the probabilities ``(K,)``.

        Raises:
            ValueError: For another shape, or for too many values to enumerate.
        """
        if x.shape != (self.d,):
            raise ValueError(f"outcomes takes one vector of length {self.d}, got shape {x.shape}")
        if self.enumerate is not None:
            values, p = self.enumerate(x)
            return values, checked_probabilities(p, is_exact(x), f"what {self.name} returns")
        draws, probabilities = support_of(self.draws, is_exact(x))
        values = self.apply(draws, x)
        if values.shape == x.shape:
            # One that draws nothing, or looks at no draw, may give its value once.
            values = np.broadcast_to(values, (len(probabilities), self.d))
        return values, probabilities


def index_bits(d: int) -> int:
    """ceil(log2 d): bits that name one of d coordinates."""
    return (d - 1).bit_length()


def _check_k(d: int, k: int) -> None:
    if not 1 <= k <= d:
        raise ValueError(f"rand-k keeps between 1 and d = {d} coordinates, got k = {k}")


def _scaled(scale: Any, kept: Array, x: Array) -> Array:
    """scale * x where it is kept, else 0 * x, in the arithmetic of x: a fraction would turn floats into objects."""
    return np.where(kept, scale, 0) * x if is_exact(x) else kept * float(scale) * x


def identity(d: int) -> Compressor:
    """Return the compressor that compresses nothing: omega = 0, 32 bits a real.

    Args:
        d: The dimension.

    Returns:
        The compressor.

    Examples:
        >>> from fedtheory.compressors import identity
        >>> identity(3).bits
        96
    """

    def apply(draw: Array, x: Array) -> Array:
        return np.broadcast_to(x, (*np.broadcast_shapes(draw.shape[:-1], x.shape[:-1]), *x.shape[-1:]))

    return Compressor("identity", d, Constant(), apply, Fraction(0), FLOAT_BITS * d, layout=Layout(d))


def bernoulli(d: int, omega: Fraction | float) -> Compressor:
    """Return the compressor C(x) = (1 + omega) x with probability 1/(1 + omega), else 0.

    Linear, with E|C(x) - x|^2 = omega |x|^2 for every x and in every dimension: the extreme point of
    U(omega), and so the compressor on which bounds are tested. One bit says whether the vector follows.

    Args:
        d: The dimension.
        omega: The variance, at least 0 and finite.

    Returns:
        The compressor.

    Raises:
        ValueError: If omega is negative or infinite.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.compressors import bernoulli
        >>> values, probabilities = bernoulli(1, 3).outcomes(np.array([1]))
        >>> values.tolist(), probabilities.tolist()
        ([[4.0], [0.0]], [0.25, 0.75])
    """
    if not 0 <= omega < float("inf"):
        raise ValueError(f"omega must be at least 0 and finite, got {omega}")
    variance = omega if isinstance(omega, float) else Fraction(omega)
    scale = 1 + variance

    def apply(draw: Array, x: Array) -> Array:
        return _scaled(scale, draw[..., None], x)

    layout = Layout(d, flag=True)
    meant = f"{variance:.12g}" if isinstance(variance, float) else str(variance)
    return Compressor(
        f"bernoulli(omega={meant})", d, Coin(1 / scale), apply, variance, 1 + FLOAT_BITS * d, None, layout
    )


def rand_k(d: int, k: int) -> Compressor:
    """Return rand-k: k coordinates chosen uniformly, scaled by d/k. omega = d/k - 1, bits 32 k + k ceil(log2 d).

    Args:
        d: The dimension.
        k: The number of coordinates that are kept.

    Returns:
        The compressor.

    Raises:
        ValueError: Unless 1 <= k <= d.

    Examples:
        >>> from fedtheory.compressors import rand_k
        >>> rand_k(8, 2).omega, rand_k(8, 2).bits
        (Fraction(3, 1), 70)
    """
    _check_k(d, k)
    scale = Fraction(d, k)

    def apply(draw: Array, x: Array) -> Array:
        return _scaled(scale, draw, x)

    bits = k * (FLOAT_BITS + index_bits(d))
    return Compressor(f"rand-{k}", d, UniformSubset(d, k), apply, scale - 1, bits, layout=Layout(k, indexed=True))


def power_below(x: Array) -> Array:
    """The largest power of two that is at most |x|, entrywise; 1 where x is 0. Exact on fractions.

    For an infinite float it is the largest finite power of two; for a NaN it is arbitrary.
    """
    if not is_exact(x):
        exponents = np.frexp(np.where(x == 0, 1.0, x))[1]
        return np.ldexp(0.5, np.where(np.isinf(x), np.finfo(np.float64).maxexp, exponents))
    out = np.empty_like(x)
    for index, value in np.ndenumerate(x):
        size = abs(Fraction(value)) or Fraction(1)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        power = Fraction(2) ** exponent
        out[index] = power if power <= size else power / 2
    return out


def _round_natural(u: Array, x: Array) -> Array:
    """x rounded up in size to the next power of two where u < |x|/2^k - 1, else down to 2^k; 0 stays 0."""
    low = power_below(x)
    up = u < abs(x) / low - 1
    return np.where(x == 0, 0 * x, np.sign(x) * np.where(up, 2 * low, low))


def _natural_values(x: Array) -> tuple[Array, Array]:
    """Both roundings of each coordinate ``(2, d)``, up first, and the probability of rounding up ``(d,)``."""
    low = np.where(x == 0, 0 * x, power_below(x))
    up = np.where(x == 0, 0 * x, abs(x) / power_below(x) - 1)
    return np.stack([2 * np.sign(x) * low, np.sign(x) * low]), up


def natural(d: int) -> Compressor:
    """Return natural compression: each real rounded at random to one of the two nearest powers of two, without bias.

    omega = 1/8, attained at |x| = (4/3) 2^k; 9 bits a real (sign and exponent) while exponents stay in the
    range of IEEE single precision's normal numbers.

    Args:
        d: The dimension.

    Returns:
        The compressor.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.compressors import natural
        >>> values, probabilities = natural(1).outcomes(np.array([3.0]))
        >>> values.tolist(), probabilities.tolist()
        ([[4.0], [2.0]], [0.5, 0.5])
    """

    def enumerate_outcomes(x: Array) -> tuple[Array, Array]:
        values, up = _natural_values(x)
        rounded_up, _ = Independent(Coin(Fraction(1, 2)), d).support()
        p = np.where(rounded_up, up, 1 - up).prod(axis=-1)
        return np.where(rounded_up, values[0], values[1]), p

    return Compressor(
        "natural",
        d,
        Uniform01((d,)),
        _round_natural,
        Fraction(1, 8),
        NATURAL_BITS * d,
        enumerate_outcomes,
        Layout(d, NATURAL_BITS),
    )


class SparseNatural(NamedTuple):
    """Randomness of rand-k with natural compression: the coordinates kept, and the rounding of each."""

    kept: Array
    rounding: Array


def rand_k_natural(d: int, k: int) -> Compressor:
    """Return rand-k of the naturally compressed vector: omega = 9d/(8k) - 1, bits 9 k + k ceil(log2 d).

    Args:
        d: The dimension.
        k: The number of coordinates that are kept.

    Returns:
        The compressor.

    Raises:
        ValueError: Unless 1 <= k <= d.

    Examples:
        >>> from fedtheory.compressors import rand_k_natural
        >>> rand_k_natural(8, 2).omega
        Fraction(7, 2)
    """
    _check_k(d, k)
    sparse, rounded = rand_k(d, k), natural(d)

    def apply(draw: SparseNatural, x: Array) -> Array:
        return sparse.apply(draw.kept, rounded.apply(draw.rounding, x))

    def enumerate_outcomes(x: Array) -> tuple[Array, Array]:
        check_enumerable(comb(d, k) * 2**d)
        values, p = rounded.outcomes(x)
        masks, q = support_of(sparse.draws, is_exact(x))
        both = sparse.apply(masks[:, None], values[None])
        return both.reshape(-1, d), (q[:, None] * p[None]).reshape(-1)

    draws = Product(SparseNatural, (sparse.draws, rounded.draws))
    return Compressor(
        f"rand-{k} natural",
        d,
        draws,
        apply,
        Fraction(9 * d, 8 * k) - 1,
        k * (NATURAL_BITS + index_bits(d)),
        enumerate_outcomes,
        Layout(k, NATURAL_BITS, indexed=True, scale=Fraction(d, k)),
    )


def l1_selection(d: int) -> Compressor:
    """Return C(x) = sign(x_j) |x|_1 e_j, with j drawn with probability |x_j|/|x|_1; C(0) = 0.

    omega = d - 1, attained where all |x_j| are equal; bits 32 + ceil(log2 d).

    Args:
        d: The dimension.

    Returns:
        The compressor.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.compressors import l1_selection
        >>> values, probabilities = l1_selection(2).outcomes(np.array([1.0, -3.0]))
        >>> values.tolist(), probabilities.tolist()
        ([[4.0, 0.0], [0.0, -4.0]], [0.25, 0.75])
    """

    def apply(draw: Array, x: Array) -> Array:
        size = abs(x)
        below = np.cumsum(size, axis=-1)
        total = below[..., -1:]  # size.sum() can round to more, and u near 1 then select a zero coordinate
        # For fractions, a drawn float is the fraction that it equals.
        draw = exact(draw) if is_exact(x) else draw
        j = (below <= draw * total).sum(axis=-1, keepdims=True).clip(max=d - 1)
        return np.where(np.arange(d) == j, np.sign(x) * total, 0 * x)

    def enumerate_outcomes(x: Array) -> tuple[Array, Array]:
        total = np.cumsum(abs(x))[-1]
        if total == 0:
            return np.stack([x]), 1 + x[:1]
        values = np.zeros((d, d), dtype=x.dtype) + 0 * x
        np.fill_diagonal(values, np.sign(x) * total)
        return values, abs(x) / total

    return Compressor(
        "l1-selection",
        d,
        Uniform01((1,)),
        apply,
        Fraction(d - 1),
        FLOAT_BITS + index_bits(d),
        enumerate_outcomes,
        Layout(1, indexed=True),
    )


@dataclass(frozen=True)
class Family:
    """n copies of a compressor: ``joint`` is "independent" or "shared" (one randomness for all clients)."""

    compressor: Compressor
    n: int
    joint: str = "independent"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"a family has at least one compressor, got n = {self.n}")
        if self.joint not in ("independent", "shared"):
            raise ValueError(f"joint must be 'independent' or 'shared', got {self.joint!r}")

    @property
    def omega(self) -> Scalar:
        """The variance of one client's compressor."""
        return self.compressor.omega

    @property
    def omega_av(self) -> Scalar:
        """The constant of eq. (3): omega/n for independent compressors, omega in general."""
        return self.omega / self.n if self.joint == "independent" else self.omega

    @property
    def draws(self) -> Distribution:
        """Randomness of all clients: draws with an axis of length n."""
        one = self.compressor.draws
        return Independent(one, self.n) if self.joint == "independent" else Shared(one, self.n)

    def apply(self, draw: Draw, x: Array) -> Array:
        """C_i(x_i) for ``x (..., n, d)``."""
        return self.compressor.apply(draw, x)

    def sample(self, rng: np.random.Generator, x: Array) -> Array:
        """C_i(x_i) with fresh randomness for ``x (..., n, d)``."""
        size: Size = x.shape[:-2]
        return self.apply(self.draws.sample(rng, size), x)
