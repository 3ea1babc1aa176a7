"""EF21-P: the server sends a model w by a biased compressor, and the clients' gradients are those at w.

V = |x - x*|^2 + (8 gamma L/alpha) |w - x|^2 falls by 1 - gamma mu/2 a step, for gamma <= alpha/(16L).
Source: Gruntkowska, Tyurin and Richtarik, EF21-P and friends (2023).
"""

import fedtheory as ft

mu, L, gamma, alpha = ft.letters("mu L gamma alpha")


def step(problem, params, state, draw):
    x = state.x - params.gamma * problem.f.gradient(state.w[..., None, :]).mean(axis=-2)
    sent = params.compressor.apply(draw, (x - state.w)[..., None, :]).sum(axis=-2)
    return {"x": x, "w": state.w + sent}


def potential(problem, params, state):
    error = ((state.w - state.x) ** 2).sum(axis=-1)
    return ft.distance(problem, params, state) + 8 * params.gamma * problem.L / params.alpha * error


ef21_p = ft.method("ef21-p", step, ["gamma", "alpha", "compressor"], {"x": "point", "w": "point"})
setting = ft.Setting(
    algorithm=ef21_p,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.ContractiveCompressors(),),
    clients=(1,),
)
one, six = (ft.contracts(ef21_p, potential, 1 - c * gamma * mu / 2) for c in (1, 6))
short = (16 * gamma * L <= alpha,)
CLAIMS = (
    ft.Claim("ef21-p/step", setting=setting, statement=one, requires=short),
    ft.Claim("ef21-p/sixfold", setting=setting, statement=six, requires=short),
)
