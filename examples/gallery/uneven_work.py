"""Local steps of which each client makes one or two, and nobody knows how many, corrected by the gradient of f.

Source: Mitra, Jaafar, Pappas and Hassani, Linear convergence in federated learning: tackling client heterogeneity and
sparse gradients (2021), FedLin, for one or two local steps.
"""

import sympy

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def step(problem, params, state, draw):
    correction = slope(problem, state.x)[..., None, :] - problem.f.gradient(state.x[..., None, :])
    once = state.x[..., None, :] - params.gamma * (problem.f.gradient(state.x[..., None, :]) + correction)
    twice = once - params.gamma * (problem.f.gradient(once) + correction)
    return {"x": params.work.seen(twice, once).sum(axis=-2) / problem.n}


def square_of_gradient(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


fedlin = ft.method("fedlin", step, ["gamma", "work"], {"x": "point"})
setting = ft.Setting(algorithm=fedlin, functions=ft.Smooth(L), adversaries=(ft.Delays("work"),))
F, G = ft.Quantity("F", ft.gap), ft.Quantity("G", square_of_gradient)
half, both = (ft.one_step(fedlin, ft.E(F.next) <= F - c * gamma * G) for c in (sympy.Rational(1, 2), 1))
short = (20 * gamma * L <= 1,)
CLAIMS = (
    ft.Claim("uneven-work/step", setting=setting, statement=half, requires=short),
    ft.Claim("uneven-work/all-steps", setting=setting, statement=both, requires=short),
)
