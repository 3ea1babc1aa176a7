"""The optimized gradient method: the potential behind the best possible constant among first-order methods.

With 2 theta^2 = 2 before^2 + 2 theta it holds that the weights of f(y) - f* - |grad f(y)|^2/(2L) grow from before^2 to
theta^2, twice as fast as those of Nesterov's method.
Source: Drori and Teboulle (2014); Kim and Fessler, Optimized first-order methods for smooth convex minimization (2016).
"""

import fedtheory as ft

L, theta = ft.letters("L theta")


def step(problem, params, state, draw):
    before = problem.f.gradient(state.y[..., None, :]).sum(axis=-2) / problem.n
    share = 1 / params.theta
    y = (1 - share) * (state.y - before / problem.L) + share * state.z
    slope = problem.f.gradient(y[..., None, :]).sum(axis=-2) / problem.n
    return {"y": y, "z": state.z - 2 * params.theta * slope / problem.L}


def below(problem, params, state):
    at = state.y[..., None, :]
    slope = problem.f.gradient(at).sum(axis=-2) / problem.n
    least = problem.f.value(problem.x_star[..., None, :]).sum(axis=-1) / problem.n
    return problem.f.value(at).sum(axis=-1) / problem.n - least - (slope**2).sum(axis=-1) / (2 * problem.L)


def to_centre(problem, params, state):
    return ((state.z - problem.x_star) ** 2).sum(axis=-1)


ogm = ft.method("optimized-gradient", step, ["theta"], {"y": "point", "z": "point"})
setting = ft.Setting(algorithm=ogm, functions=ft.SmoothConvex(L), clients=(1,))
B, B_next = ft.Quantity("B", below), ft.Quantity("B_next", below, after=True)
Z, Z_next = ft.Quantity("Z", to_centre), ft.Quantity("Z_next", to_centre, after=True)
weight = 2 * (theta**2 - theta)
once, more = (
    ft.one_step(ogm, ft.E((weight + c * theta) * B_next + L / 2 * Z_next) <= weight * B + L / 2 * Z) for c in (2, 3)
)
CLAIMS = (
    ft.Claim("optimized-gradient/potential", setting=setting, statement=once, requires=(theta >= 1,)),
    ft.Claim("optimized-gradient/faster", setting=setting, statement=more, requires=(theta >= 1,)),
)
