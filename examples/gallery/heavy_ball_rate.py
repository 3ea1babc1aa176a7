"""Heavy ball with Polyak's parameters: beta^T (1 + (1 + sqrt(beta)) T)^2 on quadratics, but not after two steps beyond.

gamma = 4/(sqrt(L) + sqrt(mu))^2 and beta = ((sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu)))^2, here with L = 25 mu. On
quadratics the largest factor is that of the curvature L, where the two roots of a step are equal.
Source: Polyak (1964); Ghadimi, Feyzmahdavian and Johansson, Global convergence of the heavy-ball method (2015).
"""

import sympy

import fedtheory as ft

mu, L, gamma, beta = ft.letters("mu L gamma beta")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope + params.beta * (state.x - state.before), "before": state.x}


heavy_ball = ft.method("heavy-ball", step, ["gamma", "beta"], {"x": "point", "before": "point"})
quadratics, all_functions = (
    ft.Setting(algorithm=heavy_ball, functions=ft.SmoothStronglyConvex(mu, L, quadratics=only), clients=(1,))
    for only in (True, False)
)
D_T, D_0 = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("D_0", ft.distance)
root = sympy.Rational(2, 3)
rate = ft.bound(heavy_ball, ft.E(D_T) <= root ** (2 * ft.T) * (1 + (1 + root) * ft.T) ** 2 * D_0)
tuned = (sympy.Eq(L, 25 * mu), sympy.Eq(gamma, 1 / (9 * mu)), sympy.Eq(beta, root**2))
CLAIMS = (
    ft.Claim("heavy-ball-rate/quadratics", setting=quadratics, statement=rate, requires=tuned),
    ft.Claim("heavy-ball-rate/all-functions", setting=all_functions, statement=rate, requires=tuned),
)
