"""Proximal gradient (ISTA) on convex functions: the potential behind F(x_T) - F* <= L R^2/(2 T), F = f + g.

Source: Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009), Theorem 3.1.
"""

import fedtheory as ft

L, t = ft.letters("L t")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    target = (problem.L * state.x - slope)[..., None, :]
    return {"x": problem.g.resolvent(problem.L, target)[..., 0, :]}


def whole(problem, x):
    return problem.f.value(x[..., None, :]).sum(axis=-1) / problem.n + problem.g.value(x[..., None, :])[..., 0]


def gap(problem, params, state):
    return whole(problem, state.x) - whole(problem, problem.x_star)


ista = ft.method("ista", step, ["t"], {"x": "point"})
setting = ft.Setting(algorithm=ista, functions=ft.Composite(ft.SmoothConvex(L)), clients=(1, 2))
F, F_next = ft.Quantity("F", gap), ft.Quantity("F_next", gap, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
one, two = (ft.one_step(ista, ft.E((t + more) * F_next + L / 2 * D_next) <= t * F + L / 2 * D) for more in (1, 2))
CLAIMS = (
    ft.Claim("proximal-gradient-convex/potential", setting=setting, statement=one),
    ft.Claim("proximal-gradient-convex/faster", setting=setting, statement=two),
)
