"""Compressed gradient descent (DCGD): without a memory, as DIANA has one, it stays in a neighbourhood."""

from __future__ import annotations

from typing import Any

import fedtheory as ft
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem

mu, L, gamma = ft.letters("mu L gamma")


def step(problem: Problem, params: Any, state: Any, draw: Array) -> Any:
    """x - gamma (1/n) sum_i C_i(grad f_i(x))."""
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


algorithm = ft.method("dcgd", step, ["gamma", "compressors"], {"x": "point"})
SETTING = ft.Setting(
    algorithm=algorithm,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.UnbiasedCompressors(independent=True),),
)
CLAIMS = (
    ft.Claim(
        id="baseline/dcgd/one-step",
        where="Khirirat, Feyzmahdavian, Johansson 2018; Gorbunov, Hanzely, Richtarik 2020",
        gist="expected contraction of the squared distance, up to the gradients at the optimum",
        origin="observed",
        setting=SETTING,
        statement=ft.contracts(
            algorithm, ft.distance, 1 - gamma * mu, {ft.heterogeneity: 2 * gamma**2 * ft.omega / ft.n}
        ),
        requires=(gamma * L * (1 + 2 * ft.omega / ft.n) <= 1,),
    ),
)
