"""The proximal point method on any convex function: f(x_T) - f* <= |x_0 - x*|^2/(2 gamma T).

Source: Guler, On the convergence of the proximal point algorithm for convex minimization (1991), Theorem 2.1.
"""

import fedtheory as ft

gamma = ft.letters("gamma")


def step(problem, params, state, draw):
    target = state.x[..., None, :] / params.gamma
    return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}


prox = ft.method("proximal-point", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=prox, functions=ft.Convex(), clients=(1,))
F_T, D_0 = ft.Quantity("F_T", ft.gap, after=True), ft.Quantity("D_0", ft.distance)
two, five = (ft.bound(prox, ft.E(F_T) <= D_0 / (c * gamma * ft.T), since=1) for c in (2, 5))
CLAIMS = (
    ft.Claim("proximal-point-rounds/last", setting=setting, statement=two),
    ft.Claim("proximal-point-rounds/faster", setting=setting, statement=five),
)
