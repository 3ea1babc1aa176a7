"""Nesterov's accelerated gradient method, as a gradient step and a centre: f(x_T) - f* <= 2 L |x_0 - x*|^2/(T + 1)^2.

It follows from a potential of which the first claim says what a round does.
Source: Nesterov (1983); Bansal and Gupta, Potential-function proofs for gradient methods (2019), Section 5.
"""

import numpy as np
import sympy

import fedtheory as ft

L = ft.letters("L")
k, T = ft.round_index, ft.T
a = (k + 2) / (2 * L)


def init(problem, params, x=None):
    x = np.zeros(problem.d, dtype=int) if x is None else x
    return {"x": x, "z": x}


def step(problem, params, state, draw):
    weight = problem.L * params.a - 1
    y = (weight * state.x + state.z) / (weight + 1)
    slope = problem.f.gradient(y[..., None, :]).sum(axis=-2) / problem.n
    return {"x": y - slope / problem.L, "z": state.z - params.a * slope}


def to_centre(problem, params, state):
    return ((state.z - problem.x_star) ** 2).sum(axis=-1)


nesterov = ft.method("nesterov", step, [], {"x": "point", "z": "point"}, init=init, schedules={"a": a})
setting = ft.Setting(algorithm=nesterov, functions=ft.SmoothConvex(L), clients=(1,))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
Z, Z_next = ft.Quantity("Z", to_centre), ft.Quantity("Z_next", to_centre, after=True)
D_0, F_T = ft.Quantity("D_0", ft.distance), ft.Quantity("F_T", ft.gap, after=True)
potential = ft.one_step(nesterov, ft.E(L * a**2 * F_next + Z_next / 2) <= (L * a**2 - a) * F + Z / 2)
two, half = (ft.bound(nesterov, ft.E(F_T) <= c * L * D_0 / (T + 1) ** 2, since=1) for c in (2, sympy.Rational(1, 2)))
given = ("nesterov-rounds/potential",)
CLAIMS = (
    ft.Claim("nesterov-rounds/potential", setting=setting, statement=potential),
    ft.Claim("nesterov-rounds/last", setting=setting, statement=two, follows=given),
    ft.Claim("nesterov-rounds/faster", setting=setting, statement=half, follows=given),
)
