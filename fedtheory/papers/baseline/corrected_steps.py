"""SCAFFOLD: what a local step with a stochastic gradient and a correction does, at any points and control variates.

A round begins at the server's x, and client i goes from there by y_i - gamma (a stochastic gradient of f_i - c_i + c),
c the mean of the c_i. The claims are of any y_i and c_i, so that they hold at each local step of each round.
"""

from __future__ import annotations

from typing import Any

import fedtheory as ft
from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

mu, L, gamma, sigma, K = ft.letters("mu L gamma sigma K")


def _correction(problem: Problem, c: Array) -> Array:
    """c_i - c."""
    return c - c.sum(axis=-2, keepdims=True) / problem.n


def _step(problem: Problem, params: Any, state: Any, draw: Array) -> Any:
    answers = params.noise.apply(draw, problem.f.gradient(state.y))
    return {"x": state.x, "y": state.y - params.gamma * (answers - _correction(problem, state.c)), "c": state.c}


def spread(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |y_i - x|^2."""
    apart = state.y - state.x[..., None, :]
    return (apart**2).sum(axis=(-1, -2)) / problem.n


def corrected(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |grad f_i(y_i) - c_i + c|^2."""
    steps = problem.f.gradient(state.y) - _correction(problem, state.c)
    return (steps**2).sum(axis=(-1, -2)) / problem.n


def variates(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i |c_i - grad f_i(x*)|^2."""
    return ((state.c - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n


def turned(problem: Problem, params: object, state: Any) -> Array:
    """(1/n) sum_i <grad f_i(y_i), x - x*>."""
    away = (state.x - problem.x_star)[..., None, :]
    return (problem.f.gradient(state.y) * away).sum(axis=(-1, -2)) / problem.n


_STATE = {"x": "point", "y": "clients", "c": "clients"}
local_step = ft.method("scaffold, one local step", _step, ["gamma", "sigma", "noise", "K"], _STATE)
_SETTING = ft.Setting(
    algorithm=local_step,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.NoisyGradients(independent=True),),
    clients=(1, 2, 2, 3),
)
_rest = ft.method("points and variates of clients, at rest", lambda problem, params, state, draw: state, [], _STATE)
_POINTS = ft.Setting(algorithm=_rest, functions=ft.SmoothStronglyConvex(mu, L), clients=(1, 2, 2, 3))
_E, _E_next = ft.Quantity("E", spread), ft.Quantity("E_next", spread, after=True)
_S, _C, _T = ft.Quantity("S", corrected), ft.Quantity("C", variates), ft.Quantity("T", turned)
_G, _D = ft.Quantity("f(x)-f*", ft.gap), ft.Quantity("|x-x*|^2", ft.distance)
_SOURCE = "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh 2020"
CLAIMS = (
    Claim(
        id="baseline/scaffold/drift",
        where=_SOURCE,
        gist="how the clients' points go away from x in one local step",
        origin="implied",
        setting=_SETTING,
        statement=ft.one_step(
            local_step,
            ft.E(_E_next) <= (1 + 1 / K) * _E + (K + 1) * gamma**2 * _S + gamma**2 * sigma**2,
        ),
    ),
    Claim(
        id="baseline/scaffold/gradients",
        where=_SOURCE,
        gist="the clients' corrected gradients by the spread of their points, the gap at x and the control variates",
        origin="implied",
        setting=_POINTS,
        statement=ft.inequality(_S <= 3 * L**2 * _E + 6 * L * _G + 3 * _C),
    ),
    Claim(
        id="baseline/scaffold/turn",
        where=_SOURCE,
        gist="how far gradients at the clients' points lead from x to x*",
        origin="implied",
        setting=_POINTS,
        statement=ft.inequality(_G + mu / 4 * _D - L * _E <= _T),
    ),
)
