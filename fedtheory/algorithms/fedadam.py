"""FedAdam: the server takes Adam's step along the clients' average change (Reddi et al. 2021, Algorithm 2)."""

from __future__ import annotations

from fedtheory.algorithms import adaptive_server, fedavg
from fedtheory.algorithms.adaptive_server import Params, State, moved
from fedtheory.algorithms.dialect import Array, Example, Problem, method
from fedtheory.algorithms.minibatch_sgd import Round


def second(params: Params, v: Array, change: Array) -> Array:
    """The new v, ``(..., d)``, after the average change of a round."""
    return params.beta_2 * v + (1 - params.beta_2) * change**2


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """One step of FedAdam."""
    change = fedavg.mean_change(problem, params, state.x, draw)
    m = params.beta_1 * state.m + (1 - params.beta_1) * change
    v = second(params, state.v, change)
    return State(moved(params, state, m, v), m, v, state.t + 1)


algorithm = method("fedadam", step, Params, State, adaptive_server.init, fedavg.draws, adaptive_server.fixed_point)

#: The line that renews each letter of the state, in words.
LINES = adaptive_server.lines("v <- beta_2 v + (1 - beta_2) Delta^2")
#: A small problem's parameters.
EXAMPLE = Example("clients", adaptive_server.example)


#: Known mistakes of implementations.
SLIPS = adaptive_server.slips(step)
