"""The subgradient method: f at the average of x_0, ..., x_{T-1} is at most R^2/(2 gamma T) + gamma M^2/2 above f*.

With gamma = R/(M sqrt(T)) that is M R/sqrt(T).
Source: Bubeck, Convex Optimization: Algorithms and Complexity (2015), Theorem 3.2.
"""

import fedtheory as ft

M, gamma = ft.letters("M gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


method = ft.method("subgradient", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.ConvexLipschitz(M))
F, D_0 = ft.Quantity("F", ft.gap), ft.Quantity("D_0", ft.distance)
half, fifth = (
    ft.bound(method, ft.E(ft.at_average(F)) <= D_0 / (2 * gamma * ft.T) + gamma * M**2 / c, since=1) for c in (2, 5)
)
CLAIMS = (
    ft.Claim("subgradient-rounds/average", setting=setting, statement=half),
    ft.Claim("subgradient-rounds/less", setting=setting, statement=fifth),
)
