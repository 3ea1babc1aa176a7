"""Steps of clients with parameters of their own: coins, the choice of one client, weights and stepsizes, for every n.

Each false statement is one that a single slip in what is known of them would let through.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.reading.source import Unread
from verify.search import hunting

mu, L, gamma, p_sum, L_mean, least = ft.letters("mu L gamma p_sum L_mean least")
FUNCTIONS = ft.SmoothEach(mu, L)
SUM = {p_sum: lambda problem, params: params.p.sum()}
AT_MOST_1 = ft.each(lambda problem, params: 1 - params.p)
ONE_IN_ALL = sympy.Eq(p_sum, 1)


def shown(claim, work=800):
    """Whether a claim is proved client by client, in a short search."""
    recipes = islice(claim.instances.recipes(hunting.generator(claim, 0)), 60)
    instances = [instance for _, instance in meeting(claim, recipes)][:8]
    try:
        return not isinstance(client_proofs.prove(claim, instances, np.random.default_rng(0), work), str)
    except Unread:
        return False


class Two(NamedTuple):
    """Two coins of each client."""

    first: object
    second: object


# Second moments: the sum of the vectors of those that take part


def coins(problem, params, state):
    return ft.Coins(params.p)


def choice(problem, params, state):
    return ft.Categorical(params.p)


def shared_coin(problem, params, state):
    return ft.Bernoulli(params.q)


def gathered(problem, params, state, draw):
    return {"x": np.where(draw[..., None], state.x, 0 * state.x).sum(axis=-2, keepdims=True) + 0 * state.x}


def square(problem, params, state):
    return (state.x**2).sum(axis=(-1, -2)) / problem.n


def squares(weights):
    def of(problem, params, state):
        return (weights(problem, params) * (state.x**2).sum(axis=-1)).sum(axis=-1)

    return of


def square_of_mean(weights):
    def of(problem, params, state):
        return ((weights(problem, params)[..., None] * state.x).sum(axis=-2) ** 2).sum(axis=-1)

    return of


def p_of(problem, params):
    return params.p


def squared_p(problem, params):
    return params.p**2


V = ft.Quantity("V", square)
P, Q = ft.Quantity("P", squares(p_of)), ft.Quantity("Q", squares(squared_p))
M = ft.Quantity("M", square_of_mean(p_of))


def moments(draws, right, side, requires, step=gathered, letters=SUM, own=("p",), params=("p",)):
    method = ft.method("gathering", step, list(params), {"x": "clients"}, draws=draws)
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, own=own, letters=letters)
    relation = ft.E(V.next) <= right if side == "<=" else right <= ft.E(V.next)
    return ft.Claim("mine/moments", setting=setting, statement=ft.one_step(method, relation), requires=requires)


@pytest.mark.parametrize("side", ("<=", ">="))
@pytest.mark.parametrize(("draws", "right", "requires"), ((coins, M + P - Q, (AT_MOST_1,)), (choice, P, (ONE_IN_ALL,))))
def test_second_moments_are_what_they_are(draws, right, side, requires):
    assert shown(moments(draws, right, side, requires))


@pytest.mark.parametrize(
    ("draws", "right", "requires"),
    (
        # The moments of the one for those of the other, or of one coin for all.
        (coins, P, (AT_MOST_1, ONE_IN_ALL)),
        (coins, M, (AT_MOST_1,)),
        (coins, M + P - 2 * Q, (AT_MOST_1,)),
        (choice, M + P - Q, (ONE_IN_ALL,)),
        (choice, M, (ONE_IN_ALL,)),
        (choice, Q, (ONE_IN_ALL,)),
        (coins, sympy.Rational(99, 100) * (M + P - Q), (AT_MOST_1,)),
        (choice, sympy.Rational(99, 100) * P, (ONE_IN_ALL,)),
        # There is no such draw.
        (coins, 2 * M + 2 * P, ()),
        (choice, 2 * P, ()),
        (choice, 2 * P, (sympy.Eq(p_sum, 2),)),
        (choice, 2 * P, (p_sum <= 1,)),
        (choice, 2 * P, (AT_MOST_1,)),
    ),
)
def test_moments_of_another_draw_are_not(draws, right, requires):
    assert not shown(moments(draws, right, "<=", requires))


def test_one_coin_for_all_is_not_a_coin_of_each():
    def q_of(problem, params):
        return params.q + 0 * problem.f.L

    M_q, P_q = ft.Quantity("M", square_of_mean(q_of)), ft.Quantity("P", squares(q_of))
    q = ft.letters("q")

    def step(problem, params, state, draw):
        some = np.where(draw[..., None, None], state.x, 0 * state.x)
        return {"x": some.sum(axis=-2, keepdims=True) + 0 * state.x}

    def claim(right):
        more = {"step": step, "letters": {}, "own": (), "params": ("q",)}
        return moments(shared_coin, right, "<=", (q <= 1,), **more)

    assert shown(claim(M_q / q))
    assert not shown(claim(M_q + P_q - q * P_q))


def _by_number(problem, params, state, draw):
    # The mean over those that take part: their number is drawn too.
    some = np.where(draw[..., None], state.x, 0 * state.x).sum(axis=-2, keepdims=True)
    return {
        "x": some / (1 + np.where(draw, 1 + 0 * params.p, 0 * params.p).sum(axis=-1)[..., None, None]) + 0 * state.x
    }


def _weighed(problem, params, state, draw):
    # A drawn number times a drawn sum.
    total = np.where(draw, params.p, 0 * params.p).sum(axis=-1)
    some = np.where(draw[..., None], state.x, 0 * state.x).sum(axis=-2, keepdims=True)
    return {"x": total[..., None, None] * some + 0 * state.x}


def _asked(problem, params, state, draw):
    some = np.where(draw[..., None], state.x, 0 * state.x).sum(axis=-2, keepdims=True)
    return {"x": problem.f.gradient(some + 0 * state.x)}


@pytest.mark.parametrize("step", (_by_number, _weighed, _asked))
def test_nothing_is_said_of_other_functions_of_what_is_drawn(step):
    assert not shown(moments(coins, 100 * M + 100 * P, "<=", (AT_MOST_1,), step))


def test_a_coin_that_stands_twice_is_tossed_once_and_two_are_tossed_twice():
    def both(problem, params, state):
        return ft.Product(Two, (ft.Coins(params.p), ft.Coins(params.p)))

    def once(problem, params, state, draw):
        mask = draw.first & draw.first
        return gathered(problem, params, state, mask)

    def twice(problem, params, state, draw):
        return gathered(problem, params, state, draw.first & draw.second)

    cubes = ft.Quantity("C", squares(lambda problem, params: params.p**4))
    rare = ft.Quantity("R", square_of_mean(squared_p))
    assert shown(moments(both, M + P - Q, "<=", (AT_MOST_1,), once))
    assert shown(moments(both, rare + Q - cubes, "<=", (AT_MOST_1,), twice))
    assert not shown(moments(both, rare + Q - cubes, "<=", (AT_MOST_1,), once))


# Steps: what is claimed of hypotheses, letters and weights


def mean_of_L(problem, params):
    return problem.f.L.sum() / problem.n


def sampled(draws, probabilities, requires, constant=mean_of_L, own=(), params=("gamma",)):
    def step(problem, params, state, draw):
        gradient = problem.f.gradient(state.x[..., None, :])
        weighted = gradient / (problem.n * probabilities(problem, params)[..., None])
        drawn = np.where(draw[..., None], weighted, 0 * gradient).sum(axis=-2)
        return {"x": state.x - params.gamma * drawn}

    def noise(problem, params, state):
        rates = (problem.y_star**2).sum(axis=-1) / probabilities(problem, params)
        return rates.sum(axis=-1) / problem.n**2

    method = ft.method("sampled", step, list(params), {"x": "point"}, draws=draws)
    letters = (
        {**FUNCTIONS.letters, gamma: "gamma", L_mean: constant, **SUM}
        if own
        else {**FUNCTIONS.letters, gamma: "gamma", L_mean: constant}
    )
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, letters=letters, own=own)
    statement = ft.contracts(method, ft.distance, 1 - gamma * mu, noise={noise: 2 * gamma**2})
    return ft.Claim("mine/sampled", setting=setting, statement=statement, requires=requires)


def by_L(problem, params):
    return problem.f.L / problem.f.L.sum()


def categorical(probabilities):
    return lambda problem, params, state: ft.Categorical(probabilities(problem, params))


SHORT = (2 * gamma * L_mean <= 1,)


def test_importance_sampling_needs_the_mean():
    assert shown(sampled(categorical(by_L), by_L, SHORT))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draws", "probabilities", "requires", "constant"),
    (
        # Another length, another constant, and clients drawn by other probabilities than those divided by.
        (categorical(by_L), by_L, (gamma * L_mean <= 2,), mean_of_L),
        (categorical(by_L), by_L, SHORT, lambda problem, params: min(problem.f.L)),
        (categorical(by_L), by_L, SHORT, lambda problem, params: problem.f.L.sum() / (2 * problem.n)),
        (categorical(lambda problem, params: (1 + 0 * problem.f.L) / problem.n), by_L, SHORT, mean_of_L),
        (categorical(lambda problem, params: 2 * by_L(problem, params)), by_L, SHORT, mean_of_L),
        (lambda problem, params, state: ft.Coins(by_L(problem, params)), by_L, SHORT, mean_of_L),
        (categorical(by_L), lambda problem, params: problem.n * by_L(problem, params), SHORT, mean_of_L),
    ),
)
def test_importance_sampling_is_not_more(draws, probabilities, requires, constant):
    assert not shown(sampled(draws, probabilities, requires, constant))


EACH_SHORT = ft.each(lambda problem, params: params.p - 2 * params.gamma * problem.f.L / problem.n)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requires", "right"),
    (
        ((EACH_SHORT, ONE_IN_ALL), True),
        ((EACH_SHORT,), False),
        ((ONE_IN_ALL,), False),
        # Of the sum over the clients, of the first of them, of a sum beside what is each one's, and of other numbers.
        ((ft.each(lambda f, a: (a.p - 2 * a.gamma * f.f.L / f.n).sum()), ONE_IN_ALL), False),
        ((ft.each(lambda f, a: (a.p - 2 * a.gamma * f.f.L / f.n)[..., :1]), ONE_IN_ALL), False),
        ((ft.each(lambda f, a: a.p.sum() - 2 * a.gamma * f.f.L / f.n), ONE_IN_ALL), False),
        ((ft.each(lambda f, a: 1 - a.gamma * f.f.L), ONE_IN_ALL), False),
    ),
)
def test_probabilities_of_ones_own(requires, right):
    def p(problem, params):
        return params.p

    claim = sampled(categorical(p), p, requires, own=("p",), params=("gamma", "p"))
    assert shown(claim) is right


def weighted(weights, constant, requires):
    def slope(problem, params, state):
        return (weights(problem, params)[..., None] * problem.f.gradient(state.x[..., None, :])).sum(axis=-2)

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * slope(problem, params, state)}

    def value(problem, params, state):
        return (weights(problem, params) * problem.f.value(state.x[..., None, :])).sum(axis=-1)

    def size(problem, params, state):
        return (slope(problem, params, state) ** 2).sum(axis=-1)

    method = ft.method("weighted", step, ["gamma", "p"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, own=("p",), letters={L_mean: constant, **SUM})
    F, G = ft.Quantity("F", value), ft.Quantity("G", size)
    descent = ft.one_step(method, ft.E(F.next) <= F - gamma * (1 - gamma * L_mean / 2) * G)
    return ft.Claim("mine/weighted", setting=setting, statement=descent, requires=requires)


def with_L(weights):
    return lambda problem, params: (weights(problem, params) * problem.f.L).sum()


def part_of(problem, params):
    return params.p / params.p.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "constant", "right"),
    (
        (lambda f, a: a.p, with_L(lambda f, a: a.p), True),
        (part_of, with_L(part_of), True),
        # The largest is no less than the mean, unless the weights exceed 1 in all.
        (part_of, lambda f, a: max(f.f.L), True),
        (lambda f, a: a.p, lambda f, a: max(f.f.L), False),
        (part_of, lambda f, a: min(f.f.L), False),
        (part_of, with_L(lambda f, a: (1 + 0 * f.f.L) / f.n), False),
        (part_of, lambda f, a: (a.p * f.f.L).sum(), False),
        # Weights of which some may be negative, though not their sum.
        (lambda f, a: a.p - a.p.sum() / (2 * f.n), with_L(lambda f, a: a.p - a.p.sum() / (2 * f.n)), False),
        (lambda f, a: a.p - 1, with_L(lambda f, a: a.p - 1), False),
    ),
)
def test_weights_of_ones_own(weights, constant, right):
    assert shown(weighted(weights, constant, ())) is right


def test_moments_of_products_of_quantities_are_not_taken():
    method = ft.method("gathering", gathered, ["p"], {"x": "clients"}, draws=coins)
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, own=("p",))
    # E V^2 is more than (E V)^2.
    statement = ft.one_step(method, ft.E(V.next**2) <= (M + P - Q) ** 2)
    assert not shown(ft.Claim("mine/squares", setting=setting, statement=statement, requires=(AT_MOST_1,)))


# What is refused


@pytest.mark.parametrize(
    ("more", "why"),
    (
        ({"own": ("q",)}, "not a parameter of the method"),
        ({"own": "p"}, "names of parameters"),
        ({"own": ("p",), "clients": (1,)}, "several clients"),
        ({"own": ("p",), "letters": {ft.letters("p"): "p"}}, "is one number"),
        ({"own": ("p",), "drawing": ft.Drawing(parameters=lambda recipe, problem, exact: None)}, "by itself"),
    ),
)
def test_parameters_of_ones_own_are_parameters_of_several_clients(more, why):
    method = ft.method("gathering", gathered, ["p"], {"x": "clients"}, draws=coins)
    with pytest.raises(ValueError, match=why):
        ft.Setting(algorithm=method, functions=FUNCTIONS, **more)


def test_a_letter_is_one_number():
    method = ft.method("gathering", gathered, ["p"], {"x": "clients"}, draws=coins)
    setting = ft.Setting(algorithm=method, functions=FUNCTIONS, own=("p",))
    with pytest.raises(ValueError, match="is one number"):
        ft.Claim("mine/letter", setting=setting, statement=ft.one_step(method, ft.E(V.next) <= ft.letters("p") * M))
