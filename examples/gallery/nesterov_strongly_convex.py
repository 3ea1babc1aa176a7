"""Nesterov's accelerated gradient method on strongly convex functions contracts by 1 - q, q = sqrt(mu/L).

The potential is f(x) - f* + mu/2 |z - x*|^2, for a point x and a centre z.
Source: Nesterov, Introductory Lectures (2004), Section 2.2; Bansal and Gupta (2019), Section 5.
"""

import sympy

import fedtheory as ft

mu, L, q = ft.letters("mu L q")


def step(problem, params, state, draw):
    q = params.q
    y = (state.x + q * state.z) / (1 + q)
    slope = problem.f.gradient(y[..., None, :]).sum(axis=-2) / problem.n
    return {"x": y - slope / problem.L, "z": (1 - q) * state.z + q * (y - slope / problem.mu)}


def potential(problem, params, state):
    return ft.gap(problem, params, state) + problem.mu / 2 * ((state.z - problem.x_star) ** 2).sum(axis=-1)


nesterov = ft.method("nesterov", step, ["q"], {"x": "point", "z": "point"})
setting = ft.Setting(algorithm=nesterov, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
root = (sympy.Eq(mu, q**2 * L),)
one, two = (ft.contracts(nesterov, potential, (1 - q) ** c) for c in (1, 2))
CLAIMS = (
    ft.Claim("nesterov-strongly-convex/step", setting=setting, statement=one, requires=root),
    ft.Claim("nesterov-strongly-convex/faster", setting=setting, statement=two, requires=root),
)
