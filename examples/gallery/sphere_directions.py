"""Gradient descent along random directions, uniform on the sphere: at the rate of gradient descent in d steps.

Source: Kozak, Becker, Doostan and Tenorio, A stochastic subspace approach to gradient-free optimization in high
dimensions (2021), with one direction.
"""

import fedtheory as ft

mu, L, gamma, d = ft.letters("mu L gamma d")


def draws(problem, params, state):
    return ft.Sphere(problem.d)


def step(problem, params, state, draw):
    gradient = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": state.x - params.gamma * (gradient * draw).sum(axis=-1)[..., None] * draw}


descent = ft.method("sphere-directions", step, ["gamma"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=descent, functions=ft.SmoothStronglyConvex(mu, L))
CLAIMS = tuple(
    ft.Claim(
        f"sphere-directions/{name}",
        setting=setting,
        statement=ft.contracts(descent, ft.distance, 1 - gamma * mu * share),
        requires=(gamma * L <= 1,),
    )
    for name, share in (("step", 1 / d), ("faster", 2 / (d + 1)))
)
