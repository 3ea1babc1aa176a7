"""SCAFFOLD: local steps corrected by control variates (Karimireddy et al. 2020, Algorithm 1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedavg
from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.minibatch_sgd import Round, everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import AllRows, Minibatches
from fedtheory.randomness import Distribution


class Params(NamedTuple):
    """``tau``, ``epochs``, ``eta_l``, ``eta_g``, ``batches`` as in FedAvg; ``option``: how a participant renews c_i.

    Option "I": the gradient of f_i at the server's model, on all rows. Option "II": c_i - c + (x - y_i)/(K eta_l), the
    average of the stochastic gradients of its K local steps.
    """

    tau: int
    epochs: int
    eta_l: Any
    eta_g: Any = 1
    batches: AllRows | Minibatches = AllRows()
    option: str = "II"


class State(NamedTuple):
    """``x (..., d)``: the server's model; ``c (..., d)``: its control variate; ``c_i (..., n, d)``: the clients'."""

    x: Array
    c: Array
    c_i: Array


def init(problem: Problem, params: Params, x: Array | None = None, c_i: Array | None = None) -> State:
    """Zeros unless given; c^0 = (1/n) sum_i c_i^0."""
    x = zeros(problem.d) if x is None else x
    if c_i is None:
        return State(x, zeros(problem.d), zeros(problem.n, problem.d))
    return State(x, c_i.sum(axis=-2) / problem.n, c_i)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    if params.option not in ("I", "II"):
        raise ValueError(f"SCAFFOLD has the options 'I' and 'II', got {params.option!r}")
    return fedavg.draws(problem, params, state)


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step, without randomness of its own: SCAFFOLD."""
    x, c, c_i = state
    anchor, shared = everywhere(problem, x), everywhere(problem, c)
    y = fedavg.local_descent(problem, params, x, draw, lambda y: shared - c_i)
    if params.option == "I":
        renewed = AllRows().gradient(problem, anchor, draw.rows, 0)
    else:
        renewed = c_i - shared + (anchor - y) / (fedavg.local_steps(params) * params.eta_l)
    change = np.where(draw.clients[..., None], renewed - c_i, 0 * renewed)
    return State(
        x + params.eta_g * mean_over(draw.clients, params.tau, y - anchor),
        # Changes are averaged over all clients, those that sat out with change 0, so that c stays the mean of the c_i.
        c + change.sum(axis=-2) / problem.n,
        c_i + change,
    )


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum with c_i = grad (f_i + g)(x*) and their mean c = 0; with batches it is fixed only on average."""
    x = problem.x_star
    c_i = AllRows().gradient(problem, everywhere(problem, x), zeros(0), 0)
    return State(x, c_i.sum(axis=-2) / problem.n, c_i)


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """The server's control variate is the mean of the clients': c - (1/n) sum_i c_i, ``(..., d)``."""
    return state.c - state.c_i.sum(axis=-2) / problem.n


algorithm = Algorithm("scaffold", Params, State, init, draws, step, fixed_point, invariant)
