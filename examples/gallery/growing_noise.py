"""SGD with (M, sigma^2)-bounded noise, of a variance of at most M |grad f|^2 + sigma^2 (M is called rho here): up to
gamma = 1/(2L (1 + rho)), E|x+ - x*|^2 <= (1 - gamma mu) |x - x*|^2 - gamma (f(x) - f*) + gamma^2 sigma^2.

Source: Stich and Karimireddy, The error-feedback framework (2020), without delays.
"""

import sympy

import fedtheory as ft

mu, L, gamma, rho, sigma = ft.letters("mu L gamma rho sigma")


def step(problem, params, state, draw):
    gradients = problem.f.gradient(state.x[..., None, :])
    variance = params.rho * (gradients.mean(axis=-2) ** 2).sum(axis=-1) + params.sigma**2
    stochastic = params.noise.apply(draw, gradients, variance[..., None])
    return {"x": state.x - params.gamma * stochastic.mean(axis=-2)}


sgd = ft.method("sgd", step, ["gamma", "rho", "sigma", "noise"], {"x": "point"})
setting = ft.Setting(
    algorithm=sgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.BoundedNoise(),), clients=(1,)
)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F = ft.Quantity("F", ft.gap)
whole, third = (
    ft.one_step(sgd, ft.E(D_next) <= (1 - gamma * mu) * D - gamma * F + c * gamma**2 * sigma**2)
    for c in (1, sympy.Rational(2, 3))
)
short = (2 * gamma * L * (1 + rho) <= 1,)
CLAIMS = (
    ft.Claim("growing-noise/step", setting=setting, statement=whole, requires=short),
    ft.Claim("growing-noise/less-noise", setting=setting, statement=third, requires=short),
)
