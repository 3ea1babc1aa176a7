"""Gradient descent on convex functions: f(x_T) - f* <= L |x_0 - x*|^2 / (4 T + 2) with steps 1/L, which is attained.

Source: Drori and Teboulle, Performance of first-order methods for smooth convex minimization (2014), Theorem 3.1.
`fedtheory tight gradient-descent-rate/bound --own FILE --steps 5` finds both ends, exactly, at each T.
"""

import sympy

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L), clients=(1,))
F_T, D_0 = ft.Quantity("F_T", ft.gap, after=True), ft.Quantity("D_0", ft.distance)
four, five = (ft.bound(gd, ft.E(F_T) <= L * D_0 / (c * ft.T + 2)) for c in (4, 5))
steps = (sympy.Eq(gamma * L, 1),)
CLAIMS = (
    ft.Claim("gradient-descent-rate/bound", setting=setting, statement=four, requires=steps),
    ft.Claim("gradient-descent-rate/faster", setting=setting, statement=five, requires=steps),
)
