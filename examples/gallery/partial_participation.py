"""Partial participation: client i takes part with a probability p_i of its own, and its gradient is divided by p_i.

A step contracts by 1 - gamma mu, up to what the clients' gradients at x* add. What is received has a variance of
(1 - p_i)/p_i times the square of a gradient, so that the stepsize is at most 1/(L_i (1 + 2 (1 - p_i)/(n p_i))).
Source: Gower and others, SGD: general analysis and improved rates (2019), for independent sampling.
"""

import numpy as np

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :])
    received = np.where(draw[..., None], gradient / params.p[..., None], 0 * gradient)
    return {"x": state.x - params.gamma * received.sum(axis=-2) / problem.n}


def draws(problem, params, state):
    return ft.Coins(params.p)


def noise(problem, params, state):
    squares = (problem.y_star**2).sum(axis=-1)
    return ((1 - params.p) / params.p * squares).sum(axis=-1) / problem.n**2


def probabilities(problem, params):
    """each p_i is at most 1"""
    return 1 - params.p


def short(problem, params):
    """gamma L_i (1 + 2 (1 - p_i)/(n p_i)) <= 1 for each client"""
    return 1 - params.gamma * problem.f.L * (1 + 2 * (1 - params.p) / (problem.n * params.p))


def longer(problem, params):
    """gamma L_i (1 + 2 (1 - p_i)/(n p_i)) <= 2 for each client"""
    return 1 + short(problem, params)


sgd = ft.method("partial-participation", step, ["gamma", "p"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=sgd, functions=ft.SmoothEach(mu, L), own=("p",))
contraction = ft.contracts(sgd, ft.distance, 1 - gamma * mu, noise={noise: 2 * gamma**2})
CLAIMS = tuple(
    ft.Claim(
        f"partial-participation/{name}",
        setting=setting,
        statement=contraction,
        requires=(ft.each(probabilities), ft.each(condition)),
    )
    for name, condition in (("step", short), ("longer", longer))
)
