"""Scafflix after T rounds, each client with a stepsize of its own: E Psi_T <= max(1 - gamma_min mu, 1 - p^2)^T Psi_0.

Source: Yi, Condat and Richtarik, Explicit personalization and local training: double communication acceleration in
federated learning (2023), Theorem 1 without personalization.
"""

import numpy as np
import sympy

import fedtheory as ft

mu, L, p, least, largest = ft.letters("mu L p gamma_min gamma_max")


def step(problem, params, state, draw):
    stepsize = params.gamma[..., None]
    local = state.x - stepsize * (problem.f.gradient(state.x) - state.h)
    mean = (local / stepsize).sum(axis=-2) / (1 / params.gamma).sum()
    x = np.where(draw[..., None, None], mean[..., None, :], local)
    return {"x": x, "h": state.h + params.p / stepsize * (x - local)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


def rest(problem, params):
    return {"x": problem.x_star[..., None, :] + 0 * problem.y_star, "h": problem.y_star}


def balance(problem, params, state):
    return state.h.sum(axis=-2)


def potential(problem, params, state):
    apart = ((state.x - problem.x_star[..., None, :]) ** 2).sum(axis=-1) / params.gamma
    control = ((state.h - problem.y_star) ** 2).sum(axis=-1) * params.gamma / params.p**2
    return (apart + control).sum(axis=-1)


def short(problem, params):
    """gamma_i L_i <= 1 for each client"""
    return 1 - params.gamma * problem.f.L


scafflix = ft.method(
    "scafflix",
    step,
    ["gamma", "p"],
    {"x": "clients", "h": "clients"},
    draws=draws,
    fixed_point=rest,
    invariant=balance,
)
setting = ft.Setting(
    algorithm=scafflix,
    functions=ft.SmoothEach(mu, L),
    own=("gamma",),
    letters={
        least: lambda problem, params: min(params.gamma),
        largest: lambda problem, params: max(params.gamma),
    },
    domain=(p <= 1,),
)
Psi = ft.Quantity("Psi", potential)
CLAIMS = tuple(
    ft.Claim(
        f"scafflix-rounds/{name}",
        setting=setting,
        statement=ft.bound(scafflix, ft.E(Psi.T) <= sympy.Max(1 - stepsize * mu, 1 - p**2) ** ft.T * Psi.zero),
        requires=(ft.each(short),),
    )
    for name, stepsize in (("bound", least), ("longest-stepsize", largest))
)
