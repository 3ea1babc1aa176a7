"""Steps along a cocoercive operator: |x+ - x*|^2 <= |x - x*|^2 - gamma (2/L - gamma) |F(x)|^2.

Source: Zhu and Marcotte, Co-coercivity and its role in the convergence of iterative schemes for solving variational
inequalities (1996).
"""

import sympy

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def operator(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square(problem, params, state):
    return (operator(problem, state.x) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * operator(problem, state.x)}


method = ft.method("forward", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Cocoercive(L))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
S = ft.Quantity("S", square)
whole, more = (ft.one_step(method, ft.E(D_next) <= D - gamma * (c / L - gamma) * S) for c in (2, sympy.Rational(5, 2)))
CLAIMS = (
    ft.Claim("cocoercive-step/step", setting=setting, statement=whole),
    ft.Claim("cocoercive-step/more-descent", setting=setting, statement=more),
)
