"""Gradient descent where f is strongly convex towards x* only: f* >= f(x) + <grad f(x), x* - x> + mu/2 |x - x*|^2.

A step contracts |x - x*|^2 by 1 - gamma mu, as if f were strongly convex. The gradients of a strongly convex f get
shorter too; here they may get longer on the way to x*.
Source: Gower, Loizou, Qian, Sailanbayev, Shulgin and Richtarik, SGD: general analysis and improved rates (2019),
Theorem 3.1 without noise.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x)}


def steepness(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.QuasiStronglyConvex(mu, L))
distance, gradient = (ft.contracts(method, of, 1 - gamma * mu) for of in (ft.distance, steepness))
CLAIMS = (
    ft.Claim("quasi-strongly-convex/step", setting=setting, statement=distance, requires=(gamma * L <= 1,)),
    ft.Claim("quasi-strongly-convex/as-if-convex", setting=setting, statement=gradient, requires=(gamma * L <= 1,)),
)
