"""The subgradient method: convex functions with subgradients of length M at most, none of them smooth.

|x+ - x*|^2 <= |x - x*|^2 - 2 gamma (f(x) - f*) + gamma^2 M^2, of which the sum over the rounds is the rate M R/sqrt(T).
Source: Shor (1962); Nesterov, Introductory Lectures (2004), Theorem 3.2.2.
"""

import fedtheory as ft

M, gamma = ft.letters("M gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


method = ft.method("subgradient", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.ConvexLipschitz(M))
F = ft.Quantity("F", ft.gap)
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
full, less = (ft.one_step(method, ft.E(D_next) <= D - 2 * gamma * F + gamma**2 * M**2 * c) for c in (1, 1 - gamma / 10))
CLAIMS = (
    ft.Claim("subgradient/step", setting=setting, statement=full),
    ft.Claim("subgradient/less-noise", setting=setting, statement=less, requires=(gamma <= 1,)),
)
