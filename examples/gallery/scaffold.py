"""SCAFFOLD converges to the optimum: two local steps, corrected by control variates, of all clients in each round.

Source: Karimireddy and others, SCAFFOLD: stochastic controlled averaging for federated learning (2020), Theorem III;
the constants are those of a worst case of this round.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")
K = 2


def step(problem, params, state, draw):
    corrections = state.c - state.c.sum(axis=-2, keepdims=True) / problem.n
    y = state.x[..., None, :] + 0 * state.c
    for _ in range(K):
        y = y - params.gamma * (problem.f.gradient(y) - corrections)
    c = corrections + (state.x[..., None, :] - y) / (K * params.gamma)
    return {"x": y.sum(axis=-2) / problem.n, "c": c}


def rest(problem, params):
    return problem.x_star, problem.y_star


def potential(problem, params, state):
    variates = ((state.c - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n
    return ft.distance(problem, params, state) + (K * params.gamma) ** 2 * variates


scaffold = ft.method("scaffold", step, ["gamma"], {"x": "point", "c": "clients"}, fixed_point=rest)
setting = ft.Setting(algorithm=scaffold, functions=ft.SmoothStronglyConvex(mu, L), clients=(2, 2, 3))
short = (4 * K * gamma * L <= 1,)
rate, faster = (ft.contracts(scaffold, potential, 1 - c * gamma * mu) for c in (1, 4))
CLAIMS = (
    ft.Claim("scaffold/round", setting=setting, statement=rate, requires=short),
    ft.Claim("scaffold/faster", setting=setting, statement=faster, requires=short),
)
