"""Gradient descent with delays of at most two rounds: each client answers with its gradient at one of the last three
iterates, and which one is up to an adversary. A potential that remembers the last two steps falls by
gamma/2 |grad f|^2.

Source: Lian, Huang, Li and Liu, Asynchronous parallel stochastic gradient for nonconvex optimization (2015), without
noise.
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def square(v):
    return (v**2).sum(axis=-1)


def step(problem, params, state, draw):
    seen = params.delays.seen(state.x[..., None, :], state.last[..., None, :], state.older[..., None, :])
    slope = problem.f.gradient(seen).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope, "last": state.x, "older": state.last}


def potential(problem, params, state):
    moved = 2 * square(state.x - state.last) + square(state.last - state.older)
    return ft.gap(problem, params, state) + params.gamma * problem.L**2 * moved


def square_of_gradient(problem, params, state):
    return square(problem.f.gradient(state.x[..., None, :]).mean(axis=-2))


delayed = ft.method(
    "delayed-gradient-descent", step, ["gamma", "delays"], {"x": "point", "last": "point", "older": "point"}
)
setting = ft.Setting(algorithm=delayed, functions=ft.Smooth(L), adversaries=(ft.Delays(),))
V, G = ft.Quantity("V", potential), ft.Quantity("G", square_of_gradient)
descent = ft.one_step(delayed, ft.E(V.next) <= V - gamma / 2 * G)
CLAIMS = (
    ft.Claim(
        "delayed-gradient-descent/step",
        setting=setting,
        statement=descent,
        requires=(gamma * L + 4 * gamma**2 * L**2 <= 1,),
    ),
    ft.Claim("delayed-gradient-descent/as-without", setting=setting, statement=descent, requires=(gamma * L <= 1,)),
)
