"""Gradient descent makes the gradient itself smaller by the factor 1 - gamma mu, up to gamma = 2/(mu + L).

Source: Taylor, Hendrickx and Glineur, Exact worst-case convergence rates of the proximal gradient method (2018).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
short = (gamma * (mu + L) <= 2,)
two, three = (ft.contracts(gd, square_of_gradient, (1 - gamma * mu) ** c) for c in (2, 3))
CLAIMS = (
    ft.Claim("gradient-norm/step", setting=setting, statement=two, requires=short),
    ft.Claim("gradient-norm/faster", setting=setting, statement=three, requires=short),
)
