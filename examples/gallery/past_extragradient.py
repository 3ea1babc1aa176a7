"""The past extragradient method, also called optimistic: one value of a monotone and Lipschitz operator a step, the
last one in place of that at x. Up to gamma = 1/(2L), |x - x*|^2 + |x - y|^2 does not grow, with y the point before.

Source: Popov, A modification of the Arrow-Hurwicz method for search of saddle points (1980).
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def operator(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def energy(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1) + ((state.x - state.y) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    y = state.x - params.gamma * operator(problem, state.y)
    return {"x": state.x - params.gamma * operator(problem, y), "y": y}


method = ft.method("past-extragradient", step, ["gamma"], {"x": "point", "y": "point"})
setting = ft.Setting(algorithm=method, functions=ft.MonotoneLipschitz(L))
same = ft.contracts(method, energy, 1)
CLAIMS = (
    ft.Claim("past-extragradient/step", setting=setting, statement=same, requires=(2 * gamma * L <= 1,)),
    ft.Claim("past-extragradient/long-steps", setting=setting, statement=same, requires=(gamma * L <= 1,)),
)
