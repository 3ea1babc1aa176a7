"""Error feedback: the iterate less the errors that clients still hold descends as if nothing were compressed."""

import fedtheory as ft

mu, L, gamma, alpha = ft.letters("mu L gamma alpha")


def step(problem, params, state, draw):
    wanted = params.gamma * problem.f.gradient(state.x[..., None, :]) + state.e
    sent = params.compressor.apply(draw, wanted)
    return {"x": state.x - sent.sum(axis=-2) / problem.n, "e": wanted - sent}


def virtual(problem, params, state):
    return ((state.x - state.e.sum(axis=-2) / problem.n - problem.x_star) ** 2).sum(axis=-1)


def held(problem, params, state):
    return ((state.e.sum(axis=-2) / problem.n) ** 2).sum(axis=-1)


ef = ft.method("error-feedback", step, ["gamma", "alpha", "compressor"], {"x": "point", "e": "clients"})
setting = ft.Setting(algorithm=ef, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.ContractiveCompressors(),))
three, half = (ft.contracts(ef, virtual, 1 - gamma * mu / 2, {held: c * L * gamma / 2}) for c in (6, 1))
CLAIMS = (
    ft.Claim("error-feedback/virtual", setting=setting, statement=three, requires=(4 * gamma * L <= 1,)),
    ft.Claim("error-feedback/fewer-errors", setting=setting, statement=half, requires=(4 * gamma * L <= 1,)),
)
