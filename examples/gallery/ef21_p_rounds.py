"""EF21-P over T rounds: the server sends a model w by a biased compressor, w begins at x, and gamma <= alpha/(16 L).
|x - x*|^2/(2 gamma) + f(x) - f* falls by 1 - gamma mu/2 a round, with a multiple of |w - x|^2 that is found.

Source: Gruntkowska, Tyurin and Richtarik, EF21-P and friends (2023), Theorem 1.
"""

import fedtheory as ft

mu, L, gamma, alpha = ft.letters("mu L gamma alpha")


def step(problem, params, state, draw):
    x = state.x - params.gamma * problem.f.gradient(state.w[..., None, :]).mean(axis=-2)
    sent = params.compressor.apply(draw, (x - state.w)[..., None, :]).sum(axis=-2)
    return {"x": x, "w": state.w + sent}


def potential(problem, params, state):
    return ft.distance(problem, params, state) / (2 * params.gamma) + ft.gap(problem, params, state)


ef21_p = ft.method("ef21-p", step, ["gamma", "alpha", "compressor"], {"x": "point", "w": "point from x"})
setting = ft.Setting(
    algorithm=ef21_p,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.ContractiveCompressors(),),
    clients=(1,),
)
V_0, V_T = ft.Quantity("V_0", potential), ft.Quantity("V_T", potential, after=True)
one, six = (ft.bound(ef21_p, ft.E(V_T) <= (1 - c * gamma * mu / 2) ** ft.T * V_0) for c in (1, 6))
short = (16 * gamma * L <= alpha,)
CLAIMS = (
    ft.Claim("ef21-p/rounds", setting=setting, statement=one, requires=short),
    ft.Claim("ef21-p/rounds-sixfold", setting=setting, statement=six, requires=short),
)
