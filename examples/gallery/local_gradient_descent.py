"""Local gradient descent, H steps a round: contracts up to the drift of the clients' own optima."""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")
H = 3


def locally(problem, params, x):
    for _ in range(H):
        x = x - params.gamma * problem.f.gradient(x)
    return x


def step(problem, params, state, draw):
    return {"x": locally(problem, params, state.x[..., None, :]).sum(axis=-2) / problem.n}


def drift(problem, params, state):
    x = problem.x_star[..., None, :]
    return ((locally(problem, params, x) - x) ** 2).sum(axis=(-1, -2)) / problem.n


local = ft.method("local-gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=local, functions=ft.SmoothStronglyConvex(mu, L))
q, faster = (1 - gamma * mu) ** H, (1 - gamma * mu) ** (2 * H + 1)
round_, too_fast = (ft.contracts(local, ft.distance, c, {drift: 1 / (1 - c)}) for c in (q, faster))
CLAIMS = (
    ft.Claim("local-gd/round", setting=setting, statement=round_, requires=(gamma * L <= 1,)),
    ft.Claim("local-gd/too-fast", setting=setting, statement=too_fast, requires=(gamma * L <= 1,)),
)
