"""LoCoDL: local training and compression. LoCoDL, Algorithm 1."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, NamedTuple, Problem, Scalar, edits, method, zeros
from fedtheory.compressors import Family
from fedtheory.randomness import Bernoulli, Distribution, Draw, Product

_NEEDS_G = "LoCoDL needs the function g: split the problem as in Section 3.1"


class Params(NamedTuple):
    """``gamma``, ``chi``, ``rho``: stepsizes; ``p``: communication probability; ``omega``: the variance factor that
    the method uses; ``compressors``: the family C_1, ..., C_n it uses."""

    gamma: Scalar
    chi: Scalar
    rho: Scalar
    p: Scalar
    omega: Scalar
    compressors: Family


class State(NamedTuple):
    """``x (..., n, d)``, ``y (..., d)``: model estimates; ``u (..., n, d)``, ``v (..., d)``: control variates."""

    x: Array
    y: Array
    u: Array
    v: Array


class Coins(NamedTuple):
    """``theta (...)``: True if this iteration communicates; ``compression``: the randomness of the n compressors."""

    theta: Array
    compression: Draw


def init(
    problem: Problem, params: Params, x: Array | None = None, y: Array | None = None, u: Array | None = None
) -> State:
    """Zeros unless given; v^0 = -(1/n) sum_i u_i^0, so that the control variates are dual feasible."""
    x = zeros(problem.n, problem.d) if x is None else x
    y = zeros(problem.d) if y is None else y
    if u is None:
        return State(x, y, zeros(problem.n, problem.d), zeros(problem.d))
    return State(x, y, u, -u.sum(axis=-2) / problem.n)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Product(Coins, (Bernoulli(params.p), params.compressors.draws))


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step of LoCoDL."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    gamma, chi, rho, p, omega, compressors = params
    x_hat = state.x - gamma * (problem.f.gradient(state.x) - state.u)
    y_hat = state.y - gamma * (problem.g.gradient(state.y[..., None, :])[..., 0, :] - state.v)
    d = compressors.apply(draw.compression, x_hat - y_hat[..., None, :])
    d_bar = d.sum(axis=-2) / (2 * problem.n)
    dual_step = p * chi / (gamma * (1 + 2 * omega))
    anchor = (y_hat + d_bar)[..., None, :]
    talk = draw.theta[..., None]
    return State(
        x=np.where(talk[..., None], (1 - rho) * x_hat + rho * anchor, x_hat),
        y=np.where(talk, y_hat + rho * d_bar, y_hat),
        u=np.where(talk[..., None], state.u + dual_step * (d_bar[..., None, :] - d), state.u),
        v=np.where(talk, state.v + dual_step * d_bar, state.v),
    )


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    x = problem.x_star
    u = problem.y_star
    everywhere = x[..., None, :] + 0 * u
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    return State(everywhere, x, u, problem.g.gradient(x[..., None, :])[..., 0, :])


def invariant(problem: Problem, params: Params, state: State) -> Array:
    """Dual feasibility: (1/n) sum_i u_i + v, ``(..., d)``."""
    return state.u.sum(axis=-2) / problem.n + state.v


def theory(problem: Problem, compressors: Family, p: float | None = None) -> Params:
    """gamma = 2/(L + mu), rho and chi of eq. (6), p of eq. (8) unless given."""
    mu, L = problem.mu, problem.L
    omega, omega_av = float(compressors.omega), float(compressors.omega_av)
    best = 1 / (1 + omega_av)
    if p is None:
        p = min(1.0, float(np.sqrt((1 + omega_av) * (1 + omega) * mu / L)))
    return Params(2 / (L + mu), best, best, p, omega, compressors)


algorithm = method("locodl", step, Params, State, init, draws, fixed_point, invariant)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x_i <- (1 - rho) x_hat_i + rho (y_hat + d_bar) with probability p, else x_hat_i = x_i - gamma grad f_i(x_i) "
    "+ gamma u_i",
    "y": "y <- y_hat + rho d_bar where there is a communication, else y_hat = y - gamma grad g(y) + gamma v, d_bar = "
    "(1/(2n)) sum_i d_i",
    "u": "u_i <- u_i + (p chi/(gamma (1 + 2 omega))) (d_bar - d_i) where there is a communication, d_i = C_i(x_hat_i - "
    "y_hat)",
    "v": "v <- v + (p chi/(gamma (1 + 2 omega))) d_bar where there is a communication",
}

#: Known mistakes of implementations.
SLIPS = edits("""
u: the dual step has 1 + omega where 1 + 2 omega is meant
    (1 + 2 * omega) => (1 + omega)
u: the dual step lacks its factor p
    dual_step = p * chi => dual_step = chi
u: the dual step lacks its division by gamma
    (gamma * (1 + 2 * omega)) => (1 + 2 * omega)
u: the control variates are never updated
    dual_step = p * chi => dual_step = 0 * chi
""")
