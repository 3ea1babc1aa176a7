"""Douglas-Rachford splitting: a smooth and strongly convex f, any convex g, proximal points of both.

The centre z contracts by (1 + delta)/2 with delta = (1 - gamma mu)/(1 + gamma mu), for gamma < 1/L.
Source: Giselsson and Boyd, Linear convergence and metric selection for Douglas-Rachford splitting (2017), Theorem 1.
"""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    shift = 1 / params.gamma
    x = problem.f.resolvent(shift, shift * state.z[..., None, :])
    y = problem.g.resolvent(shift, shift * (2 * x - state.z[..., None, :]))
    return {"z": state.z + (y - x)[..., 0, :]}


def rest(problem, params):
    return splitting.State(problem.x_star + params.gamma * problem.y_star[..., 0, :])


def to_rest(problem, params, state):
    return ((state.z - rest(problem, params).z) ** 2).sum(axis=-1)


splitting = ft.method("douglas-rachford", step, ["gamma"], {"z": "point"}, fixed_point=rest)
setting = ft.Setting(algorithm=splitting, functions=ft.Composite(ft.SmoothStronglyConvex(mu, L)), clients=(1,))
delta = (1 - gamma * mu) / (1 + gamma * mu)
rate, faster = (ft.contracts(splitting, to_rest, ((1 + delta) / 2) ** c) for c in (2, 3))
CLAIMS = (
    ft.Claim("douglas-rachford/step", setting=setting, statement=rate, requires=(gamma * L < 1,)),
    ft.Claim("douglas-rachford/faster", setting=setting, statement=faster, requires=(gamma * L < 1,)),
)
