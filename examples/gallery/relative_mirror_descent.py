"""Mirror descent with functions that are L-smooth and mu-strongly convex relative to h: D_h(x*, x) contracts by
1 - gamma mu up to gamma = 1/L, and not by the square of that, as |x - x*|^2 does.

Source: Lu, Freund and Nesterov, Relatively smooth convex optimization by first-order methods, and applications (2018).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    at = state.x[..., None, :]
    slope = problem.f.gradient(at).mean(axis=-2)
    return {"x": problem.mirror(problem.h.gradient(at)[..., 0, :] - params.gamma * slope)}


def divergence(problem, params, state):
    return problem.divergence(problem.x_star, state.x)


method = ft.method("relative-mirror-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Relative(ft.SmoothStronglyConvex(mu, L)), domain=(gamma * L <= 1,))
D = ft.Quantity("D", divergence)
linear, squared = (ft.one_step(method, ft.E(D.next) <= (1 - gamma * mu) ** power * D) for power in (1, 2))
CLAIMS = (
    ft.Claim("relative-mirror-descent/step", setting=setting, statement=linear),
    ft.Claim("relative-mirror-descent/squared", setting=setting, statement=squared),
)
