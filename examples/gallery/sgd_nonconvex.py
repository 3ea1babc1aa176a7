"""SGD without convexity: E f(x+) <= f(x) - gamma (1 - gamma L/2) |grad f(x)|^2 + gamma^2 L sigma^2/2.

Source: Ghadimi and Lan, Stochastic first- and zeroth-order methods for nonconvex stochastic programming (2013), (2.11).
"""

import fedtheory as ft

L, gamma, sigma = ft.letters("L gamma sigma")


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


def square_of_gradient(problem, params, state):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return (slope**2).sum(axis=-1)


sgd = ft.method("sgd", step, ["gamma", "sigma", "noise"], {"x": "point"})
setting = ft.Setting(algorithm=sgd, functions=ft.Smooth(L), adversaries=(ft.NoisyGradients(),), clients=(1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)
half, third = (
    ft.one_step(sgd, ft.E(F_next) <= F - gamma * (1 - gamma * L / 2) * G + gamma**2 * L * sigma**2 / c) for c in (2, 3)
)
CLAIMS = (
    ft.Claim("sgd-nonconvex/step", setting=setting, statement=half),
    ft.Claim("sgd-nonconvex/less-noise", setting=setting, statement=third),
)
