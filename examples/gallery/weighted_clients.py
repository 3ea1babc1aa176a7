"""Gradient descent on a weighted mean of the clients' functions, which is as smooth as the weighted mean of the L_i.

Source: Nesterov, Lectures on convex optimization (2018), the descent lemma; McMahan and others, Communication-efficient
learning of deep networks from decentralized data (2017), for the weights.
"""

import sympy

import fedtheory as ft

mu, L, gamma, total, L_mean, L_min = ft.letters("mu L gamma w_sum L_mean L_min")


def slope(problem, params, state):
    gradients = problem.f.gradient(state.x[..., None, :])
    return (params.w[..., None] * gradients).sum(axis=-2)


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, params, state)}


def value(problem, params, state):
    return (params.w * problem.f.value(state.x[..., None, :])).sum(axis=-1)


def square(problem, params, state):
    return (slope(problem, params, state) ** 2).sum(axis=-1)


gd = ft.method("weighted-gradient-descent", step, ["gamma", "w"], {"x": "point"})
setting = ft.Setting(
    algorithm=gd,
    functions=ft.SmoothEach(mu, L),
    own=("w",),
    letters={
        total: lambda problem, params: params.w.sum(),
        L_mean: lambda problem, params: (params.w * problem.f.L).sum(),
        L_min: lambda problem, params: min(problem.f.L),
    },
)
F, G = ft.Quantity("F", value), ft.Quantity("G", square)
CLAIMS = tuple(
    ft.Claim(
        f"weighted-clients/{name}",
        setting=setting,
        statement=ft.one_step(gd, ft.E(F.next) <= F - gamma * (1 - gamma * constant / 2) * G),
        requires=(sympy.Eq(total, 1),),
    )
    for name, constant in (("descent", L_mean), ("smoothest-client", L_min))
)
