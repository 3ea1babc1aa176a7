"""Projected gradient descent over any closed convex set: (1 - gamma mu)^2 a step, up to gamma = 2/(mu + L).

Source: Polyak, Introduction to Optimization (1987), and Bubeck, Convex Optimization (2015).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": problem.project(state.x - params.gamma * slope)}


method = ft.method("projected-gradient", step, ["gamma"], {"x": "feasible"})
setting = ft.Setting(algorithm=method, functions=ft.Constrained(ft.SmoothStronglyConvex(mu, L)))
contraction = ft.contracts(method, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (
    ft.Claim("projected-gradient/step", setting=setting, statement=contraction, requires=(gamma * (mu + L) <= 2,)),
    ft.Claim("projected-gradient/longer-steps", setting=setting, statement=contraction, requires=(gamma * L <= 2,)),
)
