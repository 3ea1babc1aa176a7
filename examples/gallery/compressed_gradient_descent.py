"""Compressed gradient descent (DCGD) contracts up to a neighbourhood that the gradients at the optimum make."""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


dcgd = ft.method("dcgd", step, ["gamma", "compressors"], {"x": "point"})
noisy = ft.UnbiasedCompressors(independent=True)
setting = ft.Setting(algorithm=dcgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(noisy,))
small = gamma * L * (1 + 2 * ft.omega / ft.n) <= 1
full, half = (
    ft.contracts(dcgd, ft.distance, 1 - gamma * mu, {ft.heterogeneity: c * gamma**2 * ft.omega / ft.n}) for c in (2, 1)
)
CLAIMS = (
    ft.Claim("dcgd/neighbourhood", setting=setting, statement=full, requires=(small,)),
    ft.Claim("dcgd/half-the-noise", setting=setting, statement=half, requires=(small,)),
)
