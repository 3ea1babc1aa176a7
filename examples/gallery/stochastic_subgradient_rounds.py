"""Stochastic subgradients g with E|g|^2 <= M^2 + sigma^2, at the average of T iterates:
E f(average) - f* <= |x_0 - x*|^2/(2 gamma T) + gamma (M^2 + sigma^2)/2.

Source: Nemirovski, Juditsky, Lan and Shapiro, Robust stochastic approximation approach to stochastic programming
(2009), Section 2.2, where M^2 + sigma^2 is M_*^2.
"""

import fedtheory as ft

M, gamma, sigma = ft.letters("M gamma sigma")


def step(problem, params, state, draw):
    stochastic = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * stochastic.sum(axis=-2) / problem.n}


sgd = ft.method("stochastic-subgradient", step, ["gamma", "sigma", "noise"], {"x": "point"})
setting = ft.Setting(algorithm=sgd, functions=ft.ConvexLipschitz(M), adversaries=(ft.NoisyGradients(),), clients=(1,))
F, D = ft.Quantity("F", ft.gap), ft.Quantity("D", ft.distance)


def claimed(name, share):
    most = D.zero / (2 * gamma * ft.T) + gamma * (M**2 + sigma**2) / share
    statement = ft.bound(sgd, ft.E(ft.at_average(F)) <= most, since=1)
    return ft.Claim(f"stochastic-subgradient-rounds/{name}", setting=setting, statement=statement)


CLAIMS = (claimed("average", 2), claimed("less-noise", 4))
