"""The extragradient method for monotone and Lipschitz operators, with the point y in between:
|x+ - x*|^2 <= |x - x*|^2 - (1 - gamma^2 L^2) |x - y|^2.

Source: Korpelevich, The extragradient method for finding saddle points and other problems (1976).
"""

import sympy

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def operator(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def between(problem, params, state):
    return ((params.gamma * operator(problem, state.x)) ** 2).sum(axis=-1)


def step(problem, params, state, draw):
    y = state.x - params.gamma * operator(problem, state.x)
    return {"x": state.x - params.gamma * operator(problem, y)}


method = ft.method("extragradient", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.MonotoneLipschitz(L))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
Y = ft.Quantity("Y", between)
whole, half = (
    ft.one_step(method, ft.E(D_next) <= D - (1 - c * gamma**2 * L**2) * Y) for c in (1, sympy.Rational(1, 2))
)
CLAIMS = (
    ft.Claim("extragradient/step", setting=setting, statement=whole),
    ft.Claim("extragradient/more-descent", setting=setting, statement=half),
)
