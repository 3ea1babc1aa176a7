"""Randomized block coordinate descent: one of two blocks of coordinates, by a coin, with a stepsize of its own.

Source: Nesterov, Efficiency of coordinate descent methods on huge-scale optimization problems (2012); Richtarik and
Takac, Iteration complexity of randomized block-coordinate descent methods (2014). With b blocks, one of
them at random and a step of 1/L_j, half the sum of the L_j |P_j (x - x*)|^2 plus f - f* falls by (f - f*)/b; twice that
is stated here, of b = 2.
"""

import numpy as np
import sympy

import fedtheory as ft

L_1, L_2, gamma_1, gamma_2, p = ft.letters("L_1 L_2 gamma_1 gamma_2 p")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    first, second = params.gamma_1 * problem.part(slope, 0), params.gamma_2 * problem.part(slope, 1)
    return {"x": state.x - np.where(np.asarray(draw)[..., None], first, second)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


def weighted(problem, params, state):
    z = state.x - problem.x_star
    first, second = (problem.part(z, j) for j in (0, 1))
    return (first**2).sum(axis=-1) / params.gamma_1 + (second**2).sum(axis=-1) / params.gamma_2


method = ft.method("block-coordinate-descent", step, ["gamma_1", "gamma_2", "p"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=method, functions=ft.BlockSmoothConvex((L_1, L_2)), clients=(1,), domain=(p <= 1,))
W, F = ft.Quantity("W", weighted), ft.Quantity("F", ft.gap)
W_next, F_next = ft.Quantity("W_next", weighted, after=True), ft.Quantity("F_next", ft.gap, after=True)
one, twice = (ft.one_step(method, ft.E(W_next) + 2 * ft.E(F_next) <= W + 2 * F - c * F) for c in (1, 2))
# What is certified is certified of numbers.
numbers = ((L_1, 1), (L_2, 4), (gamma_1, 1), (gamma_2, sympy.Rational(1, 4)), (p, sympy.Rational(1, 2)))
fixed = tuple(sympy.Eq(letter, number) for letter, number in numbers)
CLAIMS = (
    ft.Claim("block-coordinate-descent/step", setting=setting, statement=one, requires=fixed),
    ft.Claim("block-coordinate-descent/twice", setting=setting, statement=twice, requires=fixed),
)
