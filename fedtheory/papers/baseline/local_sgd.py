"""FedAvg with all clients (local SGD): what one local step does to the mean of the clients' points and to their spread.

Between two communications each client takes steps along stochastic gradients of its own f_i. Both claims are of any
points of the clients, so that they hold at each local step of a round.
"""

from __future__ import annotations

from typing import Any

import fedtheory as ft
from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

mu, L, gamma, sigma, K = ft.letters("mu L gamma sigma K")


def _step(problem: Problem, params: Any, state: Any, draw: Array) -> Any:
    answers = params.noise.apply(draw, problem.f.gradient(state.y))
    return {"y": state.y - params.gamma * answers}


def _mean(problem: Problem, y: Array) -> Array:
    """The mean of the clients' points."""
    return y.sum(axis=-2) / problem.n


def distance(problem: Problem, params: object, state: Any) -> Array:
    """|(mean of the y_i) - x*|^2."""
    return ((_mean(problem, state.y) - problem.x_star) ** 2).sum(axis=-1)


def gap(problem: Problem, params: object, state: Any) -> Array:
    """f - f* at the mean of the y_i."""
    mean = _mean(problem, state.y)
    here, there = (problem.f.value(x[..., None, :]).sum(axis=-1) / problem.n for x in (mean, problem.x_star))
    return here - there


def spread(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |y_i - mean|^2."""
    apart = state.y - _mean(problem, state.y)[..., None, :]
    return (apart**2).sum(axis=(-1, -2)) / problem.n


def slopes(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |grad f_i(y_i)|^2."""
    return (problem.f.gradient(state.y) ** 2).sum(axis=(-1, -2)) / problem.n


local_step = ft.method(
    "local-sgd, one local step",
    _step,
    ["gamma", "sigma", "noise", "K"],
    {"y": "clients"},
)
_SETTING = ft.Setting(
    algorithm=local_step,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.NoisyGradients(independent=True),),
    clients=(1, 2, 2, 3),
)
_rest = ft.method("points of clients, at rest", lambda problem, params, state, draw: state, [], {"y": "clients"})
_POINTS = ft.Setting(algorithm=_rest, functions=ft.SmoothStronglyConvex(mu, L), clients=(1, 2, 2, 3))
_D, _D_next = ft.Quantity("|y-x*|^2", distance), ft.Quantity("|y_next-x*|^2", distance, after=True)
_V, _V_next = ft.Quantity("V", spread), ft.Quantity("V_next", spread, after=True)
_G, _H = ft.Quantity("f(y)-f*", gap), ft.Quantity("zeta_*^2", ft.heterogeneity)
_S = ft.Quantity("S", slopes)
_SOURCE = "Karimireddy and others 2020; Koloskova, Loizou, Boreiri, Jaggi, Stich 2020"

CLAIMS = (
    Claim(
        id="baseline/fedavg/local-step",
        where=_SOURCE,
        gist="the mean of the clients' points comes nearer to x*, up to their spread and the noise",
        origin="implied",
        setting=_SETTING,
        statement=ft.one_step(
            local_step,
            ft.E(_D_next) <= (1 - gamma * mu) * _D - gamma * _G + 2 * gamma * L * _V + gamma**2 * sigma**2 / ft.n,
        ),
        requires=(4 * gamma * L <= 1,),
    ),
    Claim(
        id="baseline/fedavg/drift",
        where=_SOURCE,
        gist="how the clients' points come apart in one local step",
        origin="implied",
        setting=_SETTING,
        statement=ft.one_step(
            local_step,
            ft.E(_V_next) <= (1 + 1 / K) * _V + (K + 1) * gamma**2 * _S + gamma**2 * sigma**2,
        ),
    ),
    Claim(
        id="baseline/fedavg/gradients",
        where=_SOURCE,
        gist="the clients' gradients by the spread of their points, the gap of their mean and the heterogeneity",
        origin="implied",
        setting=_POINTS,
        statement=ft.inequality(_S <= 3 * L**2 * _V + 6 * L * _G + 3 * _H),
    ),
)
