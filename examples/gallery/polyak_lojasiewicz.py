"""Gradient descent under the Polyak-Lojasiewicz condition, without convexity: f(x) - f* falls by 1 - gamma mu.

Source: Polyak (1963); Karimi, Nutini and Schmidt, Linear convergence under the Polyak-Lojasiewicz condition (2016).
"""

import sympy

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.PolyakLojasiewicz(mu, L))
one, faster = (ft.contracts(gd, ft.gap, (1 - gamma * mu) ** c) for c in (1, sympy.Rational(5, 2)))
CLAIMS = (
    ft.Claim("polyak-lojasiewicz/step", setting=setting, statement=one, requires=(gamma * L <= 1,)),
    ft.Claim("polyak-lojasiewicz/faster", setting=setting, statement=faster, requires=(gamma * L <= 1,)),
)
