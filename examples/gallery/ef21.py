"""EF21: error feedback by compressed differences to the gradients; no function is convex, compressors are biased.

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
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
R, R_next = ft.Quantity("R", error), ft.Quantity("R_next", error, after=True)
G = ft.Quantity("G", square_of_gradient)
theta = 1 - sympy.sqrt(1 - alpha)
w = gamma / (2 * theta)
half, whole = (ft.one_step(ef21, ft.E(F_next + w * R_next) <= F + w * R - c * gamma / 2 * G) for c in (1, 2))
short = (gamma * L + gamma**2 * L**2 * (1 - alpha) / theta**2 <= 1,)
CLAIMS = (
    ft.Claim("ef21/step", setting=setting, statement=half, requires=short),
    ft.Claim("ef21/more-descent", setting=setting, statement=whole, requires=short),
)
