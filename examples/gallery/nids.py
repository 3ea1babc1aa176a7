"""NIDS, also called exact diffusion: clients that only mix with neighbours reach the optimum, with stepsizes up to 2/L
on every graph. The dual vectors d learn -grad f_i(x*), and I - W is inverted to measure them.

Source: Li, Shi and Yan, A decentralized proximal-gradient method with network independent step-sizes (2019), Theorem 2.
"""

import fedtheory as ft

mu, L, gamma, delta = ft.letters("mu L gamma delta")


def step(problem, params, state, draw):
    local = state.x - params.gamma * (problem.f.gradient(state.x) + state.d)
    mixed = (local + params.W.mix(local)) / 2
    return {"x": mixed, "d": state.d + (local - mixed) / params.gamma}


def rest(problem, params):
    return nids.State(problem.x_star[..., None, :] + 0 * problem.y_star, -problem.y_star)


def balance(problem, params, state):
    return state.d.sum(axis=-2)


def of_points(problem, params, state):
    return ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2))


def of_dual(problem, params, state):
    dual = state.d + problem.y_star
    squares = (dual * (2 * params.W.solve(dual) - dual)).sum(axis=(-1, -2))
    return params.gamma**2 * squares / (1 - params.delta / 2)


nids = ft.method(
    "nids", step, ["gamma", "delta", "W"], {"x": "models", "d": "clients"}, fixed_point=rest, invariant=balance
)
setting = ft.Setting(
    algorithm=nids,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.MixingMatrix(),),
    domain=(delta <= 1, gamma * L <= 2),
)
X, D = ft.Quantity("X", of_points), ft.Quantity("D", of_dual)
rate, faster = (
    ft.one_step(nids, ft.E(X.next + D.next) <= (1 - gamma * mu * (2 - gamma * L)) * X + (1 - c * delta / 2) * D)
    for c in (1, 2)
)
CLAIMS = (
    ft.Claim("nids/step", setting=setting, statement=rate),
    ft.Claim("nids/faster", setting=setting, statement=faster),
)
