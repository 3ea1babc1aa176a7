"""MARINA: compressed differences of gradients, and now and then the whole gradient; no function is convex.

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


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.g
    change = problem.f.gradient(x[..., None, :]) - problem.f.gradient(state.x[..., None, :])
    corrected = state.g + params.compressors.apply(draw.sent, change).sum(axis=-2) / problem.n
    return {"x": x, "g": np.where(np.asarray(draw.whole)[..., None], mean_gradient(problem, x), corrected)}


def draws(problem, params, state):
    return ft.Product(Draw, (ft.Bernoulli(params.p), params.compressors.draws))


def error(problem, params, state):
    return ((state.g - mean_gradient(problem, state.x)) ** 2).sum(axis=-1)


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


marina = ft.method("marina", step, ["gamma", "p", "compressors"], {"x": "point", "g": "point"}, draws=draws)
independent = ft.UnbiasedCompressors(independent=True)
setting = ft.Setting(algorithm=marina, functions=ft.Smooth(L), adversaries=(independent,), domain=(p <= 1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
R, R_next = ft.Quantity("R", error), ft.Quantity("R_next", error, after=True)
G = ft.Quantity("G", square_of_gradient)
w = gamma / (2 * p)
half, whole = (ft.one_step(marina, ft.E(F_next + w * R_next) <= F + w * R - c * gamma / 2 * G) for c in (1, 2))
short = (gamma * L + gamma**2 * L**2 * (1 - p) * ft.omega / (p * ft.n) <= 1,)
CLAIMS = (
    ft.Claim("marina/step", setting=setting, statement=half, requires=short),
    ft.Claim("marina/more-descent", setting=setting, statement=whole, requires=short),
)
