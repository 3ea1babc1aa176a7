"""DIANA: compressed differences to shifts that learn the gradients at the optimum, so that no neighbourhood is left.

Source: Mishchenko, Gorbunov, Takac and Richtarik (2019); constants of Gorbunov, Hanzely and Richtarik (2020).
"""

import sympy

import fedtheory as ft

mu, L, gamma, alpha = ft.letters("mu L gamma alpha")


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]) - state.h)
    return {
        "x": state.x - params.gamma * (state.h + sent).sum(axis=-2) / problem.n,
        "h": state.h + params.alpha * sent,
    }


def rest(problem, params):
    return diana.State(problem.x_star, problem.y_star)


def shifts(problem, params, state):
    return ((state.h - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n


diana = ft.method("diana", step, ["gamma", "alpha", "compressors"], {"x": "point", "h": "clients"}, fixed_point=rest)
independent = ft.UnbiasedCompressors(independent=True)
setting = ft.Setting(algorithm=diana, functions=ft.StronglyConvexOnAverage(mu, L), adversaries=(independent,))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
S, S_next = ft.Quantity("S", shifts), ft.Quantity("S_next", shifts, after=True)
w = 4 * ft.omega * gamma**2 / (alpha * ft.n)
rate, faster = (
    ft.one_step(diana, ft.E(D_next + w * S_next) <= sympy.Max(1 - gamma * mu, 1 - c * alpha / 2) * (D + w * S))
    for c in (1, 3)
)
short = (alpha * (1 + ft.omega) <= 1, gamma * L * (1 + 6 * ft.omega / ft.n) <= 1)
CLAIMS = (
    ft.Claim("diana/step", setting=setting, statement=rate, requires=short),
    ft.Claim("diana/faster", setting=setting, statement=faster, requires=short),
)
