"""Gradient descent by any vectors as near to the gradient as a relative and an absolute error allow: no randomness.

Source: Ajalloeian and Stich, On the convergence of SGD with biased gradients (2020), Lemma 2, without noise.
"""

import fedtheory as ft

L, gamma, m, zeta = ft.letters("L gamma m zeta")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square_of_gradient(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    gradient = slope(problem, state.x)
    bound = params.m * (gradient**2).sum(axis=-1) + params.zeta**2
    return {"x": state.x - params.gamma * params.adversary.answer(gradient, bound)}


biased = ft.method("biased-gradient-descent", step, ["gamma", "m", "zeta", "adversary"], {"x": "point"})
setting = ft.Setting(algorithm=biased, functions=ft.Smooth(L), adversaries=(ft.Adversary(),))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)
whole, third = (ft.one_step(biased, ft.E(F_next) <= F - gamma / 2 * (1 - m) * G + gamma * zeta**2 / c) for c in (2, 3))
CLAIMS = (
    ft.Claim("biased-gradient/step", setting=setting, statement=whole, requires=(gamma * L <= 1,)),
    ft.Claim("biased-gradient/less-error", setting=setting, statement=third, requires=(gamma * L <= 1,)),
)
