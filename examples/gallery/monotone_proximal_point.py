"""The proximal point method for a strongly monotone operator, which need not be the gradient of a function: a step
contracts by 1/(1 + gamma mu).

Source: Rockafellar, Monotone operators and the proximal point algorithm (1976).
"""

import fedtheory as ft

mu, gamma = ft.letters("mu gamma")


def step(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma)[..., 0, :]}


method = ft.method("proximal-point", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.StronglyMonotone(mu), clients=(1,))
square, fourth = (ft.contracts(method, ft.distance, 1 / (1 + gamma * mu) ** power) for power in (2, 3))
CLAIMS = (
    ft.Claim("monotone-proximal-point/step", setting=setting, statement=square),
    ft.Claim("monotone-proximal-point/faster", setting=setting, statement=fourth),
)
