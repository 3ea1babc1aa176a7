"""Exact ADMM for the consensus problem, every client in every iteration (FedADMM, eq. (13))."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, NamedTuple, Point, Problem, edits, method
from fedtheory.algorithms.examples import Example, weights
from fedtheory.problems.base import stationary_point


class Params(NamedTuple):
    """``alpha (m,)``: weights of the f_i; ``sigma (m,)``: penalties."""

    alpha: Array
    sigma: Array


class State(NamedTuple):
    """``w (..., d)``: the server's model; ``W``, ``Pi (..., m, d)``: the clients' models and multipliers. Eq. (13)
    starts anywhere."""

    w: Point
    W: Clients
    Pi: Clients


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """One step of exact ADMM. Raise ``ValueError`` unless the f_i have resolvents, which choose a root if there are
    several.
    """
    f: Any = problem.f
    if not hasattr(f, "resolvent"):
        raise ValueError(f"{type(f).__name__} has no proximal points in closed form")
    alpha, sigma = params.alpha[:, None], params.sigma[:, None]
    w = (sigma * state.W + state.Pi).sum(axis=-2) / params.sigma.sum()
    anchor = w[..., None, :]
    W = f.resolvent(params.sigma / params.alpha, (sigma * anchor - state.Pi) / alpha)
    return State(w, W, state.Pi + sigma * (W - anchor))


def fixed_point(problem: Problem, params: Params) -> State:
    """The stationary point of eq. (19)."""
    w = stationary_point(problem, params.alpha)
    W = np.broadcast_to(w, (problem.n, problem.d))
    return State(w, W, -params.alpha[:, None] * problem.f.gradient(W))


algorithm = method("exact-admm", step, Params, State, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- (sum of (sigma_i w_i + pi_i))/(sum of sigma_i)",
    "W": "w_i <- argmin alpha_i f_i(v) + <pi_i, v> + (sigma_i/2)|v - w|^2, at the new w",
    "Pi": "pi_i <- pi_i + sigma_i (w_i - w), both new",
}


#: A small problem's parameters.
EXAMPLE = Example("clients", lambda given: Params(*weights(given)))

#: Known mistakes of implementations.
SLIPS = edits("""
w: the server averages the models and leaves out the multipliers
    (sigma * state.W + state.Pi).sum => (sigma * state.W).sum
Pi: the sign of the multipliers' update is swapped
    state.Pi + sigma * (W - anchor) => state.Pi - sigma * (W - anchor)
Pi: the multipliers' update lacks its factor sigma_i
    state.Pi + sigma * (W - anchor) => state.Pi + (W - anchor)
""")
