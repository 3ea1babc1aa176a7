"""Gradient descent on convex functions: the potential behind f(x_T) - f* <= L |x_0 - x*|^2 / (2 T).

It holds that (t + 1) (f(x+) - f*) + L/2 |x+ - x*|^2 <= t (f(x) - f*) + L/2 |x - x*|^2 after a step of length 1/L.
Source: Bansal and Gupta, Potential-function proofs for gradient methods (2019), Section 2.
"""

import fedtheory as ft

L, t = ft.letters("L t")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - slope / problem.L}


gd = ft.method("gradient-descent", step, ["t"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
one, three = (ft.one_step(gd, ft.E((t + more) * F_next + L / 2 * D_next) <= t * F + L / 2 * D) for more in (1, 3))
CLAIMS = (
    ft.Claim("gradient-descent-convex/potential", setting=setting, statement=one),
    ft.Claim("gradient-descent-convex/thrice-as-fast", setting=setting, statement=three),
)
