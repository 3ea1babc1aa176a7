"""Federated dual coordinate descent: FedDCD, Algorithm 1."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, UniformSubset, method, zeros


class Params(NamedTuple):
    """``tau``: clients a round; ``Lambda (N,)``: diagonal scaling, one entry a client; ``eta``: learning rate.

    The paper leaves eta free in Algorithm 1 and names none in Theorem 4.1; its proof (Lemma B.8) takes eta = 1.
    """

    tau: int
    Lambda: Array
    eta: Scalar = 1


class State(NamedTuple):
    """``y``: local dual variables ``(..., N, d)``; ``w``: the local primal models last computed ``(..., N, d)``."""

    y: Array
    w: Array


#: The value of :func:`project` at the answers of participants, in words.
PROJECTION = (
    "proj_{C_I}(Lambda^-1 w) [(w_i - m)/Lambda_i for participants, m the mean of their w_i with weights 1/Lambda_i; "
    "0 for others]"
)


def project(Lambda: Array, mask: Array, x: Array) -> Array:
    """proj_{C_I}^Lambda(x): the nearest point to x in the Lambda-norm with sum_{i in I} y_i = 0 (Section 3.1).

    ``Lambda (N,)``, ``mask (..., N)`` the indicator of I, ``x (..., N, d)``. Blocks outside I are kept.
    """
    weight = np.where(mask, 1 / Lambda, 0 * Lambda)[..., None]
    total = np.where(mask[..., None], x, 0 * x).sum(axis=-2, keepdims=True)
    return x - weight / weight.sum(axis=-2, keepdims=True) * total


def init(problem: Problem, params: Params, y: Array | None = None) -> State:
    """y_i^0 = 0 unless feasible ``y (..., N, d)`` is given; w_i^0 = grad f_i^*(y_i^0)."""
    y = zeros(problem.n, problem.d) if y is None else y
    return State(y, problem.f.conjugate_gradient(y))


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The participating clients I_t: a uniformly random tau-subset (Assumption 3.4)."""
    if not 2 <= params.tau <= problem.n:
        raise ValueError(f"tau must be between 2 and the {problem.n} clients, got {params.tau}")
    return UniformSubset(problem.n, params.tau)


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """One step of federated dual coordinate descent."""
    w = problem.f.conjugate_gradient(state.y)
    direction = np.where(draw, 1 / params.Lambda, 0 * params.Lambda)[..., None] * w
    w_hat = project(params.Lambda, draw, direction)
    return State(state.y - params.eta * w_hat, np.where(draw[..., None], w, state.w))


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(problem.y_star, problem.f.conjugate_gradient(problem.y_star))


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """Dual feasibility: sum_i y_i, ``(..., d)``."""
    return state.y.sum(axis=-2)


def theory(problem: Problem, tau: int) -> Params:
    """The parameters of Theorem 4.1: Lambda = I/alpha, eta = 1."""
    return Params(tau, np.full(problem.n, 1 / problem.mu), 1)


algorithm = method("feddcd", step, Params, State, init, draws, fixed_point, invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "y": f"y <- y - eta {PROJECTION}, w_i = grad f_i^*(y_i)",
    "w": "w_i <- grad f_i^*(y_i) for participants",
}
