"""The same method where f is strongly convex and K' bounded below: linear convergence.

Source: Condat and Richtarik, RandProx: primal-dual optimization algorithms with randomized proximal updates (2023).
"""

import sympy

import fedtheory as ft

mu, L, k, s, tau, sigma = ft.letters("mu L k s tau sigma")


def step(problem, params, state, draw):
    forward = state.x - params.tau * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    target = state.y + params.sigma * problem.K(forward - params.tau * problem.K.T(state.y))
    y = target - params.sigma * problem.h.resolvent(params.sigma, target[..., None, :])[..., 0, :]
    return {"x": forward - params.tau * problem.K.T(y), "y": y}


def distance(problem, params, state):
    x, y = state.x - problem.x_star, state.y - problem.u_star
    return (x * x / params.tau).sum(axis=-1) + (y * y / params.sigma).sum(axis=-1)


method = ft.method("primal-dual", step, ["tau", "sigma"], {"x": "point", "y": "dual"})
functions = ft.Coupled(ft.SmoothStronglyConvex(mu, L), k, adjoint_least=s)
setting = ft.Setting(algorithm=method, functions=functions, domain=(tau * sigma * k**2 <= 1, tau * (mu + L) <= 2))
V, V_next = ft.Quantity("V", distance), ft.Quantity("V_next", distance, after=True)
rate = sympy.Max((1 - tau * mu) ** 2, 1 - tau * sigma * s**2)
other = sympy.Max((1 - tau * mu) ** 2, 1 - 2 * tau * sigma * s**2)
CLAIMS = (
    ft.Claim("primal-dual/rate", setting=setting, statement=ft.one_step(method, ft.E(V_next) <= rate * V)),
    ft.Claim("primal-dual/faster", setting=setting, statement=ft.one_step(method, ft.E(V_next) <= other * V)),
)
