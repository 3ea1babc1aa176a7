"""Compressed gradient descent (DCGD) after T rounds: E|x_T - x*|^2 is at most (1 - gamma mu)^T |x_0 - x*|^2, and what
the gradients at the optimum make: 2 gamma omega/(mu n) times the mean of |grad f_i(x*)|^2.

Source: Khirirat, Feyzmahdavian and Johansson, Distributed learning with compressed gradients (2018); Gorbunov, Hanzely
and Richtarik, A unified theory of SGD (2020), for the constants.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


dcgd = ft.method("dcgd", step, ["gamma", "compressors"], {"x": "point"})
compressed = (ft.UnbiasedCompressors(independent=True),)
setting = ft.Setting(algorithm=dcgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=compressed)
D, H = ft.Quantity("D", ft.distance), ft.Quantity("H", ft.heterogeneity)
rate, neighbourhood = (1 - gamma * mu) ** ft.T, gamma * ft.omega / (mu * ft.n)
small = gamma * L * (1 + 2 * ft.omega / ft.n) <= 1
whole, third = (ft.bound(dcgd, ft.E(D.T) <= rate * D.zero + 2 * neighbourhood / c * H.zero) for c in (1, 3))
CLAIMS = (
    ft.Claim("dcgd-rounds/neighbourhood", setting=setting, statement=whole, requires=(small,)),
    ft.Claim("dcgd-rounds/a-third-of-it", setting=setting, statement=third, requires=(small,)),
)
