"""PAGE: the mean of E|grad f(x_t)|^2 over T rounds is at most 2 (f(x_0) - f*)/(gamma T), from g_0 = grad f(x_0).

With probability p all clients send their gradients, else one of them sends how its gradient changed. For
gamma L (1 + sqrt((1 - p)/p)) <= 1. The potential is found: f - f* + gamma/(2p) |g - grad f|^2.
Source: Li, Bao, Zhang and Richtarik, PAGE: a simple and optimal probabilistic gradient estimator (2021), Theorem 1.
"""

from typing import Any, NamedTuple

import numpy as np
import sympy

import fedtheory as ft

L, gamma, p = ft.letters("L gamma p")


class Draw(NamedTuple):
    whole: Any
    client: Any


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def init(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "g": mean_gradient(problem, x)}


def draws(problem, params, state):
    return ft.Product(Draw, (ft.Bernoulli(params.p), ft.UniformSubset(problem.n, 1)))


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = problem.f.gradient(x[..., None, :]) - problem.f.gradient(state.x[..., None, :])
    sent = np.where(np.asarray(draw.client)[..., None], change, 0 * change).sum(axis=-2)
    return {"x": x, "g": np.where(np.asarray(draw.whole)[..., None], mean_gradient(problem, x), state.g + sent)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


page = ft.method("page", step, ["gamma", "p"], {"x": "point", "g": "point"}, init=init, draws=draws)
setting = ft.Setting(algorithm=page, functions=ft.Smooth(L), domain=(p <= 1,))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", square_of_gradient)
two, one = (ft.bound(page, ft.E(ft.average(G)) <= c * F_0 / (gamma * ft.T), since=1) for c in (2, 1))
short = (gamma * L * (1 + sympy.sqrt((1 - p) / p)) <= 1,)
CLAIMS = (
    ft.Claim("page-rounds/mean", setting=setting, statement=two, requires=short),
    ft.Claim("page-rounds/half", setting=setting, statement=one, requires=short),
)
