"""What depends on the state, or on what is drawn, has no name that it keeps after a step: a proof would take it for one
number before and after."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from verify.base.evaluate import meeting
from verify.multipliers import linking
from verify.reading.source import Unread
from verify.search import hunting

mu, L, gamma = ft.letters("mu L gamma")
tau = ft.integers("tau")


def gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * gradient(problem, state.x), "h": state.h}


def product(problem, params, state):
    return ((state.x - problem.x_star) * state.h).sum(axis=-1)


def largest(problem, params, state):
    """The largest |f_i'(x) - f_i'(x*)|^2, which a step of gradient descent may enlarge."""
    return ((problem.f.gradient(state.x[..., None, :]) - problem.y_star) ** 2).sum(axis=-1).max(axis=-1)


def after_local_steps(problem, params, state):
    x = state.x
    for _ in range(params.tau):
        x = x - params.gamma * gradient(problem, x)
    return ((x - problem.x_star) ** 2).sum(axis=-1)


def with_a_coin(problem, params, state, draw):
    x = state.x
    for _ in range(params.tau):
        x = x + problem.n * draw[..., None] * state.h
    return {"x": problem.x_star + (draw * 1 - Fraction(1, 2))[..., None] * x, "h": state.h}


def with_a_coin_before(problem, params, state, draw):
    x = problem.n * draw[..., None] * state.h
    for _ in range(params.tau):
        x = x * 1
    return {"x": problem.x_star + (draw * 1 - Fraction(1, 2))[..., None] * x, "h": state.h}


def coin(problem, params, state):
    return ft.Bernoulli(Fraction(1, 2))


CASES = {
    "the largest number of a client": (descent, largest, 1, {}),
    "a quantity with a loop": (descent, after_local_steps, 1, {}),
    "a step whose loop uses a coin": (with_a_coin, product, 1000, {"draws": coin}),
    "a step whose loop begins at a coin": (with_a_coin_before, product, 1000, {"draws": coin}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_false_claim_is_not_proved(name):
    step, of, factor, more = CASES[name]
    rest = {"fixed_point": lambda problem, params: {"x": problem.x_star, "h": 0 * problem.x_star}}
    method = ft.method("own", step, ["gamma", "tau"], {"x": "point", "h": "point"}, **rest, **more)
    V, V_next = (ft.Quantity(name, of, after=name == "V_next") for name in ("V", "V_next"))
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=(1, 2, 3),
        drawing=ft.Drawing(start=("x", "h")),
    )
    said = ft.one_step(method, ft.E(V_next) <= factor * V)
    claim = ft.Claim("own/named", setting=setting, statement=said, requires=(gamma * L <= 1, tau <= 3))
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    seen = [instance for _, instance in meeting(claim, islice(recipes, 30))]
    with pytest.raises(Unread, match=r"depend on the state|outside of a step|uses what is drawn"):
        linking.prove(claim, seen, np.random.default_rng(0), 1)
