"""Gradient descent with the stepsizes lambda_k,
min(sqrt(1 + theta_{k-1}) lambda_{k-1}, |x_k - x_{k-1}|/(2 |g_k - g_{k-1}|)),
which needs no constant of f: with theta_k = lambda_k/lambda_{k-1},
|x_{k+1} - x*|^2 + |x_{k+1} - x_k|^2/2 + 2 lambda_k (1 + theta_k) (f(x_k) - f*)
<= |x_k - x*|^2 + |x_k - x_{k-1}|^2/2 + 2 lambda_k theta_k (f(x_{k-1}) - f*).

Source: Malitsky and Mishchenko, Adaptive gradient descent without descent (2020), Lemma 1.
"""

import numpy as np

import fedtheory as ft

L, lam, th = ft.letters("L lam th")


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def square(v):
    return (v**2).sum(axis=-1)


# The state is x_{k-1}, the parameters are lambda_{k-1} and theta_{k-1}.
def current(problem, params, state):
    return state.x - params.lam * slope(problem, state.x)


def stepsize(problem, params, state):
    """min(a, moved/(2 turned)) for a = sqrt(1 + theta) lambda, which is a if the gradient does not change"""
    x, a = current(problem, params, state), np.sqrt(1 + params.th) * params.lam
    moved, turned = np.sqrt(square(x - state.x)), np.sqrt(square(slope(problem, x) - slope(problem, state.x)))
    return a * moved / np.maximum(moved, 2 * a * turned)


def step(problem, params, state, draw):
    x = current(problem, params, state)
    return {"x": x - stepsize(problem, params, state)[..., None] * slope(problem, x)}


def right(problem, params, state):
    """All but |x_{k+1} - x*|^2, on the right side."""
    s, x = stepsize(problem, params, state), current(problem, params, state)
    theta, least = s / params.lam, problem.f.value(problem.x_star[..., None, :]).mean(axis=-1)
    before, now = (problem.f.value(z[..., None, :]).mean(axis=-1) - least for z in (state.x, x))
    kept = square(x - problem.x_star) + square(x - state.x) / 2 + 2 * s * theta * before
    return kept - s**2 * square(slope(problem, x)) / 2 - 2 * s * (1 + theta) * now


method = ft.method("adaptive-gradient-descent", step, ["lam", "th"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(L), clients=(1,))
D, R = ft.Quantity("D", ft.distance), ft.Quantity("R", right)
printed, less = (ft.one_step(method, ft.E(D.next) <= R - c * D / 10) for c in (0, 1))
CLAIMS = (
    ft.Claim("adaptive-gradient/lemma", setting=setting, statement=printed),
    ft.Claim("adaptive-gradient/less", setting=setting, statement=less),
)
