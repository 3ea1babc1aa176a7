"""Gradient-related directions: any step s with <s, grad f> at least c_1 |grad f|^2, and no longer than c_2 |grad f|,
which has no randomness; f falls by (gamma c_1 - gamma^2 c_2^2 L/2) |grad f|^2.

Source: Bertsekas, Nonlinear programming (1999).
"""

import fedtheory as ft

L, gamma, m, M = ft.letters("L gamma m M")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square(v):
    return (v**2).sum(axis=-1)


def square_of_gradient(problem, params, state):
    return square(slope(problem, state.x))


def step(problem, params, state, draw):
    g = slope(problem, state.x)
    # Of length M |g| at most, and M g itself is a direction that is allowed.
    s = params.direction.answer(
        0 * g, params.M**2 * square(g), along=((g, params.m * square(g)),), feasible=params.M * g
    )
    return {"x": state.x - params.gamma * s}


method = ft.method("gradient-related", step, ["gamma", "m", "M", "direction"], {"x": "point"})
setting = ft.Setting(
    algorithm=method, functions=ft.Smooth(L), adversaries=(ft.Adversary("direction"),), domain=(m <= M,)
)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)
half, third = (ft.one_step(method, ft.E(F_next) <= F - (gamma * m - gamma**2 * M**2 * L / c) * G) for c in (2, 3))
CLAIMS = (
    ft.Claim("gradient-related/step", setting=setting, statement=half),
    ft.Claim("gradient-related/more-descent", setting=setting, statement=third),
)
