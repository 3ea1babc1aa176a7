"""FedDyn at the optimum stays there, whatever its stepsizes, once it knows the clients' gradients; FedProx leaves it.

Source: Acar and others, Federated learning based on dynamic regularization (2021).
"""

import numpy as np

import fedtheory as ft

mu, L, alpha, eta = ft.letters("mu L alpha eta")
K = 3


def locally(problem, params, state, linear):
    x = y = state.x[..., None, :]
    for _ in range(K):
        y = y - params.eta * (problem.f.gradient(y) - linear + params.alpha * (y - x))
    return y


def feddyn(problem, params, state, draw):
    change = locally(problem, params, state, state.g) - state.x[..., None, :]
    h = state.h - params.alpha * change.sum(axis=-2) / problem.n
    x = state.x + change.sum(axis=-2) / problem.n - h / params.alpha
    return {"x": x, "h": h, "g": state.g - params.alpha * change}


def fedprox(problem, params, state, draw):
    y = locally(problem, params, state, 0 * state.g)
    return {"x": y.sum(axis=-2) / problem.n, "h": state.h, "g": state.g}


def rest(problem, params):
    return problem.x_star, 0 * problem.x_star, problem.y_star


def away(problem, params, state):
    x, h = (state.x - problem.x_star)[..., None, :], state.h[..., None, :]
    return np.concatenate([x, h, state.g - problem.y_star], axis=-2)


def model(problem, params, state):
    return state.x


def stays(step):
    parts = {"x": "point", "h": "point", "g": "clients"}
    method = ft.method(step.__name__, step, ["alpha", "eta"], parts, init=rest, fixed_point=rest, invariant=away)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    return {"setting": setting, "statement": ft.Stays(method, model, "the model stays at the optimum")}


CLAIMS = (
    ft.Claim("feddyn/stays", **stays(feddyn)),
    ft.Claim("feddyn/fedprox", **stays(fedprox)),
)
