"""Frank and Wolfe's conditional gradients over a bounded convex set of diameter D, which are never projected:
f(x+) - f* <= (1 - t) (f(x) - f*) + t^2 L D^2 / 2.

Source: Jaggi, Revisiting Frank-Wolfe: Projection-Free Sparse Convex Optimization (2013).
"""

import fedtheory as ft

L, D, t = ft.letters("L D t")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
    return {"x": (1 - params.t) * state.x + params.t * problem.lmo(slope)}


method = ft.method("frank-wolfe", step, ["t"], {"x": "feasible"})
setting = ft.Setting(algorithm=method, functions=ft.Constrained(ft.SmoothConvex(L), D), domain=(t <= 1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
half, third = (ft.one_step(method, ft.E(F_next) <= (1 - t) * F + t**2 * L * D**2 / c) for c in (2, 3))
CLAIMS = (
    ft.Claim("frank-wolfe/step", setting=setting, statement=half),
    ft.Claim("frank-wolfe/third", setting=setting, statement=third),
)
