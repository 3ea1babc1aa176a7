"""Gradient descent in the geometry of h, NoLips, of convex functions that are L-smooth relative to h: D_h(x*, x) falls
by gamma (f(x+) - f*) + (1 - gamma L) D_h(x+, x).

Source: Bauschke, Bolte and Teboulle, A descent lemma beyond Lipschitz gradient continuity (2017), without g.
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    at = state.x[..., None, :]
    slope = problem.f.gradient(at).mean(axis=-2)
    return {"x": problem.mirror(problem.h.gradient(at)[..., 0, :] - params.gamma * slope), "last": state.x}


def divergence(problem, params, state):
    return problem.divergence(problem.x_star, state.x)


def ahead(problem, params, state):
    return problem.divergence(state.x, state.last)


def behind(problem, params, state):
    return problem.divergence(state.last, state.x)


method = ft.method("nolips", step, ["gamma"], {"x": "point", "last": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Relative(ft.SmoothConvex(L)), domain=(gamma * L <= 1,))
D, F = ft.Quantity("D", divergence), ft.Quantity("F", ft.gap)
M, N = ft.Quantity("M", ahead, after=True), ft.Quantity("N", behind, after=True)
whole, swapped = (ft.one_step(method, ft.E(D.next + gamma * F.next + (1 - gamma * L) * G) <= D) for G in (M, N))
CLAIMS = (
    ft.Claim("nolips/step", setting=setting, statement=whole),
    ft.Claim("nolips/swapped", setting=setting, statement=swapped),
)
