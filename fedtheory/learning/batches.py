"""Gradients on batches of the clients' rows.

A source of gradients is a value, so that it can be a parameter of an algorithm, and its randomness is a value too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import ClassVar, Protocol

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Descending, Functions
from fedtheory.randomness import Constant, Distribution, Independent, Size, check_enumerable


class Parts(Protocol):
    """The parts of n finite sums f_i = (1/m) sum_j f_ij, one part for each row of a client's data."""

    @property
    def m(self) -> int:
        """Number of parts of each function."""

    def batch_gradient(self, x: Array, rows: Array) -> Array:
        """Average of grad f_ij(x_i) over the given j: ``x (..., n, d)``, ``rows (..., n, b)`` -> ``(..., n, d)``."""


@dataclass(frozen=True)
class Split:
    """Parts given as one family of n m functions, client by client.

    Every batch evaluates all parts: meant for small problems and for fractions. Raise ``ValueError`` unless m divides
    the number of functions.
    """

    parts: Functions
    m: int

    def __post_init__(self) -> None:
        if self.m < 1 or self.parts.n % self.m:
            raise ValueError(f"{self.parts.n} functions are not {self.m} parts for each of some clients")

    def batch_gradient(self, x: Array, rows: Array) -> Array:
        """Average of grad f_ij(x_i) over the given j: ``x (..., n, d)``, ``rows (..., n, b)`` -> ``(..., n, d)``."""
        slopes = self.parts.gradient(np.repeat(x, self.m, axis=-2))
        n, d = slopes.shape[-2] // self.m, slopes.shape[-1]
        slopes = slopes.reshape(*slopes.shape[:-2], n, self.m, d)
        lead = np.broadcast_shapes(slopes.shape[:-3], rows.shape[:-2])
        chosen = np.broadcast_to(rows, (*lead, *rows.shape[-2:]))[..., None]
        of_rows = np.take_along_axis(np.broadcast_to(slopes, (*lead, n, self.m, d)), chosen, axis=-2)
        return of_rows.sum(axis=-2) / rows.shape[-1]


@dataclass(frozen=True)
class Batches:
    """Row indices ``(steps, size)`` of successive batches: passes over m rows, each in a fresh random order.

    A pass is cut into m // size batches; the rows that are left over then sit that pass out, or are a smaller batch
    where ``drop_last`` is False, whose places without a row hold -1.
    """

    m: int
    size: int
    steps: int
    drop_last: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.size <= self.m:
            raise ValueError(f"a batch has between 1 and {self.m} rows, got {self.size}")
        if self.steps < 1:
            raise ValueError(f"the number of batches must be positive, got {self.steps}")

    def _passes(self) -> Iterator[int]:
        """Batches taken from each pass: all of them, but perhaps from the last."""
        each = batches_of(self.m, self.size, self.drop_last)
        for start in range(0, self.steps, each):
            yield min(each, self.steps - start)

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        total = 1
        for batches in self._passes():
            for k in range(batches):
                left = self.m - k * self.size
                total *= comb(left, min(self.size, left))
        return total

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        orders = [self._cut(np.argsort(rng.random((*size, self.m)), axis=-1), k) for k in self._passes()]
        return np.concatenate(orders, axis=-1).reshape(*size, self.steps, self.size)

    def _cut(self, order: Array, batches: int) -> Array:
        """The rows of the first batches of a pass, one after the other, with -1 for those that are lacking."""
        lacking = max(0, batches * self.size - self.m)
        rows = order[..., : batches * self.size]
        return np.concatenate([rows, np.full((*rows.shape[:-1], lacking), -1)], axis=-1) if lacking else rows

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        check_enumerable(self.count)
        passes = product(*(self._orders(k) for k in self._passes()))
        rows = np.array([[row for order in orders for row in order] for orders in passes])
        probabilities = np.full(self.count, Fraction(1, self.count), dtype=object)
        return rows.reshape(-1, self.steps, self.size), probabilities if exact else to_float(probabilities)

    def _orders(self, batches: int) -> list[tuple[int, ...]]:
        """Rows of ``batches`` disjoint batches, one after the other; within a batch the order does not matter."""
        orders: list[tuple[int, ...]] = [()]
        for _ in range(batches):
            left = min(self.size, self.m - len(orders[0]))
            orders = [
                (*order, *batch, *[-1] * (self.size - left))
                for order in orders
                for batch in combinations([row for row in range(self.m) if row not in order], left)
            ]
        return orders


def batches_of(m: int, size: int, drop_last: bool) -> int:
    """The number of batches of ``size`` in a pass over m rows, without or with a smaller last one."""
    return m // size if drop_last else -(-m // size)


@dataclass(frozen=True)
class AllRows:
    """Local gradients of the whole f_i + g, without randomness: one local step an epoch."""

    per_epoch: ClassVar[int] = 1

    def draws(self, n: int, steps: int) -> Distribution:
        """No randomness."""
        return Constant()

    def gradient(self, problem: Problem, x: Array, rows: Array, step: int) -> Array:
        """grad f_i(x_i) + grad g(x_i), in the shape of ``x (..., n, d)``; ``rows`` are not used."""
        return _with_g(problem, x, problem.f.gradient(x))

    def descend(self, problem: Problem, x: Array, eta: Scalar, steps: int) -> Array:
        """``steps`` steps x_i <- x_i - eta (grad f_i(x_i) + grad g(x_i)) from ``x (..., n, d)``."""
        if problem.g is None and isinstance(problem.f, Descending) and isinstance(eta, float):
            return problem.f.descend(x, eta, steps)
        for _ in range(steps):
            x = x - eta * _with_g(problem, x, problem.f.gradient(x))
        return x


@dataclass(frozen=True)
class Minibatches:
    """Local gradients of f_i + g on batches of ``size`` of the rows; every epoch is a pass in a fresh random order.

    ``parts`` must be those of the problem's f. ``drop_last``: whether the rows that are left over at the end of an
    epoch sit it out; otherwise they are a batch, whose gradient is the mean over these rows.
    """

    parts: Parts
    size: int
    drop_last: bool = True

    @property
    def per_epoch(self) -> int:
        """Local steps an epoch: m // size, and perhaps one of fewer rows."""
        return batches_of(self.parts.m, self.size, self.drop_last)

    def draws(self, n: int, steps: int) -> Distribution:
        """Row indices ``(n, steps, size)`` of the batches of each client, with -1 where a batch has fewer rows."""
        return Independent(Batches(self.parts.m, self.size, steps, self.drop_last), n)

    def gradient(self, problem: Problem, x: Array, rows: Array, step: int) -> Array:
        """Stochastic gradients at ``x (..., n, d)`` on the batches of local step number ``step``."""
        before = step % self.per_epoch * self.size
        chosen = rows[..., step, : min(self.size, self.parts.m - before)]
        return _with_g(problem, x, self.parts.batch_gradient(x, chosen))


def _with_g(problem: Problem, x: Array, gradient: Array) -> Array:
    return gradient if problem.g is None else gradient + problem.g.gradient(x[..., None, :])[..., 0, :]
