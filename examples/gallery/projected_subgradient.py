"""The projected subgradient method over any closed convex set: the inequality of the rate M R/sqrt(T).

Source: Bubeck, Convex Optimization: Algorithms and Complexity (2015), Theorem 3.2.
"""

import sympy

import fedtheory as ft

M, gamma = ft.letters("M gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": problem.project(state.x - params.gamma * slope)}


method = ft.method("projected-subgradient", step, ["gamma"], {"x": "feasible"})
setting = ft.Setting(algorithm=method, functions=ft.Constrained(ft.ConvexLipschitz(M)))
D, D_next, F = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True), ft.Quantity("F", ft.gap)
whole, less = (
    ft.one_step(method, ft.E(D_next) <= D - 2 * gamma * F + c * gamma**2 * M**2) for c in (1, sympy.Rational(9, 10))
)
CLAIMS = (
    ft.Claim("projected-subgradient/step", setting=setting, statement=whole),
    ft.Claim("projected-subgradient/less-noise", setting=setting, statement=less),
)
