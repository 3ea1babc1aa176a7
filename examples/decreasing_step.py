"""Gradient descent with stepsizes c / (k + 1): the contraction of every round k."""

import fedtheory as ft

mu, L, c = ft.letters("mu L c")
k = ft.round_index
gamma = c / (k + 1)


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


decreasing = ft.method("decreasing-step", step, ["c"], {"x": "point"}, schedules={"gamma": gamma})
setting = ft.Setting(algorithm=decreasing, functions=ft.SmoothStronglyConvex(mu, L))
contraction = ft.contracts(decreasing, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (
    ft.Claim("decreasing-step/round", setting=setting, statement=contraction, requires=(gamma * (mu + L) <= 2,)),
    ft.Claim("decreasing-step/longer-steps", setting=setting, statement=contraction, requires=(gamma * L <= 2,)),
)
