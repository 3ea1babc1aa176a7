"""Error feedback with stepsizes that vary: errors are rescaled by the ratio of the last two stepsizes.

One step behind the error bound of Zheng, Huang and Kwok, Communication-efficient distributed blockwise momentum SGD
with error-feedback (2019), without the server's compression and momentum. They state the bound for any stepsizes,
and have corrected it since. Here r is the last stepsize over the present one, the same in all rounds.
"""

import fedtheory as ft

M, gamma, alpha, r = ft.letters("M gamma alpha r")


def step(problem, params, state, draw):
    wanted = problem.f.gradient(state.x[..., None, :]) + params.r * state.e
    sent = params.compressor.apply(draw, wanted)
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n, "e": wanted - sent}


def held(problem, params, state):
    return (state.e**2).sum(axis=(-1, -2)) / problem.n


def squares_of_gradients(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


ef = ft.method("dist-ef-sgd", step, ["gamma", "r", "alpha", "compressor"], {"x": "point", "e": "clients"})
setting = ft.Setting(algorithm=ef, functions=ft.ConvexLipschitz(M), adversaries=(ft.ContractiveCompressors(),))
H, H_next = ft.Quantity("H", held), ft.Quantity("H_next", held, after=True)
G = ft.Quantity("G", squares_of_gradients)
one = ft.one_step(ef, ft.E(H_next) <= (1 - alpha / 2) * H + 2 * (1 - alpha) / alpha * G)
CLAIMS = (
    ft.Claim("dist-ef-sgd/no-falling-stepsizes", setting=setting, statement=one, requires=(r <= 1, alpha <= 1)),
    ft.Claim("dist-ef-sgd/any-stepsizes", setting=setting, statement=one, requires=(alpha <= 1,)),
)
