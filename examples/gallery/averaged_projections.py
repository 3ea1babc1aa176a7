"""Projections on the closed convex sets of n clients, averaged and relaxed by lam <= 2: |x - x*|^2 falls by
lam (2 - lam) times the mean squared distance from the sets, for every common point x*.

Source: Bauschke and Borwein, On projection algorithms for solving convex feasibility problems (1996).
"""

import sympy

import fedtheory as ft

lam = ft.letters("lam")


def step(problem, params, state, draw):
    nearest = problem.f.project(state.x[..., None, :]).mean(axis=-2)
    return {"x": state.x + params.lam * (nearest - state.x)}


def apart(problem, params, state):
    here = state.x[..., None, :]
    return ((problem.f.project(here) - here) ** 2).sum(axis=(-1, -2)) / problem.n


method = ft.method("averaged-projections", step, ["lam"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.ConvexSet(), domain=(lam <= 2,))
D, D_next, S = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True), ft.Quantity("S", apart)
whole, more = (ft.one_step(method, ft.E(D_next) <= D - lam * (2 - c * lam) * S) for c in (1, sympy.Rational(1, 2)))
CLAIMS = (
    ft.Claim("averaged-projections/step", setting=setting, statement=whole),
    ft.Claim("averaged-projections/more-descent", setting=setting, statement=more),
)
