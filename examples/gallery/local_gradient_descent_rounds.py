"""Two local gradient steps a round: f at the average of all 2T local means, up to what differs between the clients.

The mean of f - f* over the 2T points is at most |x_0 - x*|^2/(gamma T) + 96 gamma^2 L S for gamma <= 1/(8L), where
S = (1/n) sum_i |grad f_i(x*)|^2 is added in every round.
Source: Khaled, Mishchenko and Richtarik, First analysis of local GD on heterogeneous data (2019), Theorem 1.
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def mean_value(problem, x):
    return problem.f.value(x[..., None, :]).mean(axis=-1)


def after_one(problem, params, x):
    return x[..., None, :] - params.gamma * problem.f.gradient(x[..., None, :])


def step(problem, params, state, draw):
    x = after_one(problem, params, state.x)
    return {"x": (x - params.gamma * problem.f.gradient(x)).mean(axis=-2)}


def mean_gap(problem, params, state):
    middle = after_one(problem, params, state.x).mean(axis=-2)
    both = mean_value(problem, state.x) + mean_value(problem, middle)
    return both / 2 - mean_value(problem, problem.x_star)


gd = ft.method("local-gd", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L))
G, D, S = ft.Quantity("G", mean_gap), ft.Quantity("D", ft.distance), ft.Quantity("S", ft.heterogeneity)
one, eighth = (
    ft.bound(gd, ft.E(ft.average(G)) <= D.zero / (c * gamma * ft.T) + 96 * gamma**2 * L * S, since=1) for c in (1, 8)
)
short = (8 * gamma * L <= 1,)
CLAIMS = (
    ft.Claim("local-gradient-descent-rounds/mean", setting=setting, statement=one, requires=short),
    ft.Claim("local-gradient-descent-rounds/eighth", setting=setting, statement=eighth, requires=short),
)
