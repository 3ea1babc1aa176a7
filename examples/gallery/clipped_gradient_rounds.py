"""Clipped gradient descent without convexity: x+ = x - eta min(1, c/|g|) g with g = grad f(x) and eta <= 1/L. The mean
of min(|g|^2, c |g|) over T rounds is at most 2 (f(x_0) - f*)/(eta T).

Source: the deterministic case of Koloskova, Hendrikx and Stich, Revisiting gradient clipping (2023).
"""

import numpy as np

import fedtheory as ft

L, eta, c = ft.letters("L eta c")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def step(problem, params, state, draw):
    g = slope(problem, state.x)
    norm = np.linalg.norm(g, axis=-1, keepdims=True)
    return {"x": state.x - params.eta * params.c / np.maximum(params.c, norm) * g}


def measure(problem, params, state):
    """min(|grad f(x)|^2, c |grad f(x)|)"""
    square = (slope(problem, state.x) ** 2).sum(axis=-1)
    return np.minimum(square, params.c * np.sqrt(square))


clipped = ft.method("clipped-gradient-descent", step, ["eta", "c"], {"x": "point"})
setting = ft.Setting(algorithm=clipped, functions=ft.Smooth(L))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", measure)
two, one = (ft.bound(clipped, ft.E(ft.average(G)) <= k * F_0 / (eta * ft.T), since=1) for k in (2, 1))
CLAIMS = (
    ft.Claim("clipped-gradient/rounds", setting=setting, statement=two, requires=(eta <= 1 / L,)),
    ft.Claim("clipped-gradient/half", setting=setting, statement=one, requires=(eta <= 1 / L,)),
)
