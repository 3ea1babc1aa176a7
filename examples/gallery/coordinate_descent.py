"""Random coordinate descent: each coordinate is renewed with the probability p, by a coin of its own.

Source: Richtarik and Takac, Parallel coordinate descent methods for big data optimization (2016), for the stepsize of
the whole gradient.
"""

import numpy as np

import fedtheory as ft

mu, L, gamma, p = ft.letters("mu L gamma p")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * np.where(np.asarray(draw), slope, 0 * slope)}


def draws(problem, params, state):
    return ft.Independent(ft.Bernoulli(params.p), problem.d)


method = ft.method("coordinate-descent", step, ["gamma", "p"], {"x": "point"}, draws=draws)
hints = ft.Hints(coordinates=True)
setting = ft.Setting(
    algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,), domain=(p <= 1,), hints=hints
)
one, faster = (ft.contracts(method, ft.distance, 1 - c * p * gamma * mu) for c in (1, 3))
CLAIMS = (
    ft.Claim("coordinate-descent/step", setting=setting, statement=one, requires=(gamma * L <= 1,)),
    ft.Claim("coordinate-descent/faster", setting=setting, statement=faster, requires=(gamma * L <= 1,)),
)
