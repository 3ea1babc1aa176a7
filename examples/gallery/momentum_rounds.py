"""Stochastic gradients with momentum, without convexity: v estimates the gradient, v+ = (1 - eta) v + eta g(x+).

The mean of |grad f(x)|^2 over T rounds is at most
2 (f(x_0) - f*)/(gamma T) + |v_0 - grad f(x_0)|^2/(eta T) + eta sigma^2.

Source: Fatkhullin, Tyurin and Richtarik, Momentum provably improves error feedback (2023), without compression.
"""

import fedtheory as ft

L, gamma, eta, sigma = ft.letters("L gamma eta sigma")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :])


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.v
    noisy = params.noise.apply(draw, slope(problem, x)).sum(axis=-2)
    return {"x": x, "v": (1 - params.eta) * state.v + params.eta * noisy}


def error(problem, params, state):
    return ((state.v - slope(problem, state.x).sum(axis=-2)) ** 2).sum(axis=-1)


def square(problem, params, state):
    return (slope(problem, state.x).sum(axis=-2) ** 2).sum(axis=-1)


momentum = ft.method("momentum", step, ["gamma", "eta", "sigma", "noise"], {"x": "point", "v": "point"})
setting = ft.Setting(
    algorithm=momentum,
    functions=ft.Smooth(L),
    adversaries=(ft.NoisyGradients(),),
    clients=(1,),
    domain=(eta <= 1,),
)
F_0, P_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("P_0", error), ft.Quantity("G", square)
two, one = (
    ft.bound(momentum, ft.E(ft.average(G)) <= c * F_0 / (gamma * ft.T) + P_0 / (eta * ft.T) + eta * sigma**2, since=1)
    for c in (2, 1)
)
short = (gamma * L + 3 * gamma**2 * L**2 / eta**2 <= 1,)
CLAIMS = (
    ft.Claim("momentum/rounds", setting=setting, statement=two, requires=short),
    ft.Claim("momentum/half", setting=setting, statement=one, requires=short),
)
