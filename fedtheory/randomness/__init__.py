"""Distributions as values: what an algorithm draws in one step, to sample or to enumerate.

A draw is an array or a NamedTuple of draws. ``sample(rng, size)`` returns draws with the leading axes
``size``; ``support()`` returns all draws along one leading axis, with their probabilities, so that an
expectation is a finite sum. Probabilities are exact fractions when ``support(exact=True)`` and the parameters
are exact.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations
from math import comb, factorial, prod
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fedtheory.numbers.rational import Array, meant, to_float
from fedtheory.numbers.rational import exact as to_fractions
from fedtheory.numbers.scalar import Scalar

#: Supports larger than this are not enumerated.
LARGEST_SUPPORT = 200_000
#: The tolerance of floats that sum to 1; digits up to which a float is the decimal that was written.
ROUNDING, DECIMAL = 1e-9, 12

Draw = Any
Size = tuple[int, ...]


@runtime_checkable
class Distribution(Protocol):
    """A distribution of draws: what ``draws`` of a method returns.

    A class of one's own needs these members, and no base class.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory.randomness import Distribution
        >>> isinstance(ft.Bernoulli(0.5), Distribution)
        True
    """

    @property
    def count(self) -> int | None:
        """Number of draws in the support, or None when it is infinite."""

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        """Independent draws with leading axes ``size``."""

    def support(self, exact: bool = False) -> tuple[Draw, Array]:
        """All draws (leading axis K) and probabilities ``(K,)``. Raise ``ValueError`` if infinite or too large."""


def map_leaves(function: Callable[..., Array], *draws: Draw) -> Draw:
    """Apply ``function`` to the arrays of equally structured draws."""
    first = draws[0]
    if isinstance(first, tuple):
        return type(first)(*(map_leaves(function, *parts) for parts in zip(*draws, strict=True)))
    return function(*draws)


def check_enumerable(count: int | None) -> None:
    """Raise ``ValueError`` if a support of ``count`` draws is infinite (None) or too large to enumerate."""
    if count is None:
        raise ValueError(
            "this distribution has no finite support: sample it instead, or give a compressor `enumerate`, its outcomes"
        )
    if count > LARGEST_SUPPORT:
        raise ValueError(f"the support has {count} draws, more than {LARGEST_SUPPORT}: sample it instead")


def support_of(distribution: Distribution, exact: bool = False) -> tuple[Draw, Array]:
    """All draws (leading axis K) and probabilities ``(K,)`` of a user's distribution, checked.

    Raise ``ValueError`` if the support is infinite or too large, has another number of draws than of probabilities or
    than ``count`` says, or if its probabilities are none (:func:`checked_probabilities`). Draws without probability are
    left out.
    """
    draws, p = distribution.support(exact)
    subject = f"the support of {type(distribution).__name__}"
    probabilities = checked_probabilities(p, exact, subject)
    lengths: set[int | None] = {distribution.count}

    def measure(leaf: Array) -> Array:
        lengths.add(len(leaf))
        return leaf

    map_leaves(measure, draws)
    if lengths != {len(probabilities)}:
        counts = ", ".join(map(str, lengths))
        raise ValueError(
            f"{subject} has {len(probabilities)} probabilities, and {counts} draws by its count and its arrays"
        )
    drawn = probabilities > 0
    if drawn.all():
        return draws, probabilities
    # Outcomes of probability 0 are not drawn.
    return map_leaves(lambda leaf: leaf[drawn], draws), probabilities[drawn]


def checked_probabilities(p: Array, exact: bool, subject: str) -> Array:
    """The probabilities ``p (K,)``; ``subject``: whose they are.

    Raise ``ValueError`` if one is negative or they do not sum to 1: in fractions exactly, in floats to rounding, where
    what is left over of a sum, as 1 - 0.7 - 0.2 - 0.1, may be just below 0 and is then 0. A short decimal, as 0.25, is
    the fraction that it denotes; other floats are refused in fractions.
    """
    given = np.asarray(p)
    if given.ndim != 1 or not len(given):
        raise ValueError(f"{subject} has probabilities of shape {given.shape}, where one for each draw is due")
    found = np.array([_fraction(v, subject) for v in given], dtype=object) if exact else to_float(given)
    total = found.sum()
    if not exact:
        found = np.where((found < 0) & (found >= -ROUNDING), 0.0, found)
    if not (found >= 0).all():
        raise ValueError(f"{subject} has a probability that is negative, or no number")
    if not (total == 1 if exact else abs(total - 1) <= ROUNDING):
        raise ValueError(f"{subject} has probabilities that sum to {total}, where 1 is due")
    return found


def _fraction(value: object, subject: str) -> Any:
    """A probability as the fraction that it is; of a float, which its short decimal denotes."""
    if not isinstance(value, float | np.floating):
        return value
    digits = Decimal(repr(float(value)))
    if not digits.is_finite() or len(digits.as_tuple().digits) > DECIMAL:
        raise ValueError(f"{subject} has the probability {value}, a float, in fractions: write it as a fraction")
    return meant(Fraction(digits)).item()


@dataclass(frozen=True)
class Constant:
    """No randomness: the one draw is the empty array.

    Args:
        count: The number of draws in the support, 1.

    Examples:
        >>> import fedtheory as ft
        >>> draws, probabilities = ft.Constant().support()
        >>> draws.shape, probabilities.tolist()
        ((1, 0), [1.0])
    """

    count: int = 1

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return np.zeros((*size, 0))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        return np.zeros((1, 0)), np.array([Fraction(1)], dtype=object) if exact else np.ones(1)


@dataclass(frozen=True)
class Bernoulli:
    """A coin: True with probability p in [0, 1]. Draws are booleans of shape ``()``.

    Args:
        p: The probability, a number or a fraction.

    Raises:
        ValueError: If p is not in [0, 1].

    Examples:
        >>> import fedtheory as ft
        >>> from fractions import Fraction
        >>> draws, probabilities = ft.Bernoulli(Fraction(1, 4)).support(exact=True)
        >>> draws.tolist(), probabilities.tolist()
        ([True, False], [Fraction(1, 4), Fraction(3, 4)])
    """

    p: Scalar

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"the probability of a coin must be in [0, 1], got {self.p}")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return 1 if self.p in (0, 1) else 2

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return rng.random(size) < float(self.p)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        if self.count == 1:
            return np.array([self.p == 1]), _ones(exact)
        probabilities = np.array([self.p, 1 - self.p], dtype=object)
        return np.array([True, False]), probabilities if exact else to_float(probabilities)


def _ones(exact: bool) -> Array:
    return np.array([Fraction(1)], dtype=object) if exact else np.ones(1)


def _masks(n: int, tau: int) -> Array:
    """Indicator vectors of all tau-subsets of [n], in lexicographic order: ``(comb(n, tau), n)`` booleans."""
    masks = np.zeros((comb(n, tau), n), dtype=bool)
    for row, subset in zip(masks, combinations(range(n), tau), strict=True):
        row[list(subset)] = True
    return masks


def _sample_masks(rng: np.random.Generator, size: Size, n: int, tau: int) -> Array:
    # The places of the tau least of n uniform numbers: found twice as fast among rounded ones, which tell them unless
    # the tau-th is rounded to what the next is. Their bits, read as integers, are in the same order: none is negative.
    keys = rng.random((*size, n))
    rounded = keys.astype(np.float32).view(np.int32)
    mask = rounded <= np.partition(rounded, tau - 1, axis=-1)[..., tau - 1 : tau]
    if np.count_nonzero(mask) * n > tau * mask.size:
        # Ties count the earlier number as the smaller.
        ranks = np.argsort(np.argsort(keys, axis=-1, kind="stable"), axis=-1)
        mask = ranks < tau
    return mask


@dataclass(frozen=True)
class UniformSubset:
    """A uniformly random tau-subset of n clients. Draws are boolean masks of shape ``(n,)``.

    Args:
        n: The number of clients.
        tau: The number of clients that take part, between 1 and n.

    Raises:
        ValueError: If tau is not a whole number between 1 and n.

    Examples:
        >>> import fedtheory as ft
        >>> masks, probabilities = ft.UniformSubset(3, 2).support()
        >>> masks.astype(int).tolist()
        [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """

    n: int
    tau: int

    def __post_init__(self) -> None:
        if not isinstance(self.tau, int | np.integer):
            raise ValueError(f"tau must be an int, got {self.tau!r}: a letter for a count is made by ft.integers")
        if not 1 <= self.tau <= self.n:
            raise ValueError(f"tau must be between 1 and the {self.n} clients, got {self.tau}")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return comb(self.n, self.tau)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return _sample_masks(rng, size, self.n, self.tau)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        probabilities = np.full(self.count, Fraction(1, self.count), dtype=object)
        return _masks(self.n, self.tau), probabilities if exact else to_float(probabilities)


@lru_cache(maxsize=100)
def _order(n: int) -> Any:
    """The NamedTuple of n places."""
    return namedtuple("Order", [f"place_{k}" for k in range(n)])


@dataclass(frozen=True)
class Permutation:
    """A uniformly random order of n clients, as random reshuffling takes them.

    Draws are NamedTuples of n boolean masks of shape ``(n,)``: ``draw[k]`` is True for the client at the k-th place.

    Args:
        n: The number of clients.

    Raises:
        ValueError: If n is not a whole number from 1 on.

    Examples:
        >>> import fedtheory as ft
        >>> draws, probabilities = ft.Permutation(2).support()
        >>> draws[0].tolist()
        [[True, False], [False, True]]
    """

    n: int

    def __post_init__(self) -> None:
        if not isinstance(self.n, int | np.integer) or self.n < 1:
            raise ValueError(f"the number of clients to put in order must be a whole number from 1 on, got {self.n}")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return factorial(self.n)

    def _masks(self, orders: Array) -> Any:
        masks = orders[..., None] == np.arange(self.n)
        return _order(int(self.n))(*(masks[..., k, :] for k in range(self.n)))

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Any:
        """Independent draws, with leading axes ``size``."""
        return self._masks(rng.permuted(np.broadcast_to(np.arange(self.n), (*size, self.n)), axis=-1))

    def support(self, exact: bool = False) -> tuple[Any, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. ``ValueError`` if there are too many."""
        check_enumerable(self.count)
        probabilities = np.full(self.count, Fraction(1, self.count), dtype=object)
        orders = np.array(list(permutations(range(self.n))))
        return self._masks(orders), probabilities if exact else to_float(probabilities)


@dataclass(frozen=True)
class WeightedSubset:
    """The tau-subset I drawn with probability proportional to sum_{i in I} weights_i (FedDCD, Lemma B.3).

    There the weights are 1/L_i. Sampled exactly without enumeration: the first member by weight, the rest
    uniformly, because P(I) = sum_{i in I} (weights_i / total) / comb(n-1, tau-1). Draws are boolean masks
    ``(n,)``.

    Args:
        weights: The weights of the clients, ``(n,)``, positive and finite.
        tau: The number of clients that take part, between 1 and n.

    Raises:
        ValueError: If a weight is not positive and finite, or tau is not between 1 and n.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.randomness import WeightedSubset
        >>> WeightedSubset(np.array([1.0, 3.0]), 1).support()[1].tolist()
        [0.25, 0.75]
    """

    weights: Array
    tau: int

    def __post_init__(self) -> None:
        if not 1 <= self.tau <= len(self.weights):
            raise ValueError(f"tau must be between 1 and the {len(self.weights)} clients, got {self.tau}")
        if not all(0 < w < float("inf") for w in self.weights):
            raise ValueError("the weights of a weighted subset must be positive and finite")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return comb(len(self.weights), self.tau)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        n = len(self.weights)
        weights = to_float(self.weights)
        first = rng.choice(n, size=size, p=weights / weights.sum())
        keys = rng.random((*size, n))
        np.put_along_axis(keys, np.asarray(first)[..., None], -1.0, axis=-1)
        mask = np.zeros((*size, n), dtype=bool)
        np.put_along_axis(mask, np.argsort(keys, axis=-1)[..., : self.tau], True, axis=-1)
        return mask

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        masks = _masks(len(self.weights), self.tau)
        weights = to_fractions(self.weights) if exact else self.weights
        totals = np.where(masks, weights, 0 * weights).sum(axis=-1)
        probabilities = totals / totals.sum()
        return masks, probabilities if exact else to_float(probabilities)


@dataclass(frozen=True)
class Uniform01:
    """Independent uniform variates on [0, 1) of the given shape; the support is infinite.

    Args:
        shape: The shape of one draw.
        count: None: there are infinitely many draws.

    Examples:
        >>> import fedtheory as ft
        >>> import numpy as np
        >>> ft.Uniform01((3,)).sample(np.random.default_rng(0), size=(2,)).shape
        (2, 3)
    """

    shape: Size
    count: None = None

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return rng.random((*size, *self.shape))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """``ValueError``: there are infinitely many outcomes."""
        check_enumerable(None)
        raise AssertionError("unreachable")


@dataclass(frozen=True)
class Product:
    """Independent draws side by side, as the NamedTuple ``make(*draws)``.

    Args:
        make: The NamedTuple class, or a function that makes one of the draws.
        parts: The distributions of the draws.

    Examples:
        >>> import fedtheory as ft
        >>> from typing import NamedTuple
        >>> class Draw(NamedTuple):
        ...     coin: object
        ...     clients: object
        >>> both = ft.Product(Draw, (ft.Bernoulli(0.5), ft.UniformSubset(3, 1)))
        >>> both.count
        6
        >>> both.support()[0].clients.shape
        (6, 3)
    """

    make: Callable[..., Draw]
    parts: tuple[Distribution, ...]

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support."""
        counts = [part.count for part in self.parts]
        return None if None in counts else prod(c for c in counts if c is not None)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        """Independent draws, with leading axes ``size``."""
        return self.make(*(part.sample(rng, size) for part in self.parts))

    def support(self, exact: bool = False) -> tuple[Draw, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        supports = [support_of(part, exact) for part in self.parts]
        index = _product_index([len(p) for _, p in supports])
        draws = [map_leaves(lambda a, i=i: a[i], draw) for (draw, _), i in zip(supports, index, strict=True)]
        probabilities = [p[i] for (_, p), i in zip(supports, index, strict=True)]
        return self.make(*draws), prod(probabilities[1:], start=probabilities[0])


@dataclass(frozen=True)
class Independent:
    """n independent copies of one distribution, stacked on an axis after the leading ones.

    Args:
        one: The distribution.
        n: The number of copies.

    Examples:
        >>> import fedtheory as ft
        >>> draws, probabilities = ft.Independent(ft.Bernoulli(0.5), 2).support()
        >>> draws.astype(int).tolist(), probabilities.tolist()
        ([[1, 1], [1, 0], [0, 1], [0, 0]], [0.25, 0.25, 0.25, 0.25])
    """

    one: Distribution
    n: int

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support."""
        return None if self.one.count is None else self.one.count**self.n

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        """Independent draws, with leading axes ``size``."""
        return self.one.sample(rng, (*size, self.n))

    def support(self, exact: bool = False) -> tuple[Draw, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        draws, p = support_of(self.one, exact)
        index = np.stack(_product_index([len(p)] * self.n), axis=-1)
        return map_leaves(lambda a: a[index], draws), p[index].prod(axis=-1)


@dataclass(frozen=True)
class Shared:
    """One draw used by all n clients (shared randomness), on the same axis as in :class:`Independent`.

    Args:
        one: The distribution.
        n: The number of clients.

    Examples:
        >>> from fedtheory.randomness import Bernoulli, Shared
        >>> Shared(Bernoulli(0.5), 3).support()[0].astype(int).tolist()
        [[1, 1, 1], [0, 0, 0]]
    """

    one: Distribution
    n: int

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support."""
        return self.one.count

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Draw:
        """Independent draws, with leading axes ``size``."""
        draw = self.one.sample(rng, size)
        return map_leaves(lambda a: np.repeat(np.expand_dims(a, len(size)), self.n, axis=len(size)), draw)

    def support(self, exact: bool = False) -> tuple[Draw, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        draw, p = support_of(self.one, exact)
        return map_leaves(lambda a: np.repeat(a[:, None], self.n, axis=1), draw), p


def _product_index(sizes: list[int]) -> list[Array]:
    """Index arrays that run through the Cartesian product of (any number of) ranges, first range slowest."""
    remaining = np.arange(prod(sizes))
    digits = []
    for size in reversed(sizes):
        remaining, digit = np.divmod(remaining, size)
        digits.append(digit)
    return digits[::-1]


def expectation(values: Array, probabilities: Array, axis: int = -1) -> Array:
    """Return sum_k p_k values_k along an axis: exact for exact values and probabilities, float64 for floats.

    Args:
        values: The values, with K of them along ``axis``.
        probabilities: Their probabilities, ``(K,)``.
        axis: The axis over which is summed.

    Returns:
        The expectation, without that axis.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.randomness import expectation
        >>> float(expectation(np.array([1.0, 3.0]), np.array([0.25, 0.75])))
        2.5
    """
    moved = np.moveaxis(values, axis, -1)
    if moved.dtype == object:
        probabilities = meant(probabilities)
    elif moved.dtype.kind == "f":
        probabilities = to_float(probabilities)
    return (moved * probabilities).sum(axis=-1)
