"""Gradient descent on strongly convex functions: one step contracts by (1 - gamma mu)^2 up to gamma = 2/(mu + L).

Source: Polyak, Introduction to Optimization (1987), Section 1.4; Nesterov, Introductory Lectures (2004), Th. 2.1.15.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
contraction = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (
    ft.Claim("gradient-descent/step", setting=setting, statement=contraction, requires=(gamma * (mu + L) <= 2,)),
    ft.Claim("gradient-descent/longer-steps", setting=setting, statement=contraction, requires=(gamma * L <= 2,)),
)
