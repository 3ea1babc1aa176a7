"""EF21: the mean of E|grad f(x_t)|^2 over T rounds, from any g_i at the start, whose errors are R_0 in the mean.

It is at most 2 (f(x_0) - f*)/(gamma T) + R_0/(theta T), theta = 1 - sqrt(1 - alpha).
Source: Richtarik, Sokolov and Fatkhullin, EF21: a new, simpler error feedback (2021), Theorem 1.
"""

import sympy

import fedtheory as ft

L, gamma, alpha = ft.letters("L gamma alpha")


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.g.sum(axis=-2) / problem.n
    return {"x": x, "g": state.g + params.compressor.apply(draw, problem.f.gradient(x[..., None, :]) - state.g)}


def error(problem, params, state):
    return ((state.g - problem.f.gradient(state.x[..., None, :])) ** 2).sum(axis=(-1, -2)) / problem.n


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


ef21 = ft.method("ef21", step, ["gamma", "alpha", "compressor"], {"x": "point", "g": "clients"})
setting = ft.Setting(algorithm=ef21, functions=ft.Smooth(L), adversaries=(ft.ContractiveCompressors(),))
F_0, R_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("R_0", error), ft.Quantity("G", square_of_gradient)
theta = 1 - sympy.sqrt(1 - alpha)
one, quarter = (
    ft.bound(ef21, ft.E(ft.average(G)) <= (2 * F_0 / gamma + R_0 / theta) * c / ft.T, since=1)
    for c in (1, sympy.Rational(1, 4))
)
short = (gamma * L + gamma**2 * L**2 * (1 - alpha) / theta**2 <= 1,)
CLAIMS = (
    ft.Claim("ef21-rounds/mean", setting=setting, statement=one, requires=short),
    ft.Claim("ef21-rounds/quarter", setting=setting, statement=quarter, requires=short),
)
