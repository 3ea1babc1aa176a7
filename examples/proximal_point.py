"""The proximal point method, for one function: the contraction of an exact step."""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    target = state.x[..., None, :] / params.gamma
    return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}


prox = ft.method("proximal-point", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=prox, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = (
    ft.Claim("prox/step", setting=setting, statement=ft.contracts(prox, ft.distance, 1 / (1 + gamma * mu) ** 2)),
    ft.Claim("prox/faster", setting=setting, statement=ft.contracts(prox, ft.distance, 1 / (1 + gamma * mu) ** 3)),
)
