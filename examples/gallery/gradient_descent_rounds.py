"""Gradient descent without convexity: min_{t<T} |grad f(x_t)|^2 <= 2 (f(x_0) - f*)/(gamma T) for gamma <= 1/L.

The descent lemma, added over the rounds.
Source: Nesterov, Introductory Lectures (2004), eq. (1.2.13).
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
setting = ft.Setting(algorithm=gd, functions=ft.Smooth(L))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", square_of_gradient)
two, one = (ft.bound(gd, ft.minimum(G, expected=True) <= c * F_0 / (gamma * ft.T), since=1) for c in (2, 1))
CLAIMS = (
    ft.Claim("gradient-descent-rounds/least", setting=setting, statement=two, requires=(gamma * L <= 1,)),
    ft.Claim("gradient-descent-rounds/half", setting=setting, statement=one, requires=(gamma * L <= 1,)),
)
