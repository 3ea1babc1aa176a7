"""What goes wrong where local models are averaged: FedAvg, FedProx, mini-batch SGD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms import fedavg, fedprox, minibatch_sgd
from fedtheory.algorithms.minibatch_sgd import everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from verify.conformance.slips.changes import IN_PLACE, Step, Table, changed


def _chained(aliased: bool) -> Step:
    """One client after another trains the same array: each starts from where the one before it ended.

    ``aliased``: what is averaged is that array too, as often as there are participants.
    """

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        x = state.x
        start = x + 0 * draw.clients[..., :1]
        total = 0 * start
        for i in range(problem.n):
            y = everywhere(problem, start)
            for k in range(fedavg.local_steps(params)):
                slope = params.batches.gradient(problem, y, draw.rows, k)
                if isinstance(params, fedprox.Params):
                    slope = slope + params.mu * (y - everywhere(problem, x))
                y = y - params.eta_l * slope
            here = draw.clients[..., i : i + 1]
            start = np.where(here, y[..., i, :], start)
            total = total + np.where(here, y[..., i, :], 0 * start)
        mean = start if aliased else total / params.tau
        return type(state)(x + getattr(params, "eta_g", 1) * (mean - x))

    return step


def _carried(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    """FedAvg whose momentum buffer goes from one participant to the next."""
    x = state.x
    buffer = 0 * (x + 0 * draw.clients[..., :1])
    total = 0 * buffer
    for i in range(problem.n):
        y, b = everywhere(problem, x + 0 * buffer), everywhere(problem, buffer)
        for k in range(fedavg.local_steps(params)):
            b = params.momentum * b + params.batches.gradient(problem, y, draw.rows, k)
            y = y - params.eta_l * b
        here = draw.clients[..., i : i + 1]
        buffer = np.where(here, b[..., i, :], buffer)
        weight = 1 / params.tau if params.counts is None else params.counts[i]
        total = total + np.where(here, weight * (y[..., i, :] - x), 0 * buffer)
    if params.counts is not None:
        total = total / np.where(draw.clients, params.counts, 0).sum(axis=-1, keepdims=True)
    return fedavg.State(x + params.eta_g * total)


def _weighted(weights: Callable[[Problem, Any, Array], Array]) -> Step:
    """FedAvg whose average is sum_i weights_i (y_i - x) over the participants."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum)
        w = np.where(draw.clients, weights(problem, params, draw.clients), 0.0)[..., None]
        return fedavg.State(state.x + params.eta_g * (w * (y - everywhere(problem, state.x))).sum(axis=-2))

    return step


def _counts(problem: Problem, params: Any) -> Array:
    return np.ones(problem.n) if params.counts is None else np.asarray(params.counts, dtype=float)


def _by_position(problem: Problem, params: Any, clients: Array) -> Array:
    """The counts of the first clients, whoever takes part."""
    place = np.cumsum(clients, axis=-1) - 1
    own = _counts(problem, params)[np.clip(place, 0, problem.n - 1)]
    return own / np.where(clients, own, 0.0).sum(axis=-1, keepdims=True)


def _models_not_changes(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
    y = fedavg.local_descent(problem, params, state.x, draw, momentum=params.momentum)
    return fedavg.State(np.where(draw.clients[..., None], y, 0 * y).sum(axis=-2) / problem.n)


def _prox(pull: Callable[[Array, Array, Array, Any, int], Array]) -> Step:
    """FedProx with another pull: ``pull(y, before, anchor, mu, k)`` is added to the gradient in local step k."""

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        anchor = everywhere(problem, state.x)
        y, before = anchor, anchor
        for k in range(fedavg.local_steps(params)):
            slope = params.batches.gradient(problem, y, draw.rows, k) + pull(y, before, anchor, params.mu, k)
            y, before = y - params.eta_l * slope, y
        return fedprox.State(mean_over(draw.clients, params.tau, y))

    return step


def _norm(z: Array) -> Array:
    size = np.sqrt((z**2).sum(axis=-1, keepdims=True))
    return z / np.where(size > 0, size, 1)


FEDAVG: Table = (
    (IN_PLACE, "x", _chained(False)),
    (f"{IN_PLACE}; all are then the same array", "x", _chained(True)),
    ("the momentum buffer is carried from one client to the next", "x", _carried),
    (
        "the average divides by all clients instead of the participants",
        "x",
        _weighted(lambda problem, params, clients: _counts(problem, params) / _counts(problem, params).sum()),
    ),
    (
        "the participants are averaged with equal weights, without the counts",
        "x",
        _weighted(lambda problem, params, clients: np.full(problem.n, 1 / params.tau)),
    ),
    (
        "the counts of other clients are used: those of the first in the list, whoever takes part",
        "x",
        _weighted(_by_position),
    ),
    (
        "the weights are wrong: 1/counts instead of counts",
        "x",
        _weighted(
            lambda problem, params, clients: (
                1
                / _counts(problem, params)
                / np.where(clients, 1 / _counts(problem, params), 0).sum(axis=-1, keepdims=True)
            )
        ),
    ),
    (
        "the weights are wrong: the clients' numbers 1, 2, ... instead of their counts",
        "x",
        _weighted(
            lambda problem, params, clients: (
                np.arange(1, problem.n + 1)
                / np.where(clients, np.arange(1, problem.n + 1), 0).sum(axis=-1, keepdims=True)
            )
        ),
    ),
    ("models, not their changes, are divided by all clients", "x", _models_not_changes),
)

FEDPROX: Table = (
    (IN_PLACE, "x", _chained(False)),
    (f"{IN_PLACE}; all are then the same array", "x", _chained(True)),
    (
        "the proximal term is dropped, or anchored at the local model where it is always zero: this is FedAvg",
        "x",
        _prox(lambda y, before, anchor, mu, k: 0 * y),
    ),
    (
        "the proximal term is anchored at the local model of the step before",
        "x",
        _prox(lambda y, before, anchor, mu, k: mu * (y - before)),
    ),
    (
        "the proximal term is dropped on the first step in which it is not zero",
        "x",
        _prox(lambda y, before, anchor, mu, k: (mu if k > 1 else 0 * mu) * (y - anchor)),
    ),
    ("the proximal norm is not squared", "x", _prox(lambda y, before, anchor, mu, k: mu / 2 * _norm(y - anchor))),
    ("the proximal term has twice its weight", "x", _prox(lambda y, before, anchor, mu, k: 2 * mu * (y - anchor))),
    ("the proximal term has half its weight", "x", _prox(lambda y, before, anchor, mu, k: mu / 2 * (y - anchor))),
    ("the sign of the proximal term is wrong", "x", _prox(lambda y, before, anchor, mu, k: mu * (anchor - y))),
)

MINIBATCH_SGD: Table = (
    (
        "the average divides by all clients instead of the participants",
        "x",
        changed(minibatch_sgd.step, x=lambda problem, p, s, a, d: s.x + (a.x - s.x) * p.tau / problem.n),
    ),
)
