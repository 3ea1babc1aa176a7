"""Loopless SVRG: the reference point is renewed by a coin; convex functions with a strongly convex average.

Source: Kovalev, Horvath and Richtarik, Don't jump through hoops and remove those loops (2020), Theorem 5.
"""

from typing import Any, NamedTuple

import numpy as np
import sympy

import fedtheory as ft

mu, L, gamma, p = ft.letters("mu L gamma p")


class Draw(NamedTuple):
    client: Any
    renewed: Any


def step(problem, params, state, draw):
    here, there = problem.f.gradient(state.x[..., None, :]), problem.f.gradient(state.w[..., None, :])
    change = here - there
    drawn = np.where(np.asarray(draw.client)[..., None], change, 0 * change).sum(axis=-2)
    x = state.x - params.gamma * (drawn + there.sum(axis=-2) / problem.n)
    return {"x": x, "w": np.where(np.asarray(draw.renewed)[..., None], state.x, state.w)}


def draws(problem, params, state):
    return ft.Product(Draw, (ft.UniformSubset(problem.n, 1), ft.Bernoulli(params.p)))


def potential(problem, params, state):
    stale = ((problem.f.gradient(state.w[..., None, :]) - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n
    return ft.distance(problem, params, state) + 4 * params.gamma**2 / params.p * stale


svrg = ft.method("l-svrg", step, ["gamma", "p"], {"x": "point", "w": "point"}, draws=draws)
functions = ft.StronglyConvexOnAverage(mu, L)
setting = ft.Setting(algorithm=svrg, functions=functions, domain=(p <= 1,), clients=(2, 2, 3))
rate, faster = (ft.contracts(svrg, potential, sympy.Max(1 - gamma * mu, 1 - c * p / 2)) for c in (1, 2))
short = (6 * gamma * L <= 1,)
CLAIMS = (
    ft.Claim("l-svrg/step", setting=setting, statement=rate, requires=short),
    ft.Claim("l-svrg/faster", setting=setting, statement=faster, requires=short),
)
