"""Minibatch SGD by n clients: contracts up to gamma^2 sigma^2/(n b), for stochastic gradients of variance sigma^2.

Source: Gower and others, SGD: general analysis and improved rates (2019); Bottou, Curtis and Nocedal (2018), Section 4.
"""

import fedtheory as ft

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
b = ft.integers("b")


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


sgd = ft.method("sgd", step, ["gamma", "sigma", "b", "noise"], {"x": "point"})
noise = ft.NoisyGradients(independent=True, batch="b")
setting = ft.Setting(algorithm=sgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(noise,))
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
one, less = (
    ft.one_step(sgd, ft.E(D_next) <= (1 - gamma * mu) ** 2 * D + gamma**2 * sigma**2 / (ft.n * b) * c)
    for c in (1, 1 - gamma * mu / 10)
)
short = (gamma * (mu + L) <= 2,)
CLAIMS = (
    ft.Claim("sgd/step", setting=setting, statement=one, requires=short),
    ft.Claim("sgd/less-noise", setting=setting, statement=less, requires=short),
)
