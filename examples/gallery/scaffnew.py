"""Scaffnew (ProxSkip for federated learning): local steps with control variates, averaged by a coin.

Source: Mishchenko, Malinovsky, Stich and Richtarik, ProxSkip: yes! Local gradient steps provably lead to communication
acceleration (2022), Theorem 3.6.
"""

import numpy as np
import sympy

import fedtheory as ft

mu, L, gamma, p = ft.letters("mu L gamma p")


def step(problem, params, state, draw):
    local = state.x - params.gamma * (problem.f.gradient(state.x) - state.h)
    mean = local.sum(axis=-2, keepdims=True) / problem.n
    together = np.asarray(draw)[..., None, None]
    corrected = state.h + params.p / params.gamma * (mean - local)
    return {"x": np.where(together, mean + 0 * local, local), "h": np.where(together, corrected, state.h)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


def rest(problem, params):
    return scaffnew.State(problem.x_star[..., None, :] + 0 * problem.y_star, problem.y_star)


def balance(problem, params, state):
    return state.h.sum(axis=-2)


def potential(problem, params, state):
    points = ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2))
    variates = ((state.h - problem.y_star) ** 2).sum(axis=(-1, -2))
    return points + params.gamma**2 / params.p**2 * variates


parts = {"x": "clients", "h": "clients"}
scaffnew = ft.method("scaffnew", step, ["gamma", "p"], parts, draws=draws, fixed_point=rest, invariant=balance)
setting = ft.Setting(algorithm=scaffnew, functions=ft.SmoothStronglyConvex(mu, L), domain=(p <= 1,))
rate, faster = (ft.contracts(scaffnew, potential, sympy.Max(1 - gamma * mu, 1 - p**c)) for c in (2, 1))
CLAIMS = (
    ft.Claim("scaffnew/step", setting=setting, statement=rate, requires=(gamma * L <= 1,)),
    ft.Claim("scaffnew/faster", setting=setting, statement=faster, requires=(gamma * L <= 1,)),
)
