"""Who takes part over one or more communication rounds, and which of its own examples each client uses.

A plan is a boolean array ``(rounds, m)``: row t marks the clients of the t-th round. A method whose draw is a plan
takes as many rounds in one step as the plan has rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations, product
from math import comb, factorial, prod
from typing import Protocol

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Distribution, Independent, Size, UniformSubset, check_enumerable


class Selection(Distribution, Protocol):
    """A distribution of plans of ``rounds`` rounds."""

    @property
    def rounds(self) -> int:
        """Rounds of a plan."""


@dataclass(frozen=True)
class Uniform:
    """Independent uniformly random subsets of ``size`` of m clients, as FedADMM's experiments take them."""

    m: int
    size: int
    rounds: int = 1

    @cached_property
    def _all(self) -> Independent:
        return Independent(UniformSubset(self.m, self.size), self.rounds)

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support."""
        return self._all.count

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return np.asarray(self._all.sample(rng, size))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        return self._all.support(exact)


@dataclass(frozen=True)
class Fixed:
    """One plan, ``masks (rounds, m)`` booleans, without randomness."""

    masks: Array
    count: int = 1

    def __post_init__(self) -> None:
        masks = np.asarray(self.masks)
        if masks.ndim != 2 or masks.dtype != bool:
            raise ValueError(f"a plan is a boolean array (rounds, m), got {masks.dtype} {masks.shape}")

    @property
    def rounds(self) -> int:
        """The number of planned rounds."""
        return len(self.masks)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return np.broadcast_to(self.masks, (*size, *self.masks.shape))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        return self.masks[None], np.array([Fraction(1)], dtype=object) if exact else np.ones(1)


@dataclass(frozen=True)
class Covering:
    r"""Uniform on the plans of s_0 subsets of ``size`` of m clients whose union is everybody (FedADMM, Scheme 4.1).

    A plan is drawn round by round: with u clients still to be met and j rounds to come, the next subset meets t of
    them with probability $\binom{u}{t} \binom{m-u}{size-t} N(u-t, j-1) / N(u, j)$, where N(u, j) counts the ways to
    meet u clients in j rounds. Raise ``ValueError`` unless s_0 * size >= m, so that there is such a plan.
    """

    m: int
    size: int
    s0: int

    def __post_init__(self) -> None:
        if not 1 <= self.size <= self.m:
            raise ValueError(f"the size must be between 1 and the {self.m} clients, got {self.size}")
        if self.s0 < 1 or self.s0 * self.size < self.m:
            raise ValueError(f"{self.s0} subsets of {self.size} clients cannot cover {self.m}")

    @property
    def rounds(self) -> int:
        """The number of planned rounds, s_0."""
        return self.s0

    @cached_property
    def _ways(self) -> list[list[int]]:
        """``_ways[j][u]``: the ways N(u, j) to meet u given clients in j rounds."""
        ways = [[1] + [0] * self.m]
        for _ in range(self.s0):
            last = ways[-1]
            ways.append([sum(self._choices(u, t) * last[u - t] for t in self._met(u)) for u in range(self.m + 1)])
        return ways

    def _met(self, u: int) -> range:
        """The numbers of u clients that a subset can contain."""
        return range(max(0, self.size - (self.m - u)), min(u, self.size) + 1)

    def _choices(self, u: int, t: int) -> int:
        return comb(u, t) * comb(self.m - u, self.size - t)

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return self._ways[self.s0][self.m]

    def _cumulative(self, left: int) -> Array:
        """P(at most t of u are met in the next round) with ``left`` rounds to come, ``(u, t)``; zeros where u is out
        of reach."""
        table = np.zeros((self.m + 1, self.size + 1))
        for u in range(self.m + 1):
            total = self._ways[left][u]
            for t in self._met(u) if total else ():
                ways = self._choices(u, t) * self._ways[left - 1][u - t]
                table[u, t] = float(Fraction(ways, total))
        return np.cumsum(table, axis=1)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        masks = np.zeros((*size, self.s0, self.m), dtype=bool)
        waiting = np.ones((*size, self.m), dtype=bool)
        for round_ in range(self.s0):
            cumulative = self._cumulative(self.s0 - round_)[waiting.sum(axis=-1)]
            # Above the rounding of the sum, a draw must not pass the last t that is possible.
            uniform_ = rng.random((*size, 1)) * cumulative[..., -1:]
            met = (cumulative <= uniform_).sum(axis=-1, keepdims=True)
            keys = rng.random((*size, self.m))
            rank_waiting = np.argsort(np.argsort(np.where(waiting, keys, 2.0), axis=-1), axis=-1)
            rank_others = np.argsort(np.argsort(np.where(waiting, 2.0, keys), axis=-1), axis=-1)
            chosen = np.where(waiting, rank_waiting < met, rank_others < self.size - met)
            masks[..., round_, :] = chosen
            waiting = waiting & ~chosen
        return masks

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(comb(self.m, self.size) ** self.s0)
        plans, _ = Uniform(self.m, self.size, self.s0).support(exact)
        covering = plans[plans.any(axis=-2).all(axis=-1)]
        probabilities = np.full(len(covering), Fraction(1, len(covering)), dtype=object)
        return covering, probabilities if exact else to_float(probabilities)


def covers(masks: Array, s0: int) -> bool:
    """Return True if the rounds ``(rounds, m)``, cut into blocks of s_0, include every client in every whole block."""
    blocks = len(masks) // s0
    return bool(masks[: blocks * s0].reshape(blocks, s0, -1).any(axis=1).all())


def gaps(masks: Array) -> Array:
    """The largest number of rounds from one selection of a client to its next, ``(rounds, m) -> (m,)``; 0 for a client
    selected at most once (the left side of FedADMM, eq. (21))."""
    found = [np.diff(np.flatnonzero(column)) for column in masks.T]
    return np.array([steps.max(initial=0) for steps in found])


# Which of its own examples each client uses: passes in a random order, or picks with replacement.
#
# Examples are rows of one table, client by client, so that a draw names rows of the table: clients may hold different
# numbers of them.


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
