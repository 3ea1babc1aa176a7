"""Random reshuffling: one epoch takes the gradients of both clients, one after the other, in a random order.

Source: Mishchenko, Khaled and Richtarik, Random reshuffling: simple analysis with vast improvements (2020), Theorem 1
with the bound of its shuffling variance, for two functions and one stepsize.
"""

import sympy

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def order(problem, params, state):
    return ft.Permutation(2)


def epoch(problem, params, state, draw):
    x = state.x
    for here in draw:
        x = x - params.gamma * (here[..., None] * problem.f.gradient(x[..., None, :])).sum(axis=-2)
    return {"x": x}


reshuffling = ft.method("random-reshuffling", epoch, ["gamma"], {"x": "point"}, draws=order)
setting = ft.Setting(algorithm=reshuffling, functions=ft.SmoothStronglyConvex(mu, L), clients=(2,))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
Y = ft.Quantity("Y", ft.heterogeneity)
whole, tenth = (
    ft.one_step(reshuffling, ft.E(D_next) <= (1 - gamma * mu) ** 2 * D + gamma**3 * L * (2 - gamma * mu) * Y / c)
    for c in (1, 10)
)
numbers = (sympy.Eq(mu, 1), sympy.Eq(L, 2), sympy.Eq(gamma, sympy.Rational(1, 4)))
CLAIMS = (
    ft.Claim("random-reshuffling/epoch", setting=setting, statement=whole, requires=numbers),
    ft.Claim("random-reshuffling/less-noise", setting=setting, statement=tenth, requires=numbers),
)
