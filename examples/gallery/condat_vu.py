"""Condat and Vu's method for a smooth f, of which gradients are asked, a g and h(K x): with 1/tau - sigma k^2 >= L/2
the distance to a saddle point, in the norm of Chambolle and Pock's step, does not grow.

Source: Condat, A primal-dual splitting method for convex optimization involving Lipschitzian, proximable and linear
composite terms (2013).
"""

import fedtheory as ft

L, k, tau, sigma = ft.letters("L k tau sigma")


def prox(function, s, v):
    return function.resolvent(s, v[..., None, :])[..., 0, :]


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).mean(axis=-2) + problem.K.T(state.y)
    x = prox(problem.g, 1 / params.tau, state.x / params.tau - slope)
    target = state.y + params.sigma * problem.K(2 * x - state.x)
    return {"x": x, "y": target - params.sigma * prox(problem.h, params.sigma, target)}


def distance(problem, params, state):
    x, y = state.x - problem.x_star, state.y - problem.u_star
    return (x * x / params.tau - 2 * problem.K.T(y) * x).sum(axis=-1) + (y * y / params.sigma).sum(axis=-1)


method = ft.method("condat-vu", step, ["tau", "sigma"], {"x": "point", "y": "dual"})
setting = ft.Setting(algorithm=method, functions=ft.Coupled(ft.Composite(ft.SmoothConvex(L)), k))
V, V_next = ft.Quantity("V", distance), ft.Quantity("V_next", distance, after=True)
statement = ft.one_step(method, ft.E(V_next) <= V)
CLAIMS = (
    ft.Claim("condat-vu/step", setting=setting, statement=statement, requires=(1 / tau - sigma * k**2 >= L / 2,)),
    ft.Claim("condat-vu/longer", setting=setting, statement=statement, requires=(1 / tau - sigma * k**2 >= L / 4,)),
)
