"""FedYogi: the server takes Yogi's step along the clients' average change (Reddi et al. 2021, Algorithm 2)."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import adaptive_server, fedavg
from fedtheory.algorithms.adaptive_server import Params, State, moved
from fedtheory.algorithms.dialect import Array, Example, Problem, method
from fedtheory.algorithms.minibatch_sgd import Round


def second(params: Params, v: Array, change: Array) -> Array:
    """The new v, ``(..., d)``, after the average change of a round."""
    return v - (1 - params.beta_2) * change**2 * np.sign(v - change**2)


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedYogi."""
    change = fedavg.mean_change(problem, params, state.x, draw)
    m = params.beta_1 * state.m + (1 - params.beta_1) * change
    v = second(params, state.v, change)
    return State(moved(params, state, m, v), m, v, state.t + 1)


algorithm = method("fedyogi", step, Params, State, adaptive_server.init, fedavg.draws, adaptive_server.fixed_point)

#: The line that renews each letter of the state, in words.
LINES = adaptive_server.lines("v <- v - (1 - beta_2) Delta^2 sign(v - Delta^2)")
#: A small problem's parameters.
EXAMPLE = Example("clients", adaptive_server.example)


#: Known mistakes of implementations.
SLIPS = adaptive_server.slips(step)
