"""Momentum written in two ways, by the last two models and by a buffer: the models stay equal.

A step carries both states. The second claim multiplies the gradient by 1 - beta in the buffer, as some optimisers do.
Source: Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning (2013).
"""

import numpy as np

import fedtheory as ft

mu, L, gamma, beta = ft.letters("mu L gamma beta")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def paper(problem, params, x, before):
    return x - params.gamma * slope(problem, x) + params.beta * (x - before)


def buffered(problem, params, state, draw):
    b = params.beta * state.b + slope(problem, state.y)
    return {
        "x": paper(problem, params, state.x, state.before),
        "before": state.x,
        "y": state.y - params.gamma * b,
        "b": b,
    }


def dampened(problem, params, state, draw):
    b = params.beta * state.b + (1 - params.beta) * slope(problem, state.y)
    return {
        "x": paper(problem, params, state.x, state.before),
        "before": state.x,
        "y": state.y - params.gamma * b,
        "b": b,
    }


def apart(problem, params, state):
    moved = state.x - state.before + params.gamma * state.b
    return np.concatenate([(state.x - state.y)[..., None, :], moved[..., None, :]], axis=-2)


def rest(problem, params):
    return {"x": problem.x_star, "before": problem.x_star, "y": problem.x_star, "b": 0 * problem.x_star}


def stay_equal(step):
    parts = {"x": "point", "before": "point", "y": "point", "b": "point"}
    method = ft.method(step.__name__, step, ["gamma", "beta"], parts, fixed_point=rest, invariant=apart)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    return {"setting": setting, "statement": ft.Invariant(method, apart, "both models stay equal")}


CLAIMS = (
    ft.Claim("two-forms/buffer", **stay_equal(buffered)),
    ft.Claim("two-forms/dampened", **stay_equal(dampened)),
)
