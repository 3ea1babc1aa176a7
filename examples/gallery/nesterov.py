"""Nesterov's accelerated gradient method on convex functions: the potential behind the rate 1/T^2.

A point x and a centre z; with A = L a^2 - a, A_next = A + a, it holds that
A_next (f(x+) - f*) + 1/2 |z+ - x*|^2 <= A (f(x) - f*) + 1/2 |z - x*|^2: the weights A grow as T^2/(4 L).
Source: Nesterov (1983); Bansal and Gupta, Potential-function proofs for gradient methods (2019), Section 5.
"""

import fedtheory as ft

L, a = ft.letters("L a")


def step(problem, params, state, draw):
    weight = problem.L * params.a - 1
    y = (weight * state.x + state.z) / (weight + 1)
    slope = problem.f.gradient(y[..., None, :]).sum(axis=-2) / problem.n
    return {"x": y - slope / problem.L, "z": state.z - params.a * slope}


def to_centre(problem, params, state):
    return ((state.z - problem.x_star) ** 2).sum(axis=-1)


nesterov = ft.method("nesterov", step, ["a"], {"x": "point", "z": "point"})
setting = ft.Setting(algorithm=nesterov, functions=ft.SmoothConvex(L), clients=(1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
Z, Z_next = ft.Quantity("Z", to_centre), ft.Quantity("Z_next", to_centre, after=True)
A = L * a**2 - a
once, more = (ft.one_step(nesterov, ft.E((A + c * a) * F_next + Z_next / 2) <= A * F + Z / 2) for c in (1, 2))
CLAIMS = (
    ft.Claim("nesterov/potential", setting=setting, statement=once, requires=(a * L >= 1,)),
    ft.Claim("nesterov/faster", setting=setting, statement=more, requires=(a * L >= 1,)),
)
