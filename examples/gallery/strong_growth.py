"""SGD where the variance of stochastic gradients vanishes with the gradient, E|g|^2 <= rho |grad f|^2, as where a model
fits all data: with gamma = 1/(rho L) f - f* falls by 1 - mu/(rho L), without a neighbourhood.

Source: Vaswani, Bach and Schmidt, Fast and faster convergence of SGD for over-parameterized models (2019).
"""

import fedtheory as ft

mu, L, gamma, rho = ft.letters("mu L gamma rho")


def step(problem, params, state, draw):
    gradients = problem.f.gradient(state.x[..., None, :])
    variance = (params.rho - 1) * (gradients.mean(axis=-2) ** 2).sum(axis=-1)
    stochastic = params.noise.apply(draw, gradients, variance[..., None])
    return {"x": state.x - params.gamma * stochastic.mean(axis=-2)}


sgd = ft.method("sgd", step, ["gamma", "rho", "noise"], {"x": "point"})
setting = ft.Setting(
    algorithm=sgd,
    functions=ft.PolyakLojasiewicz(mu, L),
    adversaries=(ft.BoundedNoise(),),
    clients=(1,),
    domain=(rho >= 1,),
)
short = (gamma * rho * L <= 1,)
CLAIMS = (
    ft.Claim(
        "strong-growth/step", setting=setting, statement=ft.contracts(sgd, ft.gap, 1 - gamma * mu), requires=short
    ),
    ft.Claim(
        "strong-growth/faster",
        setting=setting,
        statement=ft.contracts(sgd, ft.gap, (1 - gamma * mu) ** 2),
        requires=short,
    ),
)
