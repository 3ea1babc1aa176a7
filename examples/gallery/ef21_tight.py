"""EF21 on strongly convex functions: the best rate u^2 over all stepsizes and potentials, for any number of clients.

u solves (L - mu) (1 - s) u = (L + mu) (u^2 - s), where s^2 = 1 - alpha. Together with the stepsize
gamma = 2 (1 - s)/((L + mu) (1 + s)) this says mu gamma (1 + s) u = (1 - s) u - u^2 + s.
Source: Thomsen, Taylor and Dieuleveut, A tight theory of error feedback algorithms in distributed optimization (2026).
"""

from fractions import Fraction

import sympy

import fedtheory as ft

mu, L, gamma, alpha, s, u = ft.letters("mu L gamma alpha s u")


def step(problem, params, state, draw):
    x = state.x - params.gamma * state.g.sum(axis=-2) / problem.n
    return {"x": x, "g": state.g + params.compressor.apply(draw, problem.f.gradient(x[..., None, :]) - state.g)}


def errors(problem, params, state):
    return ((state.g - problem.f.gradient(state.x[..., None, :])) ** 2).sum(axis=(-1, -2)) / problem.n


def slope(problem, params, state):
    return ((problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


def parameters(rng, recipe):
    """A rate u between that without compression and 1, and what belongs to it: all rational."""
    q = (recipe["L"] - recipe["mu"]) / (recipe["L"] + recipe["mu"])
    u = q + (1 - q) * Fraction(int(rng.integers(1, 8)), 8)
    s = u * (u - q) / (1 - q * u)
    gamma = 2 * (1 - s) / ((recipe["L"] + recipe["mu"]) * (1 + s))
    return {**recipe, "alpha": 1 - s**2, "gamma": gamma, "s": s, "u": u}


ef21 = ft.method("ef21", step, ["gamma", "alpha", "s", "u", "compressor"], {"x": "point", "g": "clients"})
setting = ft.Setting(
    algorithm=ef21,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.ContractiveCompressors(),),
    drawing=ft.Drawing(draw=parameters),
)
E, E_next = ft.Quantity("E", errors), ft.Quantity("E_next", errors, after=True)
G, G_next = ft.Quantity("G", slope), ft.Quantity("G_next", slope, after=True)
best = (
    1 - alpha <= s**2,
    s < 1,
    mu < L,
    sympy.Eq(gamma * (L + mu) * (1 + s), 2 * (1 - s)),
    sympy.Eq(mu * gamma * (1 + s) * u, (1 - s) * u - u**2 + s),
)
once, faster = (ft.one_step(ef21, ft.E(E_next + s * G_next) <= u**c * (E + s * G)) for c in (2, 3))
CLAIMS = (
    ft.Claim("ef21-tight/step", setting=setting, statement=once, requires=best),
    ft.Claim("ef21-tight/faster", setting=setting, statement=faster, requires=best),
)
