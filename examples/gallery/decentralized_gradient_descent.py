"""Decentralised gradient descent, x_i+ = sum_j W_ij x_j - gamma grad f_i(x_i): f falls at the mean of the x_i, up to
how much these disagree.

Source: Lian, Zhang, Zhang, Hsieh, Zhang and Liu, Can decentralized algorithms outperform centralized algorithms?
(2017), without noise.
"""

import sympy

import fedtheory as ft

L, gamma, delta = ft.letters("L gamma delta")


def at_mean(problem, state):
    return state.x.mean(axis=-2)[..., None, :]


def gap(problem, params, state):
    optimum = problem.x_star[..., None, :]
    return (problem.f.value(at_mean(problem, state)) - problem.f.value(optimum)).mean(axis=-1)


def square_of_gradient(problem, params, state):
    return (problem.f.gradient(at_mean(problem, state)).mean(axis=-2) ** 2).sum(axis=-1)


def disagreement(problem, params, state):
    return ((state.x - at_mean(problem, state)) ** 2).sum(axis=-1).mean(axis=-1)


def step(problem, params, state, draw):
    return {"x": params.W.mix(state.x) - params.gamma * problem.f.gradient(state.x)}


method = ft.method("decentralized-gradient-descent", step, ["gamma", "delta", "W"], {"x": "clients"})
setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.MixingMatrix(),), domain=(delta <= 1,))
F, F_next = ft.Quantity("F", gap), ft.Quantity("F_next", gap, after=True)
G, C = ft.Quantity("G", square_of_gradient), ft.Quantity("C", disagreement)
half, less = (
    ft.one_step(method, ft.E(F_next) <= F - gamma / 2 * G + c * gamma * L**2 * C)
    for c in (sympy.Rational(1, 2), sympy.Rational(1, 4))
)
short = (gamma * L <= 1,)
CLAIMS = (
    ft.Claim("decentralized-gradient-descent/step", setting=setting, statement=half, requires=short),
    ft.Claim("decentralized-gradient-descent/less-error", setting=setting, statement=less, requires=short),
)
