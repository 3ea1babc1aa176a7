"""The linearised method of multipliers (ADMM) for f(x) + h(z) with K x = z: up to tau rho k^2 = 1 the distance to a
solution falls by that which x and w = y + rho z, from which z and the multiplier y are taken, have moved.

Source: Shefi and Teboulle, Rate of convergence analysis of decomposition methods based on the proximal method of
multipliers for convex minimization (2014).
"""

import sympy

import fedtheory as ft

k, tau, rho = ft.letters("k tau rho")


def prox(function, s, v):
    return function.resolvent(s, v[..., None, :])[..., 0, :]


def step(problem, params, state, draw):
    z = prox(problem.h, params.rho, state.w)
    y = state.w - params.rho * z
    pull = problem.K.T(y + params.rho * (problem.K(state.x) - z))
    x = prox(problem.f, 1 / params.tau, state.x / params.tau - pull)
    return {"x": x, "w": y + params.rho * problem.K(x), "last_x": state.x, "last_w": state.w}


def rest(problem, params):
    w = problem.u_star + params.rho * problem.K(problem.x_star)
    return {"x": problem.x_star, "w": w, "last_x": problem.x_star, "last_w": w}


def energy(problem, params, x, w):
    image = problem.K(x)
    return (x * x / params.tau - params.rho * image * image).sum(axis=-1) + (w * w / params.rho).sum(axis=-1)


def distance(problem, params, state):
    about = rest(problem, params)
    return energy(problem, params, state.x - about["x"], state.w - about["w"])


def moved(problem, params, state):
    return energy(problem, params, state.x - state.last_x, state.w - state.last_w)


state = {"x": "point", "w": "dual", "last_x": "point", "last_w": "dual"}
method = ft.method("linearized-admm", step, ["tau", "rho"], state, fixed_point=rest)
setting = ft.Setting(
    algorithm=method, functions=ft.Coupled(ft.Convex(), k), clients=(1,), domain=(tau * rho * k**2 <= 1,)
)
V, V_next = ft.Quantity("V", distance), ft.Quantity("V_next", distance, after=True)
M_next = ft.Quantity("M_next", moved, after=True)
whole, more = (ft.one_step(method, ft.E(V_next + c * M_next) <= V) for c in (1, sympy.Rational(5, 4)))
CLAIMS = (
    ft.Claim("linearized-admm/step", setting=setting, statement=whole),
    ft.Claim("linearized-admm/more-descent", setting=setting, statement=more),
)
