"""Zeroth-order descent: two values of a smooth function, at points apart by r along a random Gaussian direction.

Source: Nesterov and Spokoiny, Random gradient-free minimization of convex functions (2017), section 3: the gradient of
f in place of that of its smoothed version.
"""

import fedtheory as ft

L, gamma, r, d = ft.letters("L gamma r d")


def value(problem, x):
    return problem.f.value(x[..., None, :]).mean(axis=-1)


def draws(problem, params, state):
    return ft.Gaussian(problem.d)


def step(problem, params, state, draw):
    slope = (value(problem, state.x + params.r * draw) - value(problem, state.x)) / params.r
    return {"x": state.x - params.gamma * slope[..., None] * draw}


def square(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]).mean(axis=-2) ** 2).sum(axis=-1)


descent = ft.method("zeroth-order", step, ["gamma", "r"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=descent, functions=ft.Smooth(L))
F, G = ft.Quantity("F", ft.gap), ft.Quantity("G", square)
progress = F - gamma * (1 - 2 * gamma * L * (d + 2)) / 2 * G
CLAIMS = tuple(
    ft.Claim(
        f"zeroth-order/{name}",
        setting=setting,
        statement=ft.one_step(
            descent, ft.E(F.next) <= progress + gamma * (1 + 2 * gamma * L) * L**2 * r**2 * moment / 8
        ),
    )
    for name, moment in (("descent", d * (d + 2) * (d + 4)), ("lower-moment", d * (d + 2)))
)
