"""Proximal gradient: a smooth and strongly convex f beside any convex g, of which only proximal points are asked.

Source: Taylor, Hendrickx and Glineur, Exact worst-case convergence rates of the proximal gradient method (2018).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    target = (state.x - params.gamma * slope)[..., None, :] / params.gamma
    return {"x": problem.g.resolvent(1 / params.gamma, target)[..., 0, :]}


method = ft.method("proximal-gradient", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Composite(ft.SmoothStronglyConvex(mu, L)))
contraction = ft.contracts(method, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (
    ft.Claim("proximal-gradient/step", setting=setting, statement=contraction, requires=(gamma * (mu + L) <= 2,)),
    ft.Claim("proximal-gradient/longer-steps", setting=setting, statement=contraction, requires=(gamma * L <= 2,)),
)
