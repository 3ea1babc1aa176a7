"""FedAvg, or local SGD: participants take local steps, the server averages their models (McMahan et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.minibatch_sgd import Round, everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import AllRows, Minibatches
from fedtheory.randomness import Distribution, Product, UniformSubset


class Params(NamedTuple):
    """``tau``: clients a round; ``epochs``: passes over its rows that a client makes in a round; ``eta_l``: local
    stepsize for f_i; ``eta_g``: server stepsize, 1 for the plain average of models; ``batches``: rows of one local
    step; ``counts (n,)``: weights of the clients in the average, such as their numbers of rows, None for equal ones;
    ``momentum``: what is kept of a client's last direction, which is 0 when its round begins. A client takes
    K = epochs * batches.per_epoch local steps."""

    tau: int
    epochs: int
    eta_l: Any
    eta_g: Any = 1
    batches: AllRows | Minibatches = AllRows()
    counts: Any = None
    momentum: Any = 0


class State(NamedTuple):
    """``x``: the server's model ``(..., d)``."""

    x: Array


def init(problem: Problem, params: Params, x: Array | None = None) -> State:
    """x^0 = 0 unless given."""
    return State(zeros(problem.d) if x is None else x)


def local_steps(params: Any) -> int:
    """K, the local steps of a round."""
    if params.epochs < 1:
        raise ValueError(f"a client makes at least one local epoch, got {params.epochs}")
    return int(params.epochs * params.batches.per_epoch)


def draws(problem: Problem, params: Any, state: Any) -> Distribution:
    """A uniformly random tau-subset of the clients, and the batches of all their local steps."""
    batches = params.batches.draws(problem.n, local_steps(params))
    return Product(Round, (UniformSubset(problem.n, params.tau), batches))


def local_descent(
    problem: Problem,
    params: Any,
    x: Array,
    draw: Round,
    correction: Callable[[Array], Array] | None = None,
    momentum: Any = 0,
) -> Array:
    """The models ``(..., n, d)`` of all clients after K steps y_i <- y_i - eta_l b_i from x.

    b_i <- momentum b_i + g_i(y_i) + correction(y), from b_i = 0.
    """
    y = everywhere(problem, x)
    buffer = 0 * y
    for k in range(local_steps(params)):
        direction = params.batches.gradient(problem, y, draw.rows, k)
        direction = direction if correction is None else direction + correction(y)
        buffer = momentum * buffer + direction if momentum else direction
        y = y - params.eta_l * buffer
    return y


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step, without randomness of its own: FedAvg."""
    y = local_descent(problem, params, state.x, draw, momentum=params.momentum)
    change = y - everywhere(problem, state.x)
    if params.counts is None:
        change = mean_over(draw.clients, params.tau, change)
    else:
        weights = np.where(draw.clients, params.counts, 0 * params.counts)[..., None]
        change = (weights * change).sum(axis=-2) / weights.sum(axis=-2)
    return State(state.x + params.eta_g * change)


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which FedAvg in general leaves: it is fixed if all clients share a minimiser, or if K = 1 and all
    clients and rows take part."""
    return State(problem.x_star)


algorithm = Algorithm("fedavg", Params, State, init, draws, step, fixed_point)
