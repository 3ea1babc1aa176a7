"""Proximal gradient (ISTA) for f + g, F(x_T) - F* <= |x_0 - x*|^2/(2 gamma T), and the same at averages.

Source: Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009), Theorem 3.1.
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    target = (state.x - params.gamma * slope)[..., None, :]
    return {"x": problem.g.resolvent(1 / params.gamma, target / params.gamma)[..., 0, :]}


ista = ft.method("ista", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=ista, functions=ft.Composite(ft.SmoothConvex(L)))
F, D = ft.Quantity("F", ft.composite_gap), ft.Quantity("D", ft.distance)
short = (gamma * L <= 1,)


def claimed(name, relation):
    statement = ft.bound(ista, relation, since=1)
    return ft.Claim(f"proximal-gradient-rounds/{name}", setting=setting, statement=statement, requires=short)


CLAIMS = (
    claimed("last", ft.E(F.T) <= D.zero / (2 * gamma * ft.T)),
    claimed("average", ft.E(ft.at_average(F, 1, ft.T)) <= D.zero / (2 * gamma * ft.T)),
    claimed("faster", ft.E(F.T) <= D.zero / (8 * gamma * ft.T)),
)
