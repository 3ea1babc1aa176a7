"""Alternating projections on two closed convex sets that have a common point x*: |x - x*|^2 falls by the squares of
both ways, |x - y|^2 + |y - x+|^2, y the point between.

Source: Bauschke and Borwein, On projection algorithms for solving convex feasibility problems (1996).
"""

import sympy

import fedtheory as ft


def project(problem, k, x):
    return problem.f.project(x[..., None, :])[..., k, :]


def step(problem, params, state, draw):
    return {"x": project(problem, 1, project(problem, 0, state.x))}


def ways(problem, params, state):
    y = project(problem, 0, state.x)
    return ((state.x - y) ** 2).sum(axis=-1) + ((y - project(problem, 1, y)) ** 2).sum(axis=-1)


method = ft.method("alternating-projections", step, [], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.Named((ft.ConvexSet(), ft.ConvexSet())), clients=(2,))
D, D_next, S = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True), ft.Quantity("S", ways)
whole, more = (ft.one_step(method, ft.E(D_next) <= D - c * S) for c in (1, sympy.Rational(11, 10)))
CLAIMS = (
    ft.Claim("alternating-projections/step", setting=setting, statement=whole),
    ft.Claim("alternating-projections/more-descent", setting=setting, statement=more),
)
