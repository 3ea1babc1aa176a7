"""ProxSkip (RandProx with a coin): the proximal point of g is asked with the probability p alone.

Source: Mishchenko, Malinovsky, Stich and Richtarik, ProxSkip (2022), Theorem 3.6;
Condat and Richtarik, RandProx (2023).
"""

import numpy as np
import sympy

import fedtheory as ft

mu, L, gamma, p = ft.letters("mu L gamma p")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :])[..., 0, :]
    ahead = state.x - params.gamma * (slope - state.h)
    shift = params.p / params.gamma
    target = shift * ahead - state.h
    near = problem.g.resolvent(shift, target[..., None, :])[..., 0, :]
    asked = np.asarray(draw)[..., None]
    return {"x": np.where(asked, near, ahead), "h": np.where(asked, state.h + shift * (near - ahead), state.h)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


def rest(problem, params):
    return proxskip.State(problem.x_star, problem.y_star[..., 0, :])


def potential(problem, params, state):
    variate = ((state.h - problem.y_star[..., 0, :]) ** 2).sum(axis=-1)
    return ft.distance(problem, params, state) + params.gamma**2 / params.p**2 * variate


parts = {"x": "point", "h": "point"}
proxskip = ft.method("proxskip", step, ["gamma", "p"], parts, draws=draws, fixed_point=rest)
functions = ft.Composite(ft.SmoothStronglyConvex(mu, L))
setting = ft.Setting(algorithm=proxskip, functions=functions, clients=(1,), domain=(p <= 1,))
rate, faster = (ft.contracts(proxskip, potential, sympy.Max(1 - gamma * mu, 1 - p**c)) for c in (2, 1))
CLAIMS = (
    ft.Claim("proxskip/step", setting=setting, statement=rate, requires=(gamma * L <= 1,)),
    ft.Claim("proxskip/faster", setting=setting, statement=faster, requires=(gamma * L <= 1,)),
)
