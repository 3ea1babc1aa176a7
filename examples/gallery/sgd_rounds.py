"""SGD on strongly convex functions: E|x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2 + gamma sigma^2/mu for gamma <= 1/L.

Source: Bottou, Curtis and Nocedal, Optimization methods for large-scale machine learning (2018), Theorem 4.6; Gower and
others, SGD: general analysis and improved rates (2019), Theorem 3.1.
"""

import fedtheory as ft

mu, L, gamma, sigma = ft.letters("mu L gamma sigma")


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


sgd = ft.method("sgd", step, ["gamma", "sigma", "noise"], {"x": "point"})
noisy = (ft.NoisyGradients(),)
setting = ft.Setting(algorithm=sgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=noisy, clients=(1,))
D_0, D_T = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
one, third = (ft.bound(sgd, ft.E(D_T) <= (1 - gamma * mu) ** ft.T * D_0 + gamma * sigma**2 / (c * mu)) for c in (1, 3))
CLAIMS = (
    ft.Claim("sgd-rounds/last", setting=setting, statement=one, requires=(gamma * L <= 1,)),
    ft.Claim("sgd-rounds/less-noise", setting=setting, statement=third, requires=(gamma * L <= 1,)),
)
