"""The proximal point method in the geometry of h, of any convex functions, smooth or not: D_h(x*, x) falls by
gamma (f(x+) - f*) + D_h(x+, x) a step.

Source: Chen and Teboulle, Convergence analysis of a proximal-like minimization algorithm using Bregman functions
(1993).
"""

import fedtheory as ft

gamma = ft.letters("gamma")


def step(problem, params, state, draw):
    z = problem.h.gradient(state.x[..., None, :])[..., 0, :]
    return {"x": problem.bregman_prox(params.gamma, z), "last": state.x}


def divergence(problem, params, state):
    return problem.divergence(problem.x_star, state.x)


def moved(problem, params, state):
    return problem.divergence(state.x, state.last)


method = ft.method("bregman-proximal-point", step, ["gamma"], {"x": "point", "last": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Relative(ft.Convex()))
D, F, M_next = ft.Quantity("D", divergence), ft.Quantity("F", ft.gap), ft.Quantity("M_next", moved, after=True)
once, twice = (ft.one_step(method, ft.E(D.next + times * gamma * F.next + M_next) <= D) for times in (1, 2))
CLAIMS = (
    ft.Claim("bregman-proximal-point/step", setting=setting, statement=once),
    ft.Claim("bregman-proximal-point/twice", setting=setting, statement=twice),
)
