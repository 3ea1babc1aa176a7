"""The Lyapunov functions of LoCoDL's rivals, of (problem, params, state)."""

from __future__ import annotations

from fedtheory.algorithms import adiana, compressed_scaffnew, diana, ef21, fedcomgate, fivegcs_cc, gradskip, scaffnew
from fedtheory.numbers.rational import Array, square_root
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import bregman


def _squares(a: Array) -> Array:
    """Sum of squares over clients and coordinates, ``(..., n, d) -> (...)``."""
    return (a**2).sum(axis=(-1, -2))


def distance(problem: Problem, x: Array) -> Array:
    """|x - x*|^2 for ``x (..., d)``."""
    return ((x - problem.x_star) ** 2).sum(axis=-1)


def gap(problem: Problem, x: Array) -> Array:
    """f(x) - f(x*) for the average f of the f_i, plus g where there is one, ``x (..., d)``."""
    points, slope = x[..., None, :], problem.y_star
    values = bregman(problem.f, points, problem.x_star, slope).sum(axis=-1) / problem.n
    if problem.g is None:
        return values
    # The gradient of g at the optimum is minus that of the average.
    balance = -slope.sum(axis=-2, keepdims=True) / problem.n
    return values + bregman(problem.g, points, problem.x_star, balance)[..., 0]


def Psi_diana(problem: Problem, params: diana.Params, state: diana.State) -> Array:
    """|x - x*|^2 + (4 omega gamma^2/(n alpha)) (1/n) sum_i |h_i - grad f_i(x*)|^2."""
    weight = 4 * params.compressors.omega * params.gamma**2 / (problem.n**2 * params.alpha)
    return distance(problem, state.x) + weight * _squares(state.h - problem.y_star)


def _estimation_error(problem: Problem, state: ef21.State) -> Array:
    """G = (1/n) sum_i |g_i - grad f_i(x)|^2."""
    return _squares(state.g - problem.f.gradient(state.x[..., None, :])) / problem.n


def Psi_ef21(problem: Problem, params: ef21.Params, state: ef21.State) -> Array:
    """f(x) - f* + (gamma/theta) G with theta = 1 - sqrt(1 - alpha)."""
    weight = params.gamma * (1 / (1 - square_root(1 - params.alpha)))
    return gap(problem, state.x) + weight * _estimation_error(problem, state)


def Phi_ef21(problem: Problem, params: ef21.Params, state: ef21.State) -> Array:
    """f(x) - f* + (gamma/(2 theta)) G."""
    return (gap(problem, state.x) + Psi_ef21(problem, params, state)) / 2


def slope(problem: Problem, params: object, state: ef21.State) -> Array:
    """|grad f(x)|^2."""
    return ((problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


def Psi_adiana(problem: Problem, params: adiana.Params, state: adiana.State) -> Array:
    """|z - x*|^2 + (2 gamma beta/theta_1) (f(y) - f*) + (2 gamma beta theta_2 (1 + theta_1)/(p theta_1)) (f(w) - f*)
    + (8 gamma eta omega/(alpha theta_1 n)) (1/n) sum_i |h_i - grad f_i(w)|^2."""
    a, p, eta, theta_1, theta_2, gamma, beta, compressors = params
    weight = 2 * gamma * beta / theta_1
    control = _squares(state.h - problem.f.gradient(state.w[..., None, :])) / problem.n
    return (
        distance(problem, state.z)
        + weight * gap(problem, state.y)
        + weight * theta_2 * (1 + theta_1) / p * gap(problem, state.w)
        + 8 * gamma * eta * compressors.omega / (a * theta_1 * problem.n) * control
    )


def Psi_scaffnew(problem: Problem, params: scaffnew.Params | gradskip.Params, state: scaffnew.State) -> Array:
    """sum_i |x_i - x*|^2 + (gamma^2/p^2) sum_i |h_i - grad f_i(x*)|^2."""
    local = _squares(state.x - problem.x_star[..., None, :])
    return local + (params.gamma / params.p) ** 2 * _squares(state.h - problem.y_star)


def Psi_compressed(problem: Problem, params: compressed_scaffnew.Params, state: scaffnew.State) -> Array:
    """(1/gamma) sum_i |x_i - x*|^2 + (gamma/(p^2 eta)) ((n-1)/(s-1)) sum_i |h_i - grad f_i(x*)|^2."""
    gamma, eta, p, s = params
    weight = gamma * (problem.n - 1) / (p**2 * eta * (s - 1))
    return _squares(state.x - problem.x_star[..., None, :]) / gamma + weight * _squares(state.h - problem.y_star)


def Psi_5gcs(problem: Problem, params: fivegcs_cc.Params, state: fivegcs_cc.State) -> Array:
    """(1/gamma) |x - x*|^2 + (n/m) (1 + omega) (1/tau + 2/L_F) sum_m |u_m - u_m*|^2, L_F = (L - mu)/n."""
    smoothness = (problem.L - problem.mu) / problem.n
    weight = problem.n * (1 + params.omega) / params.C * (1 / params.tau + 2 / smoothness)
    dual = state.u - fivegcs_cc.fixed_point(problem, params).u
    return distance(problem, state.x) / params.gamma + weight * _squares(dual)


def error_fedcomgate(problem: Problem, params: fedcomgate.Params, state: fedcomgate.State) -> Array:
    """|w - w*|^2 + eta^2 sum_j |delta_j - grad f_j(w*)|^2."""
    return distance(problem, state.w) + params.eta**2 * _squares(state.delta - problem.y_star)
