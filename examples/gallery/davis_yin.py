"""Davis and Yin's splitting of a smooth convex function, f_1, and two convex ones: up to gamma = 2/L the point z, from
which all proximal points are taken, comes nearer to its fixed point by (1 - gamma L/2) |z+ - z|^2.

Source: Davis and Yin, A three-operator splitting scheme and its optimization applications (2017).
"""

import sympy

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def prox(problem, params, k, x):
    return problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma)[..., k, :]


def step(problem, params, state, draw):
    x = prox(problem, params, 1, state.z)
    slope = problem.f.gradient(x[..., None, :])[..., 0, :]
    y = prox(problem, params, 2, 2 * x - state.z - params.gamma * slope)
    return {"z": state.z + y - x, "last": state.z}


def rest(problem, params):
    z = problem.x_star + params.gamma * problem.y_star[..., 1, :]
    return {"z": z, "last": z}


def distance(problem, params, state):
    return ((state.z - rest(problem, params)["z"]) ** 2).sum(axis=-1)


def moved(problem, params, state):
    return ((state.z - state.last) ** 2).sum(axis=-1)


method = ft.method("davis-yin", step, ["gamma"], {"z": "point", "last": "point"}, fixed_point=rest)
classes = ft.Named((ft.SmoothConvex(L), ft.Convex(), ft.Convex()))
setting = ft.Setting(algorithm=method, functions=classes, clients=(3,), domain=(gamma * L <= 2,))
D, D_next = ft.Quantity("D", distance), ft.Quantity("D_next", distance, after=True)
M_next = ft.Quantity("M_next", moved, after=True)
whole, more = (ft.one_step(method, ft.E(D_next + (1 - gamma * L / c) * M_next) <= D) for c in (2, sympy.Integer(4)))
CLAIMS = (
    ft.Claim("davis-yin/step", setting=setting, statement=whole),
    ft.Claim("davis-yin/more-descent", setting=setting, statement=more),
)
