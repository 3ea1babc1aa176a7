"""Gradient descent on convex functions: after T rounds |grad f(x_T)| is at most L |x_0 - x*|/(1 + T gamma L).

No potential is given: that f - f* belongs to it, with a weight that grows with the rounds, is found.
Source: Teboulle and Vaisbourd, An elementary approach to tight worst case complexity analysis of gradient based methods
(2023).
"""

import fedtheory as ft

L, gamma = ft.letters("L gamma")


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * mean_gradient(problem, state.x)}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothConvex(L), clients=(1,))
D, G = ft.Quantity("D", ft.distance), ft.Quantity("G", square_of_gradient)
one, two = (ft.bound(gd, ft.E(G.T) <= L**2 * D.zero / (1 + c * ft.T * gamma * L) ** 2) for c in (1, 2))
CLAIMS = (
    ft.Claim("gradient-norm-rounds/last", setting=setting, statement=one, requires=(gamma * L <= 1,)),
    ft.Claim("gradient-norm-rounds/twice", setting=setting, statement=two, requires=(gamma * L <= 1,)),
)
