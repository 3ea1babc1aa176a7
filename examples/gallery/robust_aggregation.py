"""Gradient descent with a (f, rho)-robust aggregator: of what the server makes of the clients' gradients no more is
known than that it is as near to their mean as rho times their variance allows.

Source: Allouah, Farhadkhani, Guerraoui, Gupta, Pinot and Stephan, Fixing by mixing (2023), Definition 2 and Theorem 1,
where rho is called kappa.
"""

import fedtheory as ft

L, gamma, rho = ft.letters("L gamma rho")


def gradients(problem, state):
    return problem.f.gradient(state.x[..., None, :])


def square_of_gradient(problem, params, state):
    return (gradients(problem, state).mean(axis=-2) ** 2).sum(axis=-1)


def variance(sent):
    return ((sent - sent.mean(axis=-2)[..., None, :]) ** 2).sum(axis=(-1, -2)) / sent.shape[-2]


def dissimilarity(problem, params, state):
    return variance(gradients(problem, state))


def step(problem, params, state, draw):
    sent = gradients(problem, state)
    received = params.aggregator.answer(sent.mean(axis=-2), params.rho * variance(sent))
    return {"x": state.x - params.gamma * received}


robust = ft.method("robust-gradient-descent", step, ["gamma", "rho", "aggregator"], {"x": "point"})
setting = ft.Setting(algorithm=robust, functions=ft.Smooth(L), adversaries=(ft.Adversary("aggregator"),))
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, V = ft.Quantity("G", square_of_gradient), ft.Quantity("V", dissimilarity)
half, third = (ft.one_step(robust, ft.E(F_next) <= F - gamma / 2 * G + gamma * rho / c * V) for c in (2, 3))
CLAIMS = (
    ft.Claim("robust-aggregation/step", setting=setting, statement=half, requires=(gamma * L <= 1,)),
    ft.Claim("robust-aggregation/less-error", setting=setting, statement=third, requires=(gamma * L <= 1,)),
)
