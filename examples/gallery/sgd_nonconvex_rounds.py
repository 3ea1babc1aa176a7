"""SGD without convexity: the mean of E|grad f(x_t)|^2, t < T, is at most 2 (f(x_0) - f*)/(gamma T) + gamma L sigma^2.

The mean is what is expected of an iterate that is drawn uniformly.
Source: Ghadimi and Lan, Stochastic first- and zeroth-order methods for nonconvex stochastic programming (2013),
Theorem 2.1.
"""

import fedtheory as ft

L, gamma, sigma = ft.letters("L gamma sigma")


def mean_gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


def square_of_gradient(problem, params, state):
    return (mean_gradient(problem, state.x) ** 2).sum(axis=-1)


sgd = ft.method("sgd", step, ["gamma", "sigma", "noise"], {"x": "point"})
setting = ft.Setting(algorithm=sgd, functions=ft.Smooth(L), adversaries=(ft.NoisyGradients(),), clients=(1,))
F_0, G = ft.Quantity("F_0", ft.gap), ft.Quantity("G", square_of_gradient)
two, less = (
    ft.bound(sgd, ft.E(ft.average(G)) <= c * F_0 / (gamma * ft.T) + gamma * L * sigma**2, since=1) for c in (2, 1)
)
CLAIMS = (
    ft.Claim("sgd-nonconvex-rounds/mean", setting=setting, statement=two, requires=(gamma * L <= 1,)),
    ft.Claim("sgd-nonconvex-rounds/half", setting=setting, statement=less, requires=(gamma * L <= 1,)),
)
