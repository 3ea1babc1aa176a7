"""Normalized gradient descent without convexity, x+ = x - gamma g/|g| with g = grad f(x): the mean of |g| over T rounds
is at most (f(x_0) - f*)/(gamma T) + gamma L/2.

Source: the deterministic case of Cutkosky and Mehta, Momentum improves normalized SGD (2020).
"""

import numpy as np

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def step(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * g / np.linalg.norm(g, axis=-1, keepdims=True)}


def length(problem, params, state):
    """|grad f(x)|"""
    return np.linalg.norm(slope(problem, state.x), axis=-1)


normalized = ft.method("normalized-gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=normalized, functions=ft.Smooth(L))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", length)
printed, less = (
    ft.bound(normalized, ft.E(ft.average(G)) <= F_0 / (gamma * ft.T) + gamma * L / c, since=1) for c in (2, 3)
)
CLAIMS = (
    ft.Claim("normalized-gradient/rounds", setting=setting, statement=printed),
    ft.Claim("normalized-gradient/less", setting=setting, statement=less),
)
