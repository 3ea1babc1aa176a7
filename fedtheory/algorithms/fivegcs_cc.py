"""5GCS-CC: dual prox steps with client sampling and compression (Grudzien, Malinovsky, Richtarik 2023).

Here as RandProx (Condat, Richtarik 2022) with exact local prox: f = (1/M) sum_m f_m is written as
(mu/2)|x|^2 + sum_m F_m(x), F_m = (f_m - (mu/2)|.|^2)/M, and the dual variables u_m learn grad F_m(x*).
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, Distribution, Draw, NamedTuple, Point, Problem, Scalar, method
from fedtheory.compressors import Family
from fedtheory.problems.optimum import newton
from fedtheory.randomness import Product, UniformSubset


class Params(NamedTuple):
    """``gamma``, ``tau``: primal and dual stepsizes; ``C``: clients sampled a round; ``omega``: the variance factor
    that the method uses; ``compressors``: the family Q_1, ..., Q_M."""

    gamma: Scalar
    tau: Scalar
    C: int
    omega: Scalar
    compressors: Family


class State(NamedTuple):
    """``x (..., d)``: model; ``u (..., M, d)``: dual variables."""

    x: Point
    u: Clients


class Coins(NamedTuple):
    """``sampled (..., M)``: the clients at work; ``compression``: the randomness of all compressors."""

    sampled: Array
    compression: Draw


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Product(Coins, (UniformSubset(problem.n, params.C), params.compressors.draws))


def local_prox(problem: Problem, tau: Scalar, x_hat: Array, u: Array) -> Array:
    """argmin_y F_m(y) + (tau/2)|y - x_hat - u_m/tau|^2 for all m: ``x_hat (..., d), u (..., M, d) -> (..., M, d)``.

    The root of grad f_m(y) + (M tau - mu) y = M (tau x_hat + u_m): in closed form where f has one, exact on fractions,
    else by Newton's method. Raises ``ValueError`` when that does not converge.
    """
    f, shift = problem.f, problem.n * tau - problem.mu
    target = problem.n * (tau * x_hat[..., None, :] + u)
    if hasattr(f, "resolvent"):
        return f.resolvent(shift, target)
    tolerance = 1e-12 * np.maximum(1, np.linalg.norm(target, axis=-1))
    y, done = newton(
        lambda y: f.gradient(y) + shift * y - target,
        lambda y: f.hessian(y) + shift * np.eye(f.d),
        np.broadcast_to(x_hat[..., None, :], target.shape),
        tolerance,
    )
    if not done.all():
        raise ValueError("the local proximal steps of 5GCS-CC did not converge")
    return y


def step(problem: Problem, params: Params, state: State, draw: Coins) -> State:
    """One step of 5GCS-CC. Client m sends grad F_m(y_m) - u_m at its prox y_m."""
    gamma, tau, C, omega, compressors = params
    x_hat = (state.x - gamma * state.u.sum(axis=-2)) / (1 + gamma * problem.mu)
    # By the optimality condition of the prox.
    directions = tau * (x_hat[..., None, :] - local_prox(problem, tau, x_hat, state.u))
    message = compressors.apply(draw.compression, directions)
    change = np.where(draw.sampled[..., None], message, 0 * message) / (1 + omega)
    inflation = problem.n * (1 + omega) / C
    return State(x_hat - gamma * inflation * change.sum(axis=-2), state.u + change)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    x = problem.x_star
    return State(x, (problem.y_star - problem.mu * x[..., None, :]) / problem.n)


def theory(problem: Problem, compressors: Family, C: int | None = None) -> Params:
    """gamma tau (M + (M/C) omega) = 1, split so that both terms of the rate are about equal. C = M unless given.

    With a = (M/C) (1 + omega) and L_F = (L - mu)/M: gamma^2 = 2/(a (M + (M/C) omega) L_F mu), by which 1/(gamma mu) and
    a L_F/(2 tau) agree. Where L = mu the dual is solved in one step for every tau > 0; gamma is then 1/mu.
    """
    M, mu, omega = problem.n, problem.mu, float(compressors.omega)
    C = M if C is None else C
    load = M + M / C * omega
    L_F = (problem.L - mu) / M
    gamma = float(np.sqrt(2 * C / (M * (1 + omega) * load * L_F * mu))) if L_F > 0 else 1 / mu
    return Params(gamma, 1 / (gamma * load), C, omega, compressors)


algorithm = method("5gcs-cc", step, Params, State, draws=draws, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x^ - gamma (1 + omega')(sum of (u_m+ - u_m)), x^ = (x - gamma sum u_m)/(1 + gamma mu)",
    "u": "u_m <- u_m + Q(ubar_m - u_m)/(1 + omega) for sampled m",
}
