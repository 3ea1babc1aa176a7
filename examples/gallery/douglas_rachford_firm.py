"""Douglas and Rachford's splitting of two convex functions, of which nothing else is known: the point z from which
proximal points are taken comes nearer to its fixed point by |z+ - z|^2, the step is firmly nonexpansive.

Source: Lions and Mercier, Splitting algorithms for the sum of two nonlinear operators (1979).
"""

import sympy

import fedtheory as ft

gamma = ft.letters("gamma")


def prox(problem, params, k, x):
    return problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma)[..., k, :]


def step(problem, params, state, draw):
    x = prox(problem, params, 0, state.z)
    return {"z": state.z + prox(problem, params, 1, 2 * x - state.z) - x, "last": state.z}


def rest(problem, params):
    z = problem.x_star + params.gamma * problem.y_star[..., 0, :]
    return {"z": z, "last": z}


def distance(problem, params, state):
    return ((state.z - rest(problem, params)["z"]) ** 2).sum(axis=-1)


def moved(problem, params, state):
    return ((state.z - state.last) ** 2).sum(axis=-1)


method = ft.method("douglas-rachford", step, ["gamma"], {"z": "point", "last": "point"}, fixed_point=rest)
setting = ft.Setting(algorithm=method, functions=ft.Named((ft.Convex(), ft.Convex())), clients=(2,))
D, D_next = ft.Quantity("D", distance), ft.Quantity("D_next", distance, after=True)
M_next = ft.Quantity("M_next", moved, after=True)
firm, more = (ft.one_step(method, ft.E(D_next + c * M_next) <= D) for c in (1, sympy.Rational(11, 10)))
CLAIMS = (
    ft.Claim("douglas-rachford-firm/step", setting=setting, statement=firm),
    ft.Claim("douglas-rachford-firm/more", setting=setting, statement=more),
)
