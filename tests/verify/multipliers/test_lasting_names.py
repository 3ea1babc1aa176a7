"""What depends on the state, or on what is drawn, has no name that it keeps after a step: a proof would take it for one
number before and after."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.numbers.rational import is_exact
from fedtheory.randomness import expectation, support_of
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
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


def of_one_client(problem, params, state, draw):
    """The error of one client's compressor, and the errors of all."""
    e = params.compressors.apply(draw, state.c) - state.c
    return {"x": problem.x_star + e[..., params.i, :], "h": state.h, "c": e}


def with_the_sum(problem, params, state):
    return ((state.x - problem.x_star) * state.c.sum(axis=-2)).sum(axis=-1)


def size(problem, params, state):
    return (state.c**2).sum(axis=(-1, -2))


def asked_at_messages(problem, params, state):
    """E sum_i <C_i(c_i) - c_i, grad f_i(C_i(c_i))>, which is no less than 0 for convex f_i."""
    draws, p = support_of(params.compressors.draws, is_exact(state.c))
    made = params.compressors.apply(draws, state.c[..., None, :, :])
    error = made - state.c[..., None, :, :]
    return expectation((error * problem.f.gradient(made)).sum(axis=(-1, -2)), p)


def keep(problem, params, state, draw):
    return state


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
        client_proofs.prove(claim, seen, np.random.default_rng(0), 1)


@pytest.mark.parametrize("said", ["one client's message", "a gradient at messages"])
def test_what_compressors_draw_is_not_taken_for_fixed(said):
    i = ft.integers("i")
    rest = {
        "fixed_point": lambda problem, params: {
            "x": problem.x_star,
            "h": 0 * problem.x_star,
            "c": 0 * problem.y_star,
        },
        "draws": lambda problem, params, state: params.compressors.draws,
    }
    parts = {"x": "point", "h": "point", "c": "clients"}
    step = of_one_client if said == "one client's message" else keep
    method = ft.method("own", step, ["compressors", "i"], parts, **rest)
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        adversaries=(ft.UnbiasedCompressors(independent=True),),
        letters=(mu, L, i, ft.n, ft.omega),
        drawing=ft.Drawing(start=tuple(parts)),
    )
    if step is of_one_client:
        V, W = ft.Quantity("V", with_the_sum, after=True), ft.Quantity("W", size)
        statement = ft.one_step(method, ft.E(V) <= 0 * W)
    else:
        V, W = ft.Quantity("V", asked_at_messages), ft.Quantity("W", size)
        statement = ft.inequality(V <= 0 * W)
    claim = ft.Claim("own/messages", setting=setting, statement=statement, requires=(i <= ft.n - 1,))
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    seen = [instance for _, instance in meeting(claim, islice(recipes, 30))]
    with pytest.raises(Unread, match=r"what is drawn|something drawn"):
        client_proofs.prove(claim, seen, np.random.default_rng(0), 1)


def drawn_sums(problem, params, state):
    """E <sum m_i h_i - (tau/n) sum h_i, sum m_j (h_j + k_j)> over all subsets of tau clients."""
    masks, p = support_of(ft.UniformSubset(problem.n, params.tau), True)
    h, k = (part[..., None, :, :] for part in (state.h, state.k))
    one = np.where(masks[..., None], h, 0).sum(axis=-2) - params.tau * h.sum(axis=-2) / problem.n
    other = np.where(masks[..., None], h + k, 0).sum(axis=-2)
    return expectation((one * other).sum(axis=-1), p)


def test_a_sum_that_is_drawn_has_no_name_in_an_expectation():
    rest = {"fixed_point": lambda problem, params: {"h": 0 * problem.y_star, "k": 0 * problem.y_star}}
    method = ft.method("own", keep, ["tau"], {"h": "clients", "k": "clients"}, **rest)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), letters=(tau, ft.n))
    V = ft.Quantity("V", drawn_sums)
    W = ft.Quantity("W", lambda problem, params, state: (state.h**2 + state.k**2).sum(axis=(-1, -2)))
    claim = ft.Claim("own/sums", setting=setting, statement=ft.inequality(V <= 0 * W), requires=(tau <= ft.n,))
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    seen = [instance for _, instance in meeting(claim, islice(recipes, 30))]
    with pytest.raises(Unread, match="in expectation is not known"):
        client_proofs.prove(claim, seen, np.random.default_rng(0), 1)
