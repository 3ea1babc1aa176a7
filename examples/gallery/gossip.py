"""Gossip: clients take weighted means of their neighbours' vectors, by a symmetric and doubly stochastic W with the
spectral gap delta. Their disagreement falls by (1 - delta)^2 a round, on every graph.

Source: Xiao and Boyd, Fast linear iterations for distributed averaging (2004).
"""

import fedtheory as ft

L, delta = ft.letters("L delta")


def step(problem, params, state, draw):
    return {"x": params.W.mix(state.x)}


def disagreement(problem, params, state):
    return ((state.x - state.x.mean(axis=-2)[..., None, :]) ** 2).sum(axis=(-1, -2))


method = ft.method("gossip", step, ["delta", "W"], {"x": "clients"})
setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.MixingMatrix(),))
square, cube = (ft.contracts(method, disagreement, (1 - delta) ** power) for power in (2, 3))
CLAIMS = (
    ft.Claim("gossip/step", setting=setting, statement=square),
    ft.Claim("gossip/faster", setting=setting, statement=cube),
)
