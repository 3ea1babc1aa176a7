"""The clients' oracles: gradients on batches of their rows, and inexact gradients of conjugates (FedDCD, Section 5).

An :class:`Oracle` approximates grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i> for all clients at once, from an initial
guess (a warm start). It is a value, so that it can be a parameter of an algorithm, and its randomness is a value too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from fedtheory.numbers.rational import Array, apply, is_exact, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Descending, Functions
from fedtheory.randomness import Constant, Distribution, Draw, Independent, Product, Size, check_enumerable


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
    """How many batches of ``size`` a pass over m rows has, without or with a smaller last one."""
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


class Answer(NamedTuple):
    """``w (..., n, d)``: approximations of grad f_i^*(y_i); ``steps (..., n)``: local steps that each client took."""

    w: Array
    steps: Array


@dataclass(frozen=True)
class Oracle:
    """An inexact gradient oracle of f_1^*, ..., f_n^* (FedDCD, Definition 5.1).

    ``draws(f)``: the distribution of its randomness; ``answer(f, y, start, draw)``: what it returns at the dual points
    ``y (..., n, d)`` from the guesses ``start (..., n, d)``. ``contraction``: the factors ``(1,)`` or ``(n,)`` of an
    oracle that answers grad + contraction (start - grad), None if its answer depends on f in another way.
    """

    name: str
    draws: Callable[[Functions], Distribution]
    answer: Callable[[Functions, Array, Array, Draw], Answer]
    contraction: Any = None

    @property
    def delta(self) -> Any:
        """The least number with E|answer - grad f_i^*(y_i)|^2 <= delta |start_i - grad f_i^*(y_i)|^2 for all f, or None
        if it depends on f."""
        return None if self.contraction is None else (self.contraction**2).max()


def _deterministic(f: Functions) -> Distribution:
    return Constant()


def _constant(f: Functions, steps: int) -> Array:
    return np.full(f.n, steps)


def _check_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def _exact_answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
    return Answer(f.conjugate_gradient(y), _constant(f, 0))


#: The exact gradient, delta = 0; no local steps are counted.
exact = Oracle("exact", _deterministic, _exact_answer, np.zeros(1, dtype=int))


def worst_case(contraction: Any) -> Oracle:
    """grad + contraction (start - grad): Definition 5.1 with equality, delta = contraction^2; no steps are counted.

    Deterministic and linear, so that worst states can be computed; exact for a rational contraction, which is a square
    root of delta. One number in (-1, 1), or one for each client ``(n,)``: a negative one overshoots. Errors of opposite
    signs are as extreme as equal ones, and for many statements worse: projections cancel what clients have in common.
    """
    factors = np.atleast_1d(contraction)
    if not (abs(factors) < 1).all():
        raise ValueError(f"the contraction of an inexact oracle must be in (-1, 1), got {contraction}")

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        gradient = f.conjugate_gradient(y)
        scale = factors if is_exact(gradient) else to_float(factors)
        return Answer(gradient + scale[..., None] * (start - gradient), _constant(f, 0))

    name = ", ".join(str(v) for v in factors)
    return Oracle(f"worst-case({name})", _deterministic, answer, factors)


def gradient_descent(steps: int, stepsize: Array) -> Oracle:
    """``steps`` steps w <- w - stepsize (grad f_i(w) - y_i) from ``start``; each is one step.

    ``stepsize``: one number, or one for each client ``(n,)``. With 1/L_i, delta = (1 - mu_i/L_i)^(2 steps).
    """
    _check_positive(steps=steps)
    size = np.asarray(stepsize)[..., None]

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        w = start
        for _ in range(steps):
            w = w - size * (f.gradient(w) - y)
        return Answer(w, _constant(f, steps))

    return Oracle(f"gradient-descent({steps})", _deterministic, answer)


class SvrgDraw(NamedTuple):
    """``rows (n, epochs * inner, 1, 1)``: the part of each inner step; ``picks (n, epochs, 1, 1)``: iterates kept."""

    rows: Array
    picks: Array


def _independent_rows(m: int, steps: int, n: int) -> Distribution:
    """One of m rows for each step of each client, with replacement: ``(n, steps, 1, 1)``."""
    return Independent(Independent(Batches(m, 1, 1), steps), n)


def svrg(parts: Parts, epochs: int, inner: int, stepsize: object) -> Oracle:
    """SVRG on f_i - <., y_i> from ``start`` (Johnson and Zhang 2013, option II); ``parts`` must be those of f.

    Each epoch takes a full gradient at its snapshot and up to ``inner`` corrected steps on single parts; the next
    snapshot is the iterate before a uniformly random one of them. Steps are gradients of single parts: m + 2 inner an
    epoch. ``stepsize`` as in :func:`gradient_descent`.
    """
    _check_positive(epochs=epochs, inner=inner)
    size = np.asarray(stepsize)[..., None]

    def draws(f: Functions) -> Distribution:
        rows = _independent_rows(parts.m, epochs * inner, f.n)
        return Product(SvrgDraw, (rows, _independent_rows(inner, epochs, f.n)))

    def answer(f: Functions, y: Array, start: Array, draw: SvrgDraw) -> Answer:
        snapshot = start
        for epoch in range(epochs):
            full = f.gradient(snapshot) - y
            w = kept = snapshot
            for t in range(inner):
                kept = np.where(draw.picks[..., epoch, 0, :] == t, w, kept)
                row = draw.rows[..., epoch * inner + t, 0, :]
                w = w - size * (parts.batch_gradient(w, row) - parts.batch_gradient(snapshot, row) + full)
            snapshot = kept
        return Answer(snapshot, _constant(f, epochs * (parts.m + 2 * inner)))

    return Oracle(f"svrg({epochs}x{inner})", draws, answer)


def saga(parts: Parts, steps: int, stepsize: object) -> Oracle:
    """``steps`` steps of SAGA on f_i - <., y_i> from ``start``, its table of gradients filled at ``start``.

    ``parts`` must be those of f. Steps are gradients of single parts: m to fill the table and one each
    (Defazio et al. 2014). ``stepsize`` as in :func:`gradient_descent`.
    """
    _check_positive(steps=steps)
    size = np.asarray(stepsize)[..., None]

    def draws(f: Functions) -> Distribution:
        return _independent_rows(parts.m, steps, f.n)

    def answer(f: Functions, y: Array, start: Array, draw: Array) -> Answer:
        indices = np.arange(parts.m)
        w = start
        table = np.stack([parts.batch_gradient(w, np.full((f.n, 1), j)) for j in indices], axis=-2)
        for t in range(steps):
            row = draw[..., t, 0, :]
            fresh = parts.batch_gradient(w, row)
            chosen = (indices == row)[..., None]
            stale = np.where(chosen, table, 0 * table).sum(axis=-2)
            w = w - size * (fresh - stale + table.sum(axis=-2) / parts.m - y)
            table = np.where(chosen, fresh[..., None, :], table)
        return Answer(w, _constant(f, parts.m + steps))

    return Oracle(f"saga({steps})", draws, answer)


def inexact_newton(steps: int, forcing: Any = 0) -> Oracle:
    """Up to ``steps`` inexact Newton steps on f_i - <., y_i> from ``start`` (Dembo et al. 1982), without line search.

    Each solves H s = grad by conjugate gradients until |H s - grad| <= forcing |grad|; 0 asks for the exact step. A
    client whose gradient is zero takes no step. Convergence is local unless f is quadratic.
    """
    _check_positive(steps=steps)
    if not 0 <= forcing < 1:
        raise ValueError(f"the forcing term of inexact Newton must be in [0, 1), got {forcing}")

    def answer(f: Functions, y: Array, start: Array, draw: Draw) -> Answer:
        w, taken = start, np.zeros(y.shape[:-1], dtype=int)
        for _ in range(steps):
            slope = f.gradient(w) - y
            w = w - _conjugate_gradients(f.hessian(w), slope, forcing)
            taken = taken + (slope != 0).any(axis=-1)
        return Answer(w, taken)

    return Oracle(f"inexact-newton({steps}, {forcing})", _deterministic, answer)


def _conjugate_gradients(H: Array, b: Array, forcing: Any) -> Array:
    """s with |H s - b| <= forcing |b|, ``(..., d)``, from 0; at most d iterations, which solve fractions exactly."""
    s, residual, direction = 0 * b, b, b
    size = (b**2).sum(axis=-1, keepdims=True)
    goal = (forcing if is_exact(b) else float(forcing)) ** 2 * size
    for _ in range(b.shape[-1]):
        image = apply(H, direction)
        curvature = (direction * image).sum(axis=-1, keepdims=True)
        # A client that is done keeps its s; its curvature may be 0, and so may be that of a float at its last digit.
        active = (size > goal) & (curvature > 0)
        if not active.any():
            break
        length = np.where(active, size, 0 * size) / np.where(active, curvature, 1)
        s, residual = s + length * direction, residual - length * image
        shorter = (residual**2).sum(axis=-1, keepdims=True)
        direction = residual + np.where(active, shorter, 0 * size) / np.where(active, size, 1) * direction
        size = np.where(active, shorter, size)
    return s
