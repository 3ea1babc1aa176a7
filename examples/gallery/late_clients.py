"""Clients that return late: what a client has computed arrives in a later round, if ever, and nobody knows when.

The iterate less all that is under way contracts as if there were no delays, up to how much that is: for delays of any
number of rounds, the same for all clients or not.
Source: Stich and Karimireddy, The error-feedback framework: better rates for SGD with delayed gradients and compressed
communication (2020), Lemma 7.
"""

import fedtheory as ft

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")


def step(problem, params, state, draw):
    arrived = params.delays.seen(0 * state.under_way, state.under_way)
    computed = params.gamma * params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - arrived.sum(axis=-2) / problem.n, "under_way": state.under_way - arrived + computed}


def virtual(problem, params, state):
    return ((state.x - state.under_way.sum(axis=-2) / problem.n - problem.x_star) ** 2).sum(axis=-1)


def held(problem, params, state):
    return ((state.under_way.sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


late = ft.method("late-clients", step, ["gamma", "sigma", "noise", "delays"], {"x": "point", "under_way": "clients"})
setting = ft.Setting(
    algorithm=late, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.Delays(), ft.NoisyGradients())
)
V, H = ft.Quantity("V", virtual), ft.Quantity("H", held)
three, half = (
    ft.one_step(late, ft.E(V.next) <= (1 - gamma * mu / 2) * V + c * L * gamma / 2 * H + gamma**2 * sigma**2)
    for c in (6, 1)
)
CLAIMS = (
    ft.Claim("late-clients/virtual", setting=setting, statement=three, requires=(4 * gamma * L <= 1,)),
    ft.Claim("late-clients/less-under-way", setting=setting, statement=half, requires=(4 * gamma * L <= 1,)),
)
