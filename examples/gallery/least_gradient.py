"""Gradient descent without convexity: the exact bound of the least |grad f(x_k)|^2, k = 0, ..., T, for gamma <= 1/L.

Source: Abbaszadehpeivasti, de Klerk and Zamani, The exact worst-case convergence rate of the gradient method with fixed
step lengths for L-smooth functions (2022).
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")
T = ft.T


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.Smooth(L), clients=(1,))
F, G = ft.Quantity("F", ft.gap), ft.Quantity("G", square_of_gradient)
least = ft.minimum(G, 0, T, expected=True)
four, two = (ft.bound(gd, least <= c * F.zero / (T * gamma * (4 - gamma * L) + 2 / L)) for c in (4, 2))
CLAIMS = (
    ft.Claim("least-gradient/exact", setting=setting, statement=four, requires=(gamma * L <= 1,)),
    ft.Claim("least-gradient/half", setting=setting, statement=two, requires=(gamma * L <= 1,)),
)
