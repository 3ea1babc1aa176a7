"""Gradient descent without convexity: the descent lemma, f(x+) <= f(x) - gamma (1 - gamma L/2) |grad f(x)|^2.

Source: Nesterov, Introductory Lectures (2004), eq. (1.2.12).
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.Smooth(L))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)
half, third = (ft.one_step(gd, ft.E(F_next) <= F - gamma * (1 - gamma * L / c) * G) for c in (2, 3))
CLAIMS = (
    ft.Claim("gradient-descent-nonconvex/descent", setting=setting, statement=half),
    ft.Claim("gradient-descent-nonconvex/more-descent", setting=setting, statement=third),
)
