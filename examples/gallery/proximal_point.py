"""The proximal point method on convex functions, smooth or not: the potential behind f(x_T) - f* <= R^2/(2 gamma T).

Source: Guler, On the convergence of the proximal point algorithm for convex minimization (1991).
"""

import fedtheory as ft

gamma, t = ft.letters("gamma t")


def step(problem, params, state, draw):
    target = state.x[..., None, :] / params.gamma
    return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}


prox = ft.method("proximal-point", step, ["gamma", "t"], {"x": "point"})
setting = ft.Setting(algorithm=prox, functions=ft.Convex(), clients=(1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
one, two = (
    ft.one_step(prox, ft.E(2 * gamma * (t + more) * F_next + D_next) <= 2 * gamma * t * F + D) for more in (1, 2)
)
CLAIMS = (
    ft.Claim("proximal-point/potential", setting=setting, statement=one),
    ft.Claim("proximal-point/faster", setting=setting, statement=two),
)
