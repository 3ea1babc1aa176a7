"""Gradient descent on convex functions: f at the average of x_1, ..., x_T is at most |x_0 - x*|^2/(2 gamma T) above f*.

Source: Bubeck, Convex Optimization: Algorithms and Complexity (2015), Section 3.2.
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L))
F, D_0 = ft.Quantity("F", ft.gap), ft.Quantity("D_0", ft.distance)
two, six = (ft.bound(gd, ft.E(ft.at_average(F, 1, ft.T)) <= D_0 / (c * gamma * ft.T), since=1) for c in (2, 6))
CLAIMS = (
    ft.Claim("average-iterate/rounds", setting=setting, statement=two, requires=(gamma * L <= 1,)),
    ft.Claim("average-iterate/thrice-as-fast", setting=setting, statement=six, requires=(gamma * L <= 1,)),
)
