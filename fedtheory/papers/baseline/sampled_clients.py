"""The cited rows of FedDCD's Table 1: what a round of mini-batch SGD and of SCAFFOLD does, of which clients are drawn.

Of MB-SGD each participant answers with a stochastic gradient of its f_i; SCAFFOLD's take two local steps with full
gradients, corrected by control variates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
tau = ft.integers("tau")
#: Local steps of SCAFFOLD.
K = 2


class Draw(NamedTuple):
    """``clients (..., n)``: who takes part; ``noise``: that of all stochastic gradients."""

    clients: Array
    noise: Array | None


def _mean(problem: object, params: Any, clients: Array, messages: Array) -> Array:
    """The mean of the participants' messages, ``(..., n, d) -> (..., d)``."""
    return np.where(clients[..., None], messages, 0 * messages).sum(axis=-2) / params.tau


def _sgd_draws(problem: Problem, params: Any, state: object) -> Any:
    return ft.Product(Draw, (ft.UniformSubset(problem.n, params.tau), params.noise.draws))


def _sgd_step(problem: Problem, params: Any, state: Any, draw: Draw) -> Any:
    answers = params.noise.apply(draw.noise, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * _mean(problem, params, draw.clients, answers)}


mb_sgd = ft.method("mb-sgd", _sgd_step, ["tau", "gamma", "sigma", "noise"], {"x": "point"}, draws=_sgd_draws)
_SGD = ft.Setting(
    algorithm=mb_sgd,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.NoisyGradients(independent=True),),
    domain=(tau <= ft.n, ft.n >= 2),
    clients=(2, 2, 3, 4),
)


def _variates(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |c_i - grad f_i(x*)|^2."""
    return ((state.c - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n


def _scaffold_draws(problem: Problem, params: Any, state: object) -> Any:
    return ft.UniformSubset(problem.n, params.tau)


def _scaffold_step(problem: Problem, params: Any, state: Any, draw: Array) -> Any:
    corrections = state.c - state.c.sum(axis=-2, keepdims=True) / problem.n
    y = state.x[..., None, :] + 0 * state.c
    for _ in range(K):
        y = y - params.gamma * (problem.f.gradient(y) - corrections)
    c = corrections + (state.x[..., None, :] - y) / (K * params.gamma)
    moved = _mean(problem, params, draw, y - state.x[..., None, :])
    return {"x": state.x + moved, "c": np.where(draw[..., None], c, state.c)}


def _scaffold_potential(problem: Problem, params: Any, state: object) -> Array:
    """|x - x*|^2 + 9 (n/tau) (K gamma)^2 (1/n) sum_i |c_i - grad f_i(x*)|^2."""
    weight = 9 * problem.n * (K * params.gamma) ** 2 / params.tau
    return ft.distance(problem, params, state) + weight * _variates(problem, params, state)


scaffold = ft.method(
    "scaffold-sampled",
    _scaffold_step,
    ["tau", "gamma"],
    {"x": "point", "c": "clients"},
    draws=_scaffold_draws,
    fixed_point=lambda problem, params: (problem.x_star, problem.y_star),
)
_SCAFFOLD = ft.Setting(
    algorithm=scaffold,
    functions=ft.SmoothStronglyConvex(mu, L),
    domain=(tau <= ft.n,),
    # With fewer clients the second hypothesis on the stepsize follows from the first.
    clients=(2, 2, 3, 9),
)
D, D_next = ft.Quantity("|x-x*|^2", ft.distance), ft.Quantity("|x_next-x*|^2", ft.distance, after=True)
_H, _G = ft.Quantity("zeta_*^2", ft.heterogeneity), ft.Quantity("f-f*", ft.gap)
CLAIMS = (
    Claim(
        id="baseline/mb-sgd/one-step",
        where="Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik 2019",
        gist="expected contraction of the squared distance, up to the variances of the gradients and of the draw",
        origin="implied",
        setting=_SGD,
        statement=ft.one_step(
            mb_sgd,
            ft.E(D_next)
            <= (1 - gamma * mu) * D + 2 * gamma**2 * (ft.n - tau) / (tau * (ft.n - 1)) * _H + gamma**2 * sigma**2 / tau,
        ),
        requires=(2 * gamma * L <= 1,),
        reading="zeta_*^2 = (1/n) sum_i |grad f_i(x*)|^2, of which (n - tau)/(n - 1) is at most twice (1 - tau/n) for "
        "n >= 2",
    ),
    Claim(
        id="baseline/mb-sgd/gap",
        where="Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtarik 2019; Stich 2019",
        gist="the same with the gap of the function values, for steps half as long",
        origin="implied",
        setting=_SGD,
        statement=ft.one_step(
            mb_sgd,
            ft.E(D_next)
            <= (1 - gamma * mu) * D
            - gamma * _G
            + 2 * gamma**2 * (ft.n - tau) / (tau * (ft.n - 1)) * _H
            + gamma**2 * sigma**2 / tau,
        ),
        requires=(4 * gamma * L <= 1,),
    ),
    Claim(
        id="baseline/scaffold-sampled/one-step",
        where="Karimireddy, Kale, Mohri, Reddi, Stich, Suresh 2020, Theorem III",
        gist="expected contraction of the squared distance and the control variates",
        origin="implied",
        setting=_SCAFFOLD,
        statement=ft.contracts(scaffold, _scaffold_potential, 1 - K * gamma * mu / 2),
        requires=(81 * K * gamma * L <= 1, 15 * K * gamma * mu * ft.n <= tau),
        reading="two local steps with full gradients, and eta_g = 1. The weight of the control variates, 9 n/tau, and "
        "the bounds of the stepsize are from memory, as the source was not at hand: what is tested is that they "
        "contract",
    ),
)
