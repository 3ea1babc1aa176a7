"""Signs of gradients without convexity: x+ = x - delta sign(grad f(x)). The mean of the sums of absolute values of the
coordinates of grad f over T rounds is at most (f(x_0) - f*)/(delta T) + delta L d/2.

Source: the case without noise of Bernstein et al., signSGD (2018), Theorem 1.
"""

import numpy as np

import fedtheory as ft

L, delta, d = ft.letters("L delta d")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def step(problem, params, state, draw):
    return {"x": state.x - params.delta * np.sign(slope(problem, state.x))}


def measure(problem, params, state):
    """The sum of the absolute values of the coordinates of grad f(x)."""
    return np.abs(slope(problem, state.x)).sum(axis=-1)


signs = ft.method("sign-gradient-descent", step, ["delta"], {"x": "point"})
setting = ft.Setting(algorithm=signs, functions=ft.Smooth(L))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", measure)
two, six = (ft.bound(signs, ft.E(ft.average(G)) <= F_0 / (delta * ft.T) + delta * L * d / c, since=1) for c in (2, 6))
CLAIMS = (
    ft.Claim("sign-gradient/rounds", setting=setting, statement=two),
    ft.Claim("sign-gradient/a-third", setting=setting, statement=six),
)
