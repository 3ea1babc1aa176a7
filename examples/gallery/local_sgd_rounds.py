"""Local SGD with two noisy steps a round, on convex functions: f at the average of x_0, ..., x_{T-1} is above f* by
|x_0 - x*|^2/(gamma T) at most, by 4 gamma sigma^2/n, and by what local steps drift apart, 8 gamma^2 L (H + sigma^2),
where H is the mean of |grad f_i(x*)|^2.

Source: Khaled, Mishchenko and Richtarik, Tighter theory for local SGD on identical and heterogeneous data (2020), for
two local steps and with constants that are proved here.
"""

from typing import NamedTuple

import fedtheory as ft

L, gamma, sigma = ft.letters("L gamma sigma")


class Steps(NamedTuple):
    """What the two local steps draw."""

    first: object
    second: object


def step(problem, params, state, draw):
    x = state.x[..., None, :]
    y = x - params.gamma * params.noise.apply(draw.first, problem.f.gradient(x))
    y = y - params.gamma * params.noise.apply(draw.second, problem.f.gradient(y))
    return {"x": y.sum(axis=-2) / problem.n}


def draws(problem, params, state):
    return ft.Product(Steps, (params.noise.draws, params.noise.draws))


local_sgd = ft.method("local-sgd", step, ["gamma", "sigma", "noise"], {"x": "point"}, draws=draws)
noisy = (ft.NoisyGradients(independent=True),)
setting = ft.Setting(algorithm=local_sgd, functions=ft.SmoothConvex(L), adversaries=noisy)
D, F, H = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap), ft.Quantity("H", ft.heterogeneity)


def bound(noise, drift):
    neighbourhood = noise * gamma * sigma**2 / ft.n + drift * gamma**2 * L * (H.zero + sigma**2)
    return ft.bound(local_sgd, ft.E(ft.at_average(F)) <= D.zero / (gamma * ft.T) + neighbourhood, since=1)


CLAIMS = tuple(
    ft.Claim(f"local-sgd-rounds/{name}", setting=setting, statement=bound(*constants), requires=(8 * gamma * L <= 1,))
    for name, constants in (("average", (4, 8)), ("exact", (0, 0)))
)
