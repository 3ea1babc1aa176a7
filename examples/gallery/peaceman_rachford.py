"""Peaceman and Rachford's splitting of a smooth and strongly convex function, f_1, and a convex one: a step contracts
by the larger of (gamma L - 1)/(gamma L + 1) and (1 - gamma mu)/(1 + gamma mu).

Source: Giselsson and Boyd, Linear convergence and metric selection for Douglas-Rachford splitting and ADMM (2017).
"""

import sympy

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def reflected(problem, params, k, x):
    return 2 * problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma)[..., k, :] - x


def step(problem, params, state, draw):
    return {"z": reflected(problem, params, 1, reflected(problem, params, 0, state.z))}


def rest(problem, params):
    return {"z": problem.x_star + params.gamma * problem.y_star[..., 0, :]}


def distance(problem, params, state):
    return ((state.z - rest(problem, params)["z"]) ** 2).sum(axis=-1)


method = ft.method("peaceman-rachford", step, ["gamma"], {"z": "point"}, fixed_point=rest)
classes = ft.Named((ft.SmoothStronglyConvex(mu, L), ft.Convex()))
setting = ft.Setting(algorithm=method, functions=classes, clients=(2,))
steep, flat = (gamma * L - 1) / (gamma * L + 1), (1 - gamma * mu) / (1 + gamma * mu)
square, fourth = (ft.contracts(method, distance, sympy.Max(steep**2, flat**2) ** power) for power in (1, 2))
CLAIMS = (
    ft.Claim("peaceman-rachford/step", setting=setting, statement=square),
    ft.Claim("peaceman-rachford/faster", setting=setting, statement=fourth),
)
