"""Gradient descent, and why the average of its points is good: what one round does, and a stepsize that is too long."""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": state.x - params.gamma * gradient}


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F_next = ft.Quantity("F_next", ft.gap, after=True)
round_ = ft.one_step(gd, ft.E(D_next + 2 * gamma * F_next) <= D)
CLAIMS = (
    ft.Claim("averaging/round", setting=setting, statement=round_, requires=(gamma * L <= 1,)),
    ft.Claim("averaging/longer", setting=setting, statement=round_, requires=(gamma * L <= 2,)),
)
