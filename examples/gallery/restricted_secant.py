"""Gradient descent where f need be neither convex nor smooth: its gradients point to x* by so much, and are so long.

With gamma = mu/L^2 a step contracts |x - x*|^2 by 1 - mu^2/L^2, and no other method of first order is faster.
Source: Guille-Escuret, Ibrahim, Goujaud and Mitliagkas, Gradient descent is optimal under lower restricted secant
inequality and upper error bound (2022).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.RestrictedSecant(mu, L))
rate, convex = (ft.contracts(method, ft.distance, f) for f in (1 - 2 * gamma * mu + (gamma * L) ** 2, 1 - gamma * mu))
CLAIMS = (
    ft.Claim("restricted-secant/step", setting=setting, statement=rate),
    ft.Claim("restricted-secant/as-if-convex", setting=setting, statement=convex, requires=(gamma * L <= 1,)),
)
