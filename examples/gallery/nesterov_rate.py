"""Nesterov's accelerated gradient method with momentum k/(k + 3): f(x_T) - f* <= 2 L |x_0 - x*|^2 / (T + 1)^2.

Source: Nesterov (1983); Su, Boyd and Candes, A differential equation for modeling Nesterov's accelerated gradient
method (2016). The worst case at T = 1, ..., 10 is 2 L |x_0 - x*|^2 / ((T + 2) (T + 3)), exactly:
`fedtheory tight nesterov-rate/bound --own FILE --steps 10`.
"""

import fedtheory as ft

L = ft.letters("L")
k = ft.round_index


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.y[..., None, :]).sum(axis=-2) / problem.n
    x = state.y - slope / problem.L
    return {"x": x, "y": x + params.momentum * (x - state.x)}


nesterov = ft.method("nesterov", step, [], {"x": "point", "y": "point"}, schedules={"momentum": k / (k + 3)})
setting = ft.Setting(algorithm=nesterov, functions=ft.SmoothConvex(L), clients=(1,))
F_T, D_0 = ft.Quantity("F_T", ft.gap, after=True), ft.Quantity("D_0", ft.distance)
two, one = (ft.bound(nesterov, ft.E(F_T) <= c * L * D_0 / (ft.T + 1) ** 2) for c in (2, 1))
CLAIMS = (
    ft.Claim("nesterov-rate/bound", setting=setting, statement=two),
    ft.Claim("nesterov-rate/faster", setting=setting, statement=one),
)
