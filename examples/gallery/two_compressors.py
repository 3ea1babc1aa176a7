"""Compressed gradient descent in both directions: the clients compress what they send, and the server what it sends.

Source: Philippenko and Dieuleveut, Bidirectional compression in heterogeneous settings for distributed or federated
learning with partial participation (2020), without memory.
"""

from typing import Any, NamedTuple

import fedtheory as ft

mu, L, gamma, omega_s = ft.letters("mu L gamma omega_s")


class Draw(NamedTuple):
    up: Any
    down: Any


def draws(problem, params, state):
    return ft.Product(Draw, (params.compressors.draws, params.down.draws))


def step(problem, params, state, draw):
    sent = params.compressors.apply(draw.up, problem.f.gradient(state.x[..., None, :])).mean(axis=-2)
    received = params.down.apply(draw.down, sent[..., None, :]).mean(axis=-2)
    return {"x": state.x - params.gamma * received}


def variance_of_server(problem, params):
    return params.down.omega


descent = ft.method("two-compressors", step, ["gamma", "compressors", "down"], {"x": "point"}, draws=draws)
functions = ft.SmoothStronglyConvex(mu, L)
letters = {**functions.letters, gamma: "gamma", ft.n: "n", ft.omega: "omega", omega_s: variance_of_server}
both = (ft.UnbiasedCompressors(independent=True), ft.UnbiasedCompressors("down"))
setting = ft.Setting(algorithm=descent, functions=functions, adversaries=both, letters=letters)
D, Y = ft.Quantity("D", ft.distance), ft.Quantity("Y", ft.heterogeneity)
w = ft.omega / ft.n
CLAIMS = tuple(
    ft.Claim(
        f"two-compressors/{name}",
        setting=setting,
        statement=ft.one_step(descent, ft.E(D.next) <= (1 - gamma * mu) * D + 2 * gamma**2 * w * server * Y),
        requires=(gamma * L * server * (1 + 2 * w) <= 1,),
    )
    for name, server in (("step", 1 + omega_s), ("as-one", 1))
)
