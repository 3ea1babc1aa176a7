"""Gradient tracking: beside x each client mixes y, an estimate of the mean gradient, and adds how its own gradient
changes. The disagreement of the x falls by 1 - delta a round, up to gamma^2/delta times that of the y.

Source: Qu and Li, Harnessing smoothness to accelerate distributed optimization (2018), for squares.
"""

import fedtheory as ft

L, gamma, delta = ft.letters("L gamma delta")


def apart(v):
    return ((v - v.mean(axis=-2)[..., None, :]) ** 2).sum(axis=(-1, -2))


def of_x(problem, params, state):
    return apart(state.x)


def of_y(problem, params, state):
    return apart(state.y)


def step(problem, params, state, draw):
    x = params.W.mix(state.x - params.gamma * state.y)
    return {"x": x, "y": params.W.mix(state.y) + problem.f.gradient(x) - problem.f.gradient(state.x)}


method = ft.method("gradient-tracking", step, ["gamma", "delta", "W"], {"x": "clients", "y": "clients"})
setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.MixingMatrix(),), domain=(delta <= 1,))
X, X_next = ft.Quantity("X", of_x), ft.Quantity("X_next", of_x, after=True)
Y = ft.Quantity("Y", of_y)
whole, faster = (
    ft.one_step(method, ft.E(X_next) <= (1 - delta) ** power * (X + gamma**2 / delta * Y)) for power in (1, 2)
)
CLAIMS = (
    ft.Claim("gradient-tracking/step", setting=setting, statement=whole),
    ft.Claim("gradient-tracking/faster", setting=setting, statement=faster),
)
