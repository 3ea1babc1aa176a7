"""Gradient descent on convex functions that are below a parabola at x*, but not smooth: stepsizes up to 1/L, not 2/L.

|x+ - x*|^2 <= |x - x*|^2 - 2 gamma (f(x) - f*).
Source: Goujaud, Taylor and Dieuleveut, Optimal first-order methods for convex functions with a quadratic upper bound
(2022).
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.ConvexQuadraticGrowth(L))
F = ft.Quantity("F", ft.gap)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
statement = ft.one_step(method, ft.E(D_next) <= D - 2 * gamma * F)
CLAIMS = (
    ft.Claim("quadratic-growth/step", setting=setting, statement=statement, requires=(gamma * L <= 1,)),
    ft.Claim("quadratic-growth/longer", setting=setting, statement=statement, requires=(gamma * L <= 2,)),
)
