"""Parameters of small problems for methods without claims, and what slips of several methods share."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations, product
from math import comb, factorial, perm, prod
from typing import Any, NamedTuple

import numpy as np

from fedtheory.learning import batches
from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Size, check_enumerable


class Given(NamedTuple):
    """The situation for which parameters are chosen.

    ``tau`` participants, ``epochs`` local epochs, the ``batches`` of a local step; ``features``: options of the method
    that are switched on.
    """

    rng: np.random.Generator
    problem: Any
    features: Collection[str]
    tau: int = 1
    epochs: int = 1
    batches: Any = batches.AllRows()


class Example(NamedTuple):
    """``problem``: its kind: "clients" with functions of their own, the same in several dimensions ("wide"), a "sum" of
    functions, or "rows" of a linear model at each client, "rows, any loss" if the loss need not be squared; ``params``:
    the parameters, or None if the method has none for the problem."""

    problem: str
    params: Callable[[Given], Any]


def weights(given: Given) -> Any:
    """alpha_i and sigma_i, no two alike."""
    alpha = given.rng.permutation(np.arange(1.0, given.problem.n + 1))
    alpha = alpha / alpha.sum()
    return alpha, given.rng.uniform(1, 2, given.problem.n) * alpha * to_float(given.problem.f.L)


def row_step(given: Given) -> float:
    """Half of what an example of a linear model allows."""
    f = given.problem.f
    return 0.5 / float(f.squared_norms.max() + f.lam)


# Common mistakes in practice: words and draws that slips of several methods share. Each method's module has its slips.

IN_PLACE = (
    "the global model is changed in place while clients still train on it: each participant starts from where the one "
    "before it ended"
)


@dataclass(frozen=True)
class Replaced:
    """``size`` of m clients picked one by one with replacement: those that were met, as a plan of so many rounds."""

    m: int
    size: int
    rounds: int = 1

    @property
    def count(self) -> int:
        """The number of plans."""
        return sum(comb(self.m, k) for k in range(1, self.size + 1)) ** self.rounds

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent plans, with leading axes ``size``: masks ``(*size, rounds, m)``."""
        picks = rng.integers(self.m, size=(*size, self.rounds, self.size))
        return (picks[..., None] == np.arange(self.m)).any(axis=-2)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All plans, with equal probabilities, which are not those of the picks: only the set of plans matters."""
        check_enumerable(self.count)
        rows = [mask for mask in product((False, True), repeat=self.m) if 1 <= sum(mask) <= self.size]
        plans = np.array(list(product(rows, repeat=self.rounds)))
        return plans, np.full(len(plans), 1 / len(plans))


@dataclass(frozen=True)
class Multisets:
    """``size`` of m clients picked one by one with replacement: how often each was picked, ``(m,)``."""

    m: int
    size: int

    @property
    def count(self) -> int:
        """The number of outcomes."""
        return comb(self.m + self.size - 1, self.size)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent picks, with leading axes ``size``."""
        return rng.multinomial(self.size, np.full(self.m, 1 / self.m), size=size)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities."""
        check_enumerable(self.count)
        picks = np.array(list(combinations_with_replacement(range(self.m), self.size)))
        often = (picks[..., None] == np.arange(self.m)).sum(axis=-2)
        orders = np.array([factorial(self.size) // prod(map(factorial, map(int, row))) for row in often])
        return often, orders / float(self.m**self.size)


@dataclass(frozen=True)
class Ordered:
    """``size`` of m clients one after another: their places 1, 2, ..., and 0 for those that are left out, ``(m,)``."""

    m: int
    size: int

    @property
    def count(self) -> int:
        """The number of orders."""
        return perm(self.m, self.size)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent orders, with leading axes ``size``."""
        places = rng.random((*size, self.m)).argsort(axis=-1) + 1
        return np.where(places <= self.size, places, 0)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All orders, and their probabilities."""
        check_enumerable(self.count)
        orders = np.array(list(permutations(range(self.m), self.size)))
        places = ((orders[..., None] == np.arange(self.m)) * np.arange(1, self.size + 1)[:, None]).sum(axis=-2)
        return places, np.full(len(places), 1 / len(places))


@dataclass(frozen=True)
class Picks:
    """As many picks of a client's rows as it has, with replacement, where a pass would be: ``(n,)``."""

    sizes: Array

    @property
    def count(self) -> int:
        """The number of sequences of picks."""
        return prod(int(size) ** int(size) for size in self.sizes)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent sequences of rows, with leading axes ``size``."""
        first = np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return first + rng.integers(np.repeat(self.sizes, self.sizes), size=(*size, len(first)))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All sequences, and their probabilities."""
        check_enumerable(self.count)
        first = np.cumsum(self.sizes) - self.sizes
        ranges = [range(a, a + m) for a, m in zip(first, self.sizes, strict=True) for _ in range(m)]
        draws = np.array(list(product(*ranges)))
        return draws, np.full(len(draws), 1 / len(draws))
