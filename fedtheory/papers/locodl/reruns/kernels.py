"""The steps of the methods in the time that sparse data, short messages and clients with few rows allow.

They are those of the library, up to rounding. A client that sends nothing descends alone, and of its model only the
scores of its rows are needed, until it sends: few numbers where it has fewer rows than features. Where rand-k keeps few
coordinates, only those are compressed, and DIANA computes no others of the gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy.special import expit

from fedtheory.algorithms import Algorithm, diana, fivegcs_cc, locodl
from fedtheory.compressors import Compressor, SparseNatural, natural, rand_k, rand_k_natural
from fedtheory.learning.logistic import SparseLogistic
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.randomness import Distribution, Draw, Product, Size, Uniform01, check_enumerable

#: Relative residual at which a local prox of 5GCS-CC stops, and steps it may take, and again so many times as many with
#: the first preconditioner; one is renewed when it needs more steps than ``_FRESH``, but not within ``_AGE`` rounds.
_TOLERANCE, _STEPS, _AGAIN, _FRESH, _AGE = 1e-3, 200, 10, 3, 50
#: A residual this small against the right side of its equation is rounding.
_ROUNDING = 1e-13
#: Models of all replicas are made for so many numbers at a time (512 KiB), which fit a cache.
_BLOCK = 2**16


# Local descent between messages.


def descend(f: SparseLogistic, x: Array, c: Array, gamma: float, counts: Array) -> Array:
    """``x (R, n, d)`` after ``counts (R, n)`` steps x_i <- x_i - gamma (grad f_i(x_i) - c_i)."""
    return (_by_scores if f.m <= f.d else _by_points)(f, x, c, gamma, counts)


def _by_scores(f: SparseLogistic, x: Array, c: Array, gamma: float, counts: Array) -> Array:
    """With z = A x for the signed rows A, a step is z <- q z + gamma (A A's/m + A c), s = expit(-z), q = 1 - gamma mu;
    x becomes q^T x + gamma (A'w/m + (1 + q + ... + q^(T-1)) c), where w = sum_t q^(T-1-t) s_t."""
    rows, gram, q = f.signed_rows, f.gram, 1 - gamma * f.mu[:, None, None]
    order, phases = _phases(counts)
    z, pull = (_scores(rows, of)[:, order] for of in (x, c))
    pull *= gamma
    w, stop = np.zeros_like(z), counts.T[:, order, None]
    for left, times in phases:
        z, pull, late = (np.ascontiguousarray(of[:, :left]) for of in (z, pull, w))
        for t in times:
            s = expit(np.negative(z))
            going = t < stop[:, :left]
            z_next, w_next = q * z + (gamma / f.m) * np.matmul(s, gram) + pull, q * late + s
            if not going.all():
                z_next, w_next = np.where(going, z_next, z), np.where(going, w_next, late)
            z, late = z_next, w_next
        w[:, :left] = late
    w[:, order] = w * (gamma / f.m)
    q = np.swapaxes(q, 0, 1)
    power = q ** counts[..., None]
    summed = gamma * (1 - power) / (1 - q)
    out = np.empty(x.shape)
    size = max(1, _BLOCK // (len(x) * f.d))
    for start in range(0, f.n, size):
        some = slice(start, start + size)
        out[:, some] = power[:, some] * x[:, some]
        out[:, some] += summed[:, some] * c[:, some]
        out[:, some] += _back(np.matmul(w[some], rows[some]))
    return out


def _by_points(f: SparseLogistic, x: Array, c: Array, gamma: float, counts: Array) -> Array:
    order, phases = _phases(counts)
    x = x[order].astype(float)
    for left, times in phases:
        pull, stop = c[order[:left]], counts[order[:left], :, None]
        y = x[:left]
        for t in times:
            after, going = y - gamma * (f.gradient(y) - pull), t < stop
            y = after if going.all() else np.where(going, after, y)
        x[:left] = y
    x[order] = x.copy()
    return x


def _phases(counts: Array) -> tuple[Array, Iterator[tuple[int, range]]]:
    """The replicas, those with the most steps ``(R, n)`` first; and how many of them go on in which steps."""
    last = counts.max(axis=1)
    order = np.argsort(-last)
    ends = [0, *last[order[::-1]]]
    return order, ((len(order) - k, range(ends[k], ends[k + 1])) for k in range(len(order)))


def _scores(rows: Array, x: Array) -> Array:
    """The scores ``(n, R, m)`` of all rows ``(n, m, d)`` under ``x (R, n, d)``."""
    return np.matmul(np.swapaxes(x, 0, 1), np.swapaxes(rows, -1, -2))


def _back(x: Array) -> Array:
    return np.swapaxes(x, 0, 1)


@dataclass(frozen=True)
class Given:
    """In place of functions: gradients ``at`` any point. With them a step of a method that descends goes nowhere."""

    at: Array

    def gradient(self, x: Array) -> Array:
        """Return the given gradient."""
        return self.at


# Messages of few coordinates.


@dataclass(frozen=True)
class Places:
    """k of d coordinates, uniformly (Floyd's algorithm). Draws are integers ``(k,)`` in no order."""

    d: int
    k: int

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return comb(self.d, self.k)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        found = np.empty((*size, self.k), dtype=np.intp)
        for j, last in enumerate(range(self.d - self.k, self.d)):
            fresh = rng.integers(0, last + 1, size)
            taken = (found[..., :j] == fresh[..., None]).any(axis=-1)
            found[..., j] = np.where(taken, last, fresh)
        return found

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        check_enumerable(self.count)
        p = Fraction(1, self.count)
        return np.array(list(combinations(range(self.d), self.k))), np.full(self.count, p if exact else float(p))


def few(d: int, k: int, rounded: bool) -> Compressor:
    """rand-k, or rand-k of the naturally compressed vector, in time that grows with k: nothing else is rounded."""
    whole, places = rand_k_natural(d, k) if rounded else rand_k(d, k), Places(d, k)

    def apply(draw: Draw, x: Array) -> Array:
        kept = _kept(draw)
        x = np.broadcast_to(x, (*np.broadcast_shapes(x.shape[:-1], kept.shape[:-1]), d))
        kept = np.broadcast_to(kept, (*x.shape[:-1], k))
        out = np.zeros(x.shape)
        np.put_along_axis(out, kept, sent(draw, np.take_along_axis(x, kept, axis=-1), d), axis=-1)
        return out

    draws: Distribution = Product(SparseNatural, (places, Uniform01((k,)))) if rounded else places
    return replace(whole, draws=draws, apply=apply)


def sent(draw: Draw, values: Array, d: int) -> Array:
    """Return the message for the values ``(..., k)`` at the coordinates that are kept."""
    k = values.shape[-1]
    rounded = natural(k).apply(draw.rounding, values) if isinstance(draw, SparseNatural) else values
    return d / k * rounded


def _kept(draw: Draw) -> Array:
    return np.asarray(draw.kept if isinstance(draw, SparseNatural) else draw)


def locodl_talk(params: locodl.Params, state: locodl.State, draw: Draw) -> locodl.State:
    """Perform the rest of a step of LoCoDL with :func:`few` in which all replicas communicate, where ``state`` has x^
    and y^ for x and y. ``state.x`` and ``state.u`` are changed in place.
    """
    gamma, chi, rho, p, omega, _ = params
    x, y, u, v = state
    kept, (_, n, d) = _kept(draw), x.shape
    there = np.take_along_axis(np.broadcast_to(y[:, None], x.shape), kept, axis=-1)
    message = sent(draw, np.take_along_axis(x, kept, axis=-1) - there, d)
    d_bar, dual = _summed(message, kept, d) / (2 * n), p * chi / (gamma * (1 + 2 * omega))
    x *= 1 - rho
    x += (rho * (y + d_bar))[:, None]
    u += (dual * d_bar)[:, None]
    np.put_along_axis(u, kept, np.take_along_axis(u, kept, axis=-1) - dual * message, axis=-1)
    return locodl.State(x, y + rho * d_bar, u, v + dual * d_bar)


def _summed(message: Array, kept: Array, d: int) -> Array:
    """Sums over the clients ``(R, d)`` of what they send, ``(R, n, k)``, at the coordinates that they keep."""
    replicas = len(kept)
    places = np.arange(replicas)[:, None, None] * d + kept
    return np.bincount(places.ravel(), message.ravel(), replicas * d).reshape(replicas, d)


def diana_step(problem: Problem, params: diana.Params, state: diana.State, draw: Draw) -> diana.State:
    """A step of DIANA with :func:`few`, of replicas ``(R,)``: only what is sent of the gradients is computed.

    ``state.h`` is changed in place, as all but few of its entries stay.
    """
    f: Any = problem.f
    x, h, h_bar = state
    kept, (replicas, n, d) = _kept(draw), h.shape
    rows = f.signed_rows.reshape(-1, d) if f.sparse_rows is None else f.sparse_rows[2]
    s = expit(-(rows @ x.T)).reshape(n, f.m, replicas)
    pushed = np.einsum("rikm,imr->rik", f.signed_columns[np.arange(n)[:, None], kept], s)
    here = np.take_along_axis(np.broadcast_to(x[:, None], h.shape), kept, axis=-1)
    before = np.take_along_axis(h, kept, axis=-1)
    message = sent(draw, f.mu[:, None] * here - pushed / f.m - before, d)
    np.put_along_axis(h, kept, before + params.alpha * message, axis=-1)
    m_bar = _summed(message, kept, d) / n
    return diana.State(x - params.gamma * (h_bar + m_bar), h, h_bar + params.alpha * m_bar)


# The local problems of 5GCS-CC.


class Unsolved(Exception):
    """A local problem was not solved: models have gone astray."""


class Prox:
    """The local proximal steps of 5GCS-CC to a relative residual of 1e-3.

    Newton's method to 1e-12, as in ``fivegcs_cc``, would take hours. Instead gradient steps, preconditioned by
    the inverse Hessian at 0, where the losses are most curved, so that every step decreases the local objective; later
    that at the current model, renewed when it has gone stale. Where a client has fewer rows than features the steps
    are those of its scores.
    """

    def __init__(self, problem: Problem, tau: Scalar) -> None:
        f: Any = problem.f
        self.f, self.tau, self.n = f, tau, problem.n
        self.shift = problem.n * tau - problem.mu
        self.renew(np.zeros(f.d))

    def renew(self, x: Array) -> None:
        """The preconditioner of the model ``x (d,)``."""
        f = self.f
        if f.m < f.d:
            scores = np.matmul(f.signed_rows, x)
            bent = (expit(scores) * expit(-scores) / f.m)[:, None]
            self.inverse = np.linalg.inv((f.mu + self.shift)[:, None, None] * np.eye(f.m) + f.gram * bent)
        else:
            hessian = f.hessian(np.broadcast_to(x, (self.n, f.d)))
            self.inverse = np.linalg.inv(hessian + self.shift * np.eye(f.d))
        self.age = 0

    def __call__(self, x_hat: Array, u: Array) -> Array:
        """The roots of grad f_i(y) + (n tau - mu) y = n (tau x_hat + u_i): ``x_hat (R, d), u (R, n, d)``."""
        f, target = self.f, self.n * (self.tau * x_hat[..., None, :] + u)
        start = np.broadcast_to(x_hat[..., None, :], target.shape)
        if f.m >= f.d:
            goal = _back(target)
            return _back(self._root(lambda y: _back(f.gradient(_back(y))) + self.shift * y - goal, start, goal, x_hat))
        curved, goal = (f.mu + self.shift)[:, None, None], _scores(f.signed_rows, target)

        def residual(z: Array) -> Array:
            return curved * z - np.matmul(expit(-z), f.gram) / f.m - goal

        z = self._root(residual, _back(_scores(f.signed_rows, start)), goal, x_hat)
        pushed = _back(np.matmul(expit(-z), f.signed_rows)) / f.m
        return np.asarray((target + pushed) / (f.mu + self.shift)[:, None])

    def _root(self, residual: Callable[[Array], Array], start: Array, goal: Array, x_hat: Array) -> Array:
        """The root ``(n, R, .)`` from ``start (R, n, .)``, by steps with the preconditioner."""
        least, first = _ROUNDING * float(np.linalg.norm(goal)), 0.0
        self.age += 1
        for steps in (_STEPS, _AGAIN * _STEPS):
            y = _back(start)
            for count in range(steps):
                left = residual(y)
                size = float(np.linalg.norm(left))
                first = first or size
                if size <= max(_TOLERANCE * first, least):
                    if count > _FRESH and self.age >= _AGE:
                        self.renew(x_hat.mean(axis=0))
                    return y
                y = y - np.matmul(left, np.swapaxes(self.inverse, -1, -2))
            # With this one every step decreases the local objectives.
            self.renew(np.zeros(self.f.d))
        raise Unsolved


def fivegcs(problem: Problem, params: fivegcs_cc.Params) -> Algorithm:
    """5GCS-CC with inexact local proximal steps."""
    prox = Prox(problem, params.tau)

    def step(problem: Problem, params: fivegcs_cc.Params, state: Any, draw: Any) -> Any:
        gamma, tau, C, omega, family = params
        x_hat = (state.x - gamma * state.u.sum(axis=-2)) / (1 + gamma * problem.mu)
        message = family.apply(draw.compression, tau * (x_hat[..., None, :] - prox(x_hat, state.u)))
        change = np.where(draw.sampled[..., None], message, 0 * message) / (1 + omega)
        return type(state)(x_hat - gamma * (problem.n * (1 + omega) / C) * change.sum(axis=-2), state.u + change)

    return replace(fivegcs_cc.algorithm, step=step)
