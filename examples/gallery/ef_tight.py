"""Error feedback on strongly convex functions: the best rate u^2, the same as EF21's, for any number of clients.

All clients share the minimiser x*: their functions are the f_i less their tangents at x*. u, s and gamma are those of
ef21_tight.py; in the potential the mean of the errors e_i that clients still hold weighs 1/s.
Source: Thomsen, Taylor and Dieuleveut, A tight theory of error feedback algorithms in distributed optimization (2026).
"""

from fractions import Fraction

import sympy

import fedtheory as ft

mu, L, gamma, alpha, s, u = ft.letters("mu L gamma alpha s u")


def step(problem, params, state, draw):
    slopes = problem.f.gradient(state.x[..., None, :]) - problem.y_star
    wanted = params.gamma * slopes + state.e
    sent = params.compressor.apply(draw, wanted)
    return {"x": state.x - sent.sum(axis=-2) / problem.n, "e": wanted - sent}


def draws(problem, params, state):
    return ft.Independent(params.compressor.draws, problem.n)


def virtual(problem, params, state):
    far = (state.x - problem.x_star)[..., None, :] - state.e
    return (far**2).sum(axis=(-1, -2)) / problem.n


def held(problem, params, state):
    return ((state.e.sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


def parameters(rng, recipe):
    """A rate u between that without compression and 1, and what belongs to it: all rational."""
    q = (recipe["L"] - recipe["mu"]) / (recipe["L"] + recipe["mu"])
    u = q + (1 - q) * Fraction(int(rng.integers(1, 8)), 8)
    s = u * (u - q) / (1 - q * u)
    gamma = 2 * (1 - s) / ((recipe["L"] + recipe["mu"]) * (1 + s))
    return {**recipe, "alpha": 1 - s**2, "gamma": gamma, "s": s, "u": u}


ef = ft.method("ef", step, ["gamma", "alpha", "s", "u", "compressor"], {"x": "point", "e": "clients"}, draws=draws)
setting = ft.Setting(
    algorithm=ef,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.ContractiveCompressors(),),
    drawing=ft.Drawing(draw=parameters),
)
X, X_next = ft.Quantity("X", virtual), ft.Quantity("X_next", virtual, after=True)
H, H_next = ft.Quantity("H", held), ft.Quantity("H_next", held, after=True)
best = (
    1 - alpha <= s**2,
    s < 1,
    mu < L,
    sympy.Eq(gamma * (L + mu) * (1 + s), 2 * (1 - s)),
    sympy.Eq(mu * gamma * (1 + s) * u, (1 - s) * u - u**2 + s),
)
once, faster = (ft.one_step(ef, ft.E(X_next + H_next / s) <= u**c * (X + H / s)) for c in (2, 3))
CLAIMS = (
    ft.Claim("ef-tight/step", setting=setting, statement=once, requires=best),
    ft.Claim("ef-tight/faster", setting=setting, statement=faster, requires=best),
)
