"""Gradient descent with an aggregator of the clients' gradients that withstands f of n: the mean of its answers has an
inner product with the gradient of at least (1 - sin alpha) |grad f|^2, and its square is bounded, here by a multiple of
the gradient's and of the clients' variance.

Source: Blanchard, El Mhamdi, Guerraoui and Stainer, Machine learning with adversaries: Byzantine tolerant gradient
descent (2017), (alpha, f)-Byzantine resilience, for squares; sin alpha is s, and the multiples are a and b.
"""

import fedtheory as ft

L, gamma, s, a, b = ft.letters("L gamma s a b")


def square(v):
    return (v**2).sum(axis=-1)


def slopes(problem, state):
    return problem.f.gradient(state.x[..., None, :])


def square_of_gradient(problem, params, state):
    return square(slopes(problem, state).mean(axis=-2))


def dissimilarity(problem, params, state):
    sent = slopes(problem, state)
    return square(sent - sent.mean(axis=-2)[..., None, :]).mean(axis=-1)


def step(problem, params, state, draw):
    sent = slopes(problem, state)
    g = sent.mean(axis=-2)
    variance = square(sent - g[..., None, :]).mean(axis=-1)
    # The gradient itself meets both conditions.
    received = params.aggregator.answer(
        0 * g, params.a * square(g) + params.b * variance, along=((g, (1 - params.s) * square(g)),), feasible=g
    )
    return {"x": state.x - params.gamma * received}


method = ft.method("resilient-descent", step, ["gamma", "s", "a", "b", "aggregator"], {"x": "point"})
setting = ft.Setting(
    algorithm=method, functions=ft.Smooth(L), adversaries=(ft.Adversary("aggregator"),), domain=(s <= 1, a >= 1)
)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, V = ft.Quantity("G", square_of_gradient), ft.Quantity("V", dissimilarity)
half, third = (
    ft.one_step(method, ft.E(F_next) <= F - gamma * (1 - s) * G + gamma**2 * L / c * (a * G + b * V)) for c in (2, 3)
)
CLAIMS = (
    ft.Claim("resilient-aggregation/step", setting=setting, statement=half),
    ft.Claim("resilient-aggregation/less-error", setting=setting, statement=third),
)
