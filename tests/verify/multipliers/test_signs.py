"""Signs of coordinates as vectors. Every attack is a false statement that only these vectors could let through."""

import numpy as np
import pytest

import fedtheory as ft
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

L, gamma, d, sigma, p = ft.letters("L gamma d sigma p")
LITTLE = STEP // 20


def slopes(problem, x):
    return problem.f.gradient(x[..., None, :])


def slope(problem, x):
    return slopes(problem, x).mean(axis=-2)


def signs(problem, params, state, draw):
    return {"x": state.x - params.gamma * np.sign(slope(problem, state.x))}


def signs_of_x(problem, params, state, draw):
    return {"x": state.x - params.gamma * np.sign(state.x)}


def opposite(problem, params, state, draw):
    return {"x": state.x + params.gamma * np.sign(-slope(problem, state.x))}


def signs_of_each(problem, params, state, draw):
    return {"x": state.x - params.gamma * np.sign(slopes(problem, state.x)).mean(axis=-2)}


def signs_of_noisy(problem, params, state, draw):
    noisy = params.noise.apply(draw, slopes(problem, state.x)).mean(axis=-2)
    return {"x": state.x - params.gamma * np.sign(noisy)}


def by_a_coin(problem, params, state, draw):
    moved = state.x - params.gamma * np.sign(slope(problem, state.x))
    return {"x": np.where(np.asarray(draw)[..., None], moved, state.x)}


def coin(problem, params, state):
    return ft.Bernoulli(params.p)


def one_norm(problem, params, state):
    return np.abs(slope(problem, state.x)).sum(axis=-1)


def one_norm_by_name(problem, params, state):
    return np.linalg.norm(slope(problem, state.x), 1, axis=-1)


def mean_one_norm(problem, params, state):
    return np.abs(slopes(problem, state.x)).sum(axis=-1).mean(axis=-1)


def square(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def against_x(problem, params, state):
    return (slope(problem, state.x) * np.sign(state.x)).sum(axis=-1)


def size_of_signs(problem, params, state):
    return (np.sign(state.x) ** 2).sum(axis=-1)


F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, N, M = ft.Quantity("G", one_norm), ft.Quantity("N", one_norm_by_name), ft.Quantity("M", mean_one_norm)
S, A, Z = ft.Quantity("S", square), ft.Quantity("A", against_x), ft.Quantity("Z", size_of_signs)
NOISY = {"adversaries": (ft.NoisyGradients(),)}


def shown(step, relation, params=("gamma",), draws=None, **more):
    method = ft.method("m", step, list(params), {"x": "point"}, draws=draws)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), **more)
    stepping = F_next in relation.quantities
    statement = ft.one_step(method, relation) if stepping else ft.inequality(relation)
    claim = ft.Claim("mine/step", setting=setting, statement=statement)
    return not isinstance(prove(claim, LITTLE), str)


def descent(of=G, share=2, dimension=d):
    return ft.E(F_next) <= F - gamma * of + gamma**2 * L * dimension / share


TRUE = {
    "signs": (signs, descent(), {}),
    "the first norm by its name": (signs, descent(N), {}),
    "signs of the opposite vector": (opposite, descent(), {}),
    "by a coin": (
        by_a_coin,
        ft.E(F_next) <= F - p * gamma * G + p * gamma**2 * L * d / 2,
        {"params": ("gamma", "p"), "draws": coin, "domain": (p <= 1,)},
    ),
    "a norm is not negative": (signs, G >= 0, {}),
    "no other signs give more": (signs, G - A >= 0, {}),
    "the norm of a mean is at most the mean of norms": (signs, M - G >= 0, {}),
    "at most d coordinates": (signs, d - Z >= 0, {}),
}
FALSE = {
    "a third of what is lost": (signs, descent(share=3), {}),
    "one coordinate for d": (signs, descent(dimension=1), {}),
    "twice the descent": (signs, ft.E(F_next) <= F - 2 * gamma * G + gamma**2 * L * d / 2, {}),
    "signs of another vector": (signs_of_x, descent(), {}),
    "signs of each client": (signs_of_each, descent(M), {}),
    "signs of each client, and the norm of the mean": (signs_of_each, descent(), {}),
    "signs of noisy gradients": (signs_of_noisy, descent(), {"params": ("gamma", "sigma", "noise"), **NOISY}),
    "other signs give no less": (signs, A >= 0, {}),
    "a norm is its square": (signs, G - S >= 0, {}),
    "a square is its root": (signs, S - G >= 0, {}),
    "the mean of norms is at most the norm of the mean": (signs, G - M >= 0, {}),
    "no coordinate is 0": (signs, Z - d >= 0, {}),
    "at most one coordinate": (signs, 1 - Z >= 0, {}),
    "some coordinate is not 0": (signs, Z - 1 >= 0, {}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_is_proved(name):
    step, relation, more = TRUE[name]
    assert shown(step, relation, **more)


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not_proved(name):
    step, relation, more = FALSE[name]
    assert not shown(step, relation, **more)
