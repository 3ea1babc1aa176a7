"""Steps along a strongly monotone and Lipschitz operator: 1 - 2 gamma mu + gamma^2 L^2, which is attained by operators
that turn. For gradients, as which they are asked, (1 - gamma mu)^2 would do.

Source: Facchinei and Pang, Finite-dimensional variational inequalities and complementarity problems (2003).
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


method = ft.method("forward", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.StronglyMonotoneLipschitz(mu, L))
turned = ft.contracts(method, ft.distance, 1 - 2 * gamma * mu + gamma**2 * L**2)
gradient = ft.contracts(method, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (
    ft.Claim("forward-step/step", setting=setting, statement=turned),
    ft.Claim("forward-step/as-of-gradients", setting=setting, statement=gradient, requires=(gamma * (mu + L) <= 2,)),
)
