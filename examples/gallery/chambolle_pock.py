"""Chambolle and Pock's primal-dual method for f(x) + h(K x), of which both proximal points are asked: with
tau sigma k^2 <= 1 the distance to a saddle point, in the norm in which the step is a proximal point, does not grow.

Source: He and Yuan, Convergence analysis of primal-dual algorithms for a saddle-point problem (2012).
"""

import fedtheory as ft

k, tau, sigma = ft.letters("k tau sigma")


def prox(function, s, v):
    return function.resolvent(s, v[..., None, :])[..., 0, :]


def step(problem, params, state, draw):
    x = prox(problem.f, 1 / params.tau, state.x / params.tau - problem.K.T(state.y))
    target = state.y + params.sigma * problem.K(2 * x - state.x)
    return {"x": x, "y": target - params.sigma * prox(problem.h, params.sigma, target)}


def distance(problem, params, state):
    x, y = state.x - problem.x_star, state.y - problem.u_star
    return (x * x / params.tau - 2 * problem.K.T(y) * x).sum(axis=-1) + (y * y / params.sigma).sum(axis=-1)


method = ft.method("chambolle-pock", step, ["tau", "sigma"], {"x": "point", "y": "dual"})
setting = ft.Setting(algorithm=method, functions=ft.Coupled(ft.Convex(), k), clients=(1,))
V, V_next = ft.Quantity("V", distance), ft.Quantity("V_next", distance, after=True)
statement = ft.one_step(method, ft.E(V_next) <= V)
CLAIMS = (
    ft.Claim("chambolle-pock/step", setting=setting, statement=statement, requires=(tau * sigma * k**2 <= 1,)),
    ft.Claim("chambolle-pock/longer", setting=setting, statement=statement, requires=(tau * sigma * k**2 <= 2,)),
)
