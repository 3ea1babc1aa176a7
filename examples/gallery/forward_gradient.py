"""Gradient descent that sees the derivative along a random Gaussian direction only: the forward gradient.

Source: Nesterov and Spokoiny, Random gradient-free minimization of convex functions (2017), section 3, with the
derivative along the direction in place of a difference of values.
"""

import fedtheory as ft

L, gamma, d = ft.letters("L gamma d")


def gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def draws(problem, params, state):
    return ft.Gaussian(problem.d)


def step(problem, params, state, draw):
    slope = (gradient(problem, state.x) * draw).sum(axis=-1)
    return {"x": state.x - params.gamma * slope[..., None] * draw}


def square(problem, params, state):
    return (gradient(problem, state.x) ** 2).sum(axis=-1)


descent = ft.method("forward-gradient", step, ["gamma"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=descent, functions=ft.Smooth(L))
F, G = ft.Quantity("F", ft.gap), ft.Quantity("G", square)
CLAIMS = tuple(
    ft.Claim(
        f"forward-gradient/{name}",
        setting=setting,
        statement=ft.one_step(descent, ft.E(F.next) <= F - gamma * (1 - gamma * L * (d + more) / 2) * G),
    )
    for name, more in (("descent", 2), ("fewer-dimensions", 1))
)
