"""SCAFFOLD at the optimum stays there, whatever its stepsize, once it knows the clients' gradients; FedAvg leaves it.

Source: Karimireddy and others, SCAFFOLD (2020), Section 4.
"""

import numpy as np

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")
K = 3


def locally(problem, params, state, corrections):
    y = state.x[..., None, :]
    for _ in range(K):
        y = y - params.gamma * (problem.f.gradient(y) - corrections)
    return y


def scaffold(problem, params, state, draw):
    mean = state.c.sum(axis=-2, keepdims=True) / problem.n
    y = locally(problem, params, state, state.c - mean)
    c = state.c - mean + (state.x[..., None, :] - y) / (K * params.gamma)
    return {"x": y.sum(axis=-2) / problem.n, "c": c}


def fedavg(problem, params, state, draw):
    return {"x": locally(problem, params, state, 0 * state.c).sum(axis=-2) / problem.n, "c": state.c}


def rest(problem, params):
    return problem.x_star, problem.y_star


def away(problem, params, state):
    return np.concatenate([(state.x - problem.x_star)[..., None, :], state.c - problem.y_star], axis=-2)


def model(problem, params, state):
    return state.x


def stays(step):
    parts = {"x": "point", "c": "clients"}
    method = ft.method(step.__name__, step, ["gamma"], parts, init=rest, fixed_point=rest, invariant=away)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    return {"setting": setting, "statement": ft.Stays(method, model, "the model stays at the optimum")}


CLAIMS = (
    ft.Claim("scaffold-fixed-point/scaffold", **stays(scaffold)),
    ft.Claim("scaffold-fixed-point/fedavg", **stays(fedavg)),
)
