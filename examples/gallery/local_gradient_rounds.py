"""Two local gradient steps a round, without convexity, where gradients of clients differ by zeta at most: the mean of
|grad f(x_t)|^2, t < T, is at most 2 (f(x_0) - f*)/(gamma T) and what local steps drift apart, 4 (gamma L zeta)^2.

Source: Yu, Yang and Zhu, Parallel restarted SGD with faster convergence and less communication (2019); Koloskova and
others, A unified theory of decentralized SGD with changing topology and local updates (2020), without noise.
"""

import fedtheory as ft

L, gamma, zeta = ft.letters("L gamma zeta")


def step(problem, params, state, draw):
    once = state.x[..., None, :] - params.gamma * problem.f.gradient(state.x[..., None, :])
    twice = once - params.gamma * problem.f.gradient(once)
    return {"x": twice.sum(axis=-2) / problem.n}


def square_of_gradient(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]).mean(axis=-2) ** 2).sum(axis=-1)


local = ft.method("local-gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=local, functions=ft.BoundedDissimilarity(ft.Smooth(L), zeta))
F, G = ft.Quantity("F", ft.gap), ft.Quantity("G", square_of_gradient)
drift = (2 * gamma * L * zeta) ** 2
whole, none = (
    ft.bound(local, ft.E(ft.average(G)) <= 2 * F.zero / (gamma * ft.T) + more, since=1) for more in (drift, 0)
)
CLAIMS = (
    ft.Claim("local-gradient-rounds/drift", setting=setting, statement=whole, requires=(8 * gamma * L <= 1,)),
    ft.Claim("local-gradient-rounds/no-drift", setting=setting, statement=none, requires=(8 * gamma * L <= 1,)),
)
