"""MARINA: the mean of E|grad f(x_t)|^2 over T rounds is at most 2 (f(x_0) - f*)/(gamma T), from g_0 = grad f(x_0) on.

No potential is given: that |g - grad f(x)|^2 belongs to it is found.
Source: Gorbunov, Burlachenko, Li and Richtarik, MARINA: faster non-convex distributed learning (2021), Theorem 2.1.
"""

from typing import Any, NamedTuple

import numpy as np

import fedtheory as ft

L, gamma, p = ft.letters("L gamma p")


class Draw(NamedTuple):
    whole: Any
    sent: Any


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def init(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "g": mean_gradient(problem, x)}


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = problem.f.gradient(x[..., None, :]) - problem.f.gradient(state.x[..., None, :])
    corrected = state.g + params.compressors.apply(draw.sent, change).sum(axis=-2) / problem.n
    return {"x": x, "g": np.where(np.asarray(draw.whole)[..., None], mean_gradient(problem, x), corrected)}


def draws(problem, params, state):
    return ft.Product(Draw, (ft.Bernoulli(params.p), params.compressors.draws))


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


parts = {"x": "point", "g": "point"}
marina = ft.method("marina", step, ["gamma", "p", "compressors"], parts, init=init, draws=draws)
independent = ft.UnbiasedCompressors(independent=True)
setting = ft.Setting(algorithm=marina, functions=ft.Smooth(L), adversaries=(independent,), domain=(p <= 1,))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", square_of_gradient)
two, half = (ft.bound(marina, ft.E(ft.average(G)) <= c * F_0 / (gamma * ft.T), since=1) for c in (2, 1))
short = (gamma * L + gamma**2 * L**2 * (1 - p) * ft.omega / (p * ft.n) <= 1,)
CLAIMS = (
    ft.Claim("marina-rounds/mean", setting=setting, statement=two, requires=short),
    ft.Claim("marina-rounds/half", setting=setting, statement=half, requires=short),
)
