"""Heavy ball: gradient descent with momentum decreases f(x) - f* + delta |x - before|^2, iPiano's Lyapunov function."""

import fedtheory as ft

mu, L, gamma, beta = ft.letters("mu L gamma beta")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope + params.beta * (state.x - state.before), "before": state.x}


def energy(problem, params, state):
    delta = (1 - params.beta / 2) / params.gamma - problem.L / 2
    return ft.gap(problem, params, state) + delta * ((state.x - state.before) ** 2).sum(axis=-1)


heavy_ball = ft.method("heavy-ball", step, ["gamma", "beta"], {"x": "point", "before": "point"})
setting = ft.Setting(algorithm=heavy_ball, functions=ft.SmoothStronglyConvex(mu, L))
decrease = ft.contracts(heavy_ball, energy, 1)
CLAIMS = (
    ft.Claim("heavy-ball/decrease", setting=setting, statement=decrease, requires=(gamma * L <= 2 * (1 - beta),)),
    ft.Claim("heavy-ball/longer-steps", setting=setting, statement=decrease, requires=(gamma * L <= 2 - beta,)),
)
