"""Compressed gradient descent with a biased compressor C of the class B^2, of which nothing else is known: <C(x), x> is
at least nu |x|^2, and |C(x)|^2 is at most beta <C(x), x>.

Source: Beznosikov, Horvath, Richtarik and Safaryan, On biased compression for distributed learning (2020).
"""

import sympy

import fedtheory as ft

L, gamma, nu, beta = ft.letters("L gamma nu beta")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square(v):
    return (v**2).sum(axis=-1)


def square_of_gradient(problem, params, state):
    return square(slope(problem, state.x))


def step(problem, params, state, draw):
    g = slope(problem, state.x)
    # |r|^2 <= beta <r, g> is a ball about beta g/2; beta g meets both conditions.
    half = params.beta / 2
    sent = params.compressor_of.answer(
        half * g, half**2 * square(g), along=((g, params.nu * square(g)),), feasible=params.beta * g
    )
    return {"x": state.x - params.gamma * sent}


method = ft.method("biased-compression", step, ["gamma", "nu", "beta", "compressor_of"], {"x": "point"})
setting = ft.Setting(
    algorithm=method, functions=ft.Smooth(L), adversaries=(ft.Adversary("compressor_of"),), domain=(nu <= beta,)
)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G = ft.Quantity("G", square_of_gradient)
half, third = (ft.one_step(method, ft.E(F_next) <= F - gamma * nu / c * G) for c in (2, sympy.Rational(3, 2)))
short = (gamma * beta * L <= 1,)
CLAIMS = (
    ft.Claim("biased-compression/step", setting=setting, statement=half, requires=short),
    ft.Claim("biased-compression/more-descent", setting=setting, statement=third, requires=short),
)
