"""CHOCO-Gossip: clients mix public copies y_i of their vectors x_i, which messages of a biased compressor renew. The
disagreement of the x_i and half the squares of what y_i lag behind fall together by 1 - alpha delta^2/40 a round.

Source: Koloskova, Stich and Jaggi, Decentralized stochastic optimization and gossip algorithms with compressed
communication (2019), with another stepsize and weight, and 40 for 82.
"""

import sympy

import fedtheory as ft

L, gamma, delta, alpha = ft.letters("L gamma delta alpha")


def step(problem, params, state, draw):
    x = state.x + params.gamma * (params.W.mix(state.y) - state.y)
    return {"x": x, "y": state.y + params.compressor.apply(draw, x - state.y)}


def errors(problem, params, state):
    apart, lag = state.x - state.x.mean(axis=-2)[..., None, :], state.x - state.y
    return (apart**2).sum(axis=(-1, -2)) + (lag**2).sum(axis=(-1, -2)) / 2


method = ft.method(
    "choco-gossip", step, ["gamma", "alpha", "delta", "compressor", "W"], {"x": "clients", "y": "clients"}
)
setting = ft.Setting(
    algorithm=method,
    functions=ft.Smooth(L),
    adversaries=(ft.ContractiveCompressors(), ft.MixingMatrix()),
    domain=(delta <= 1, alpha <= 1),
    drawing=ft.Drawing(start=("x", "y")),
)
E_0, E_T = ft.Quantity("E_0", errors), ft.Quantity("E_T", errors, after=True)
true, false = (ft.bound(method, ft.E(E_T) <= (1 - alpha * delta**2 / c) ** ft.T * E_0) for c in (40, 4))
stepsize = sympy.Eq(gamma, alpha * delta / 20)
CLAIMS = (
    ft.Claim("choco-gossip/rounds", setting=setting, statement=true, requires=(stepsize,)),
    ft.Claim("choco-gossip/faster", setting=setting, statement=false, requires=(stepsize,)),
)
