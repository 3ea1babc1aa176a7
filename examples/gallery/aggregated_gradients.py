"""Incremental aggregated gradients: the server adds up the clients' gradients, some of which are a round old. A step
contracts by 1 - gamma mu, up to stepsizes of 1/(2L).

Source: Gurbuzbalaban, Ozdaglar and Parrilo, On the convergence rate of incremental aggregated gradient algorithms
(2017), for delays of one round, with an average that satisfies the inequality of Polyak and Lojasiewicz.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    seen = params.delays.seen(state.x[..., None, :], state.last[..., None, :])
    return {"x": state.x - params.gamma * problem.f.gradient(seen).sum(axis=-2) / problem.n, "last": state.x}


def potential(problem, params, state):
    moved = ((state.x - state.last) ** 2).sum(axis=-1)
    return ft.gap(problem, params, state) + params.gamma * problem.L**2 * moved


iag = ft.method("aggregated-gradients", step, ["gamma", "delays"], {"x": "point", "last": "point"})
setting = ft.Setting(algorithm=iag, functions=ft.PolyakLojasiewicz(mu, L), adversaries=(ft.Delays(),))
contraction = ft.contracts(iag, potential, 1 - gamma * mu)
CLAIMS = (
    ft.Claim("aggregated-gradients/step", setting=setting, statement=contraction, requires=(2 * gamma * L <= 1,)),
    ft.Claim("aggregated-gradients/longer", setting=setting, statement=contraction, requires=(gamma * L <= 1,)),
)
