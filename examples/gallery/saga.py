"""SAGA: a table of gradients, of which one row is renewed; convex functions with a strongly convex average.

Source: Defazio, Bach and Lacoste-Julien, SAGA (2014); constants of Gorbunov, Hanzely and Richtarik (2020).
"""

import numpy as np
import sympy

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :])
    drawn = np.asarray(draw)[..., None]
    change = np.where(drawn, gradient - state.g, 0 * gradient).sum(axis=-2)
    x = state.x - params.gamma * (change + state.g.sum(axis=-2) / problem.n)
    return {"x": x, "g": np.where(drawn, gradient, state.g)}


def draws(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def rest(problem, params):
    return saga.State(problem.x_star, problem.y_star)


def potential(problem, params, state):
    stale = ((state.g - problem.y_star) ** 2).sum(axis=(-1, -2))
    return ft.distance(problem, params, state) + 4 * params.gamma**2 * stale


saga = ft.method("saga", step, ["gamma"], {"x": "point", "g": "clients"}, draws=draws, fixed_point=rest)
setting = ft.Setting(algorithm=saga, functions=ft.StronglyConvexOnAverage(mu, L), clients=(2, 2, 3))
rate, faster = (ft.contracts(saga, potential, sympy.Max(1 - gamma * mu, 1 - c / (2 * ft.n))) for c in (1, 2))
short = (6 * gamma * L <= 1,)
CLAIMS = (
    ft.Claim("saga/step", setting=setting, statement=rate, requires=short),
    ft.Claim("saga/faster", setting=setting, statement=faster, requires=short),
)
