"""Point-SAGA: proximal steps on single functions, with a table of their gradients.

Source: Defazio, A simple practical accelerated method for finite sums (2016), Theorem 5; its stepsize solves
mu gamma (L n gamma + n - 1) = 1.
"""

import numpy as np
import sympy

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")
n = ft.n


def step(problem, params, state, draw):
    drawn = np.asarray(draw)[..., None]
    mean = state.g.sum(axis=-2, keepdims=True) / problem.n
    target = state.x[..., None, :] + params.gamma * (state.g - mean)
    points = problem.f.resolvent(1 / params.gamma, target / params.gamma)
    gradients = (target - points) / params.gamma
    x = np.where(drawn, points, 0 * points).sum(axis=-2)
    return {"x": x, "g": np.where(drawn, gradients, state.g)}


def draws(problem, params, state):
    return ft.UniformSubset(problem.n, 1)


def rest(problem, params):
    return point_saga.State(problem.x_star, problem.y_star)


def potential(problem, params, state):
    stale = ((state.g - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n
    return ft.distance(problem, params, state) + stale / (problem.mu * problem.L)


point_saga = ft.method("point-saga", step, ["gamma"], {"x": "point", "g": "clients"}, draws=draws, fixed_point=rest)
setting = ft.Setting(algorithm=point_saga, functions=ft.SmoothStronglyConvex(mu, L), clients=(1, 2, 3))
stepsize = (sympy.Eq(L, (1 / (mu * gamma) - (n - 1)) / (n * gamma)),)
rate, faster = (ft.contracts(point_saga, potential, 1 / (1 + gamma * mu) ** c) for c in (1, 2))
CLAIMS = (
    ft.Claim("point-saga/step", setting=setting, statement=rate, requires=stepsize),
    ft.Claim("point-saga/faster", setting=setting, statement=faster, requires=stepsize),
)
