"""SGD on strongly convex functions: f at the average of the iterates with weights (1 - gamma mu)^-(t+1), t < T.

It is at most |x_0 - x*|^2/(gamma W) + gamma sigma^2 above f*, where W is the sum of the weights, for gamma <= 1/(2L).
Source: Stich, Unified optimal analysis of the (stochastic) gradient method (2019), Section 3.
"""

import sympy

import fedtheory as ft

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")
k, T = ft.round_index, ft.T
weight = (1 - gamma * mu) ** (-(k + 1))
W = sympy.Sum(weight, (k, 0, T - 1))


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


sgd = ft.method("sgd", step, ["gamma", "sigma", "noise"], {"x": "point"})
noisy = (ft.NoisyGradients(),)
setting = ft.Setting(algorithm=sgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=noisy, clients=(1,))
F, D_0 = ft.Quantity("F", ft.gap), ft.Quantity("D_0", ft.distance)
one, four = (
    ft.bound(sgd, ft.E(ft.at_average(F, weight=weight)) <= D_0 / (c * gamma * W) + gamma * sigma**2, since=1)
    for c in (1, 4)
)
short = (2 * gamma * L <= 1,)
CLAIMS = (
    ft.Claim("sgd-weighted-average/rounds", setting=setting, statement=one, requires=short),
    ft.Claim("sgd-weighted-average/faster", setting=setting, statement=four, requires=short),
)
