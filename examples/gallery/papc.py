"""The proximal alternating predictor-corrector method (PAPC) for a smooth f and h(K x), of which two points are
predicted and corrected along K': with tau <= 2/L and tau sigma k^2 <= 1 the distance to a saddle point does not grow.

Source: Loris and Verhoeven, On a generalization of the iterative soft-thresholding algorithm for the case of
non-separable penalty (2011).
"""

import fedtheory as ft

L, k, tau, sigma = ft.letters("L k tau sigma")


def step(problem, params, state, draw):
    forward = state.x - params.tau * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    target = state.y + params.sigma * problem.K(forward - params.tau * problem.K.T(state.y))
    y = target - params.sigma * problem.h.resolvent(params.sigma, target[..., None, :])[..., 0, :]
    return {"x": forward - params.tau * problem.K.T(y), "y": y}


def distance(problem, params, state):
    x, y = state.x - problem.x_star, state.y - problem.u_star
    back = problem.K.T(y)
    return (x * x / params.tau - params.tau * back * back).sum(axis=-1) + (y * y / params.sigma).sum(axis=-1)


method = ft.method("papc", step, ["tau", "sigma"], {"x": "point", "y": "dual"})
setting = ft.Setting(algorithm=method, functions=ft.Coupled(ft.SmoothConvex(L), k), domain=(tau * sigma * k**2 <= 1,))
V, V_next = ft.Quantity("V", distance), ft.Quantity("V_next", distance, after=True)
statement = ft.one_step(method, ft.E(V_next) <= V)
CLAIMS = (
    ft.Claim("papc/step", setting=setting, statement=statement, requires=(tau * L <= 2,)),
    ft.Claim("papc/longer", setting=setting, statement=statement, requires=(tau * L <= 3,)),
)
