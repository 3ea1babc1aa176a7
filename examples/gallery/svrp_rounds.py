"""SVRP, proximal steps of one client at a time, corrected by gradients at w: E|x_T - x*|^2 over T rounds.

No potential is given: that |w - x*|^2 belongs to it, as w begins at x, is found.
Source: Khaled and Jin, Faster federated optimization under second-order similarity (2023), Theorem 2, where the clients
differ by at most L.
"""

from typing import Any, NamedTuple

import numpy as np
import sympy

import fedtheory as ft

mu, L, eta, p = ft.letters("mu L eta p")


class Draw(NamedTuple):
    client: Any
    coin: Any


def step(problem, params, state, draw):
    at = problem.f.gradient(state.w[..., None, :])
    g = at.sum(axis=-2)[..., None, :] / problem.n - at
    point = state.x[..., None, :] - params.eta * g
    near = problem.f.resolvent(1 / params.eta, point / params.eta)
    x = np.where(np.asarray(draw.client)[..., None], near, 0 * near).sum(axis=-2)
    return {"x": x, "w": np.where(np.asarray(draw.coin)[..., None], x, state.w)}


def draws(problem, params, state):
    return ft.Product(Draw, (ft.UniformSubset(problem.n, 1), ft.Bernoulli(params.p)))


svrp = ft.method("svrp", step, ["eta", "p"], {"x": "point", "w": "point from x"}, draws=draws)
setting = ft.Setting(algorithm=svrp, functions=ft.SmoothStronglyConvex(mu, L), domain=(p <= 1,))
D = ft.Quantity("D", ft.distance)
tau = sympy.Min(eta * mu / (1 + 2 * eta * mu), p / 2)
one, eight = (ft.bound(svrp, ft.E(D.T) <= (1 - c * tau) ** ft.T * (1 + eta * mu / p) * D.zero) for c in (1, 8))
stepsize = sympy.Eq(eta, mu / (2 * L**2))
CLAIMS = (
    ft.Claim("svrp-rounds/last", setting=setting, statement=one, requires=(stepsize,)),
    ft.Claim("svrp-rounds/faster", setting=setting, statement=eight, requires=(stepsize, 4 * p <= 1)),
)
