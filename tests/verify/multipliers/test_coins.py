"""Steps in which each client has constants and coins of its own, client by client."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms.gradskip import Coins
from fedtheory.algorithms.scaffnew import State
from fedtheory.numbers.symbols import Min
from fedtheory.papers.baseline import rival_settings
from fedtheory.papers.baseline.rival_settings import GRADSKIP_STEP, OF_EACH, PROBABILITY, gamma, mu, p, q_max
from fedtheory.randomness import Bernoulli, Product, participation
from fedtheory.settings.hypotheses import Hypothesis, of_each
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.multipliers.work import CLIENTS
from verify.reading.source import Unread
from verify.search import hunting

GRADSKIP = claims.get("baseline/gradskip/one-step")


def shown(claim, work=0):
    recipes = islice(claim.instances.recipes(hunting.generator(claim, 0)), 12)
    instances = [instance for _, instance in meeting(claim, recipes)]
    try:
        return not isinstance(client_proofs.prove(claim, instances, np.random.default_rng(0), work), str)
    except Unread:
        return False


def test_a_step_is_proved_for_the_constants_and_coins_of_each_client():
    assert shown(GRADSKIP)


def _step(numbers):
    return Hypothesis("another stepsize", met=of_each(numbers))


@pytest.mark.parametrize(
    "requires",
    (
        (OF_EACH, PROBABILITY),
        (GRADSKIP_STEP, PROBABILITY),
        # For a stepsize that is a little longer, for the sum over the clients, and for the first of them alone.
        (OF_EACH, PROBABILITY, _step(lambda f, a: a.p**2 - a.gamma * f.f.L * (1 - a.q * (1 - a.p**2)) * 98 / 100)),
        (OF_EACH, PROBABILITY, _step(lambda f, a: (a.p**2 - a.gamma * f.f.L * (1 - a.q * (1 - a.p**2))).sum())),
        (OF_EACH, PROBABILITY, _step(lambda f, a: (a.p**2 - a.gamma * f.f.L * (1 - a.q * (1 - a.p**2)))[..., :1])),
    ),
)
def test_each_hypothesis_of_each_client_is_needed(requires):
    assert not shown(replace(GRADSKIP, requires=requires))


@pytest.mark.parametrize("share", (sympy.Rational(101, 100), 1 / (1 - q_max * (1 - p**2))))
def test_the_worst_coin_bounds_the_rate(share):
    assert not shown(GRADSKIP.variant(factor=1 - Min(gamma * mu, share * (1 - q_max * (1 - p**2)))))


@pytest.mark.parametrize(
    "of", (lambda problem, params: min(params.q), lambda problem, params: params.q.sum() / problem.n)
)
def test_the_worst_coin_is_that_of_no_other_client(of):
    letters = {**GRADSKIP.setting.letters, q_max: of}
    assert not shown(replace(GRADSKIP, setting=replace(GRADSKIP.setting, letters=letters)))


def _claim(step, factor, requires=(), draws=lambda problem, params, state: participation.Coins(params.q)):
    algorithm = replace(rival_settings.GRADSKIP.algorithm, step=step, draws=draws)
    setting = replace(GRADSKIP.setting, algorithm=algorithm)
    return replace(
        GRADSKIP.variant(factor=factor, algorithm=algorithm),
        id="mine/coins",
        setting=setting,
        requires=(OF_EACH, *requires),
    )


def _thinned(problem, params, state, draw):
    # A gradient step where a coin of the client's own shows true, and the server's average of nothing.
    moved = state.x - params.gamma * (problem.f.gradient(state.x) - problem.y_star)
    return State(np.where(draw[..., None], moved, state.x), state.h)


SHORT = Hypothesis("gamma <= 1/L_i", met=of_each(lambda problem, params: 1 - params.gamma * problem.f.L))
TWICE = Hypothesis("gamma <= 3/L_i", met=of_each(lambda problem, params: 3 - params.gamma * problem.f.L))


@pytest.mark.parametrize(
    ("factor", "length", "right"), ((1, SHORT, True), (1, TWICE, False), (1 - gamma * mu, SHORT, False))
)
def test_a_coin_is_its_chance_in_the_mean(factor, length, right):
    assert shown(_claim(_thinned, sympy.sympify(factor), (length,)), CLIENTS) is right


def _of_those_drawn(problem, params, state, draw):
    # The mean over the clients whose coin shows true, and over all of what these have.
    active = draw[..., None]
    some = np.where(active, state.x, 0 * state.x).sum(axis=-2, keepdims=True) / problem.n
    return State(state.x - some, state.h)


def test_what_others_draw_is_no_number():
    assert not shown(_claim(_of_those_drawn, sympy.Integer(100)), CLIENTS)


def _asked_where_others_are(problem, params, state, draw):
    some = np.where(draw[..., None], state.x, 0 * state.x).sum(axis=-2, keepdims=True) / problem.n
    return State(problem.x_star + 0 * state.x, state.h + 0 * problem.f.gradient(some + 0 * state.x))


def test_functions_are_not_asked_at_points_that_others_draw():
    assert not shown(_claim(_asked_where_others_are, sympy.Integer(100)), CLIENTS)


def _twice(problem, params, state, draw):
    # A coin that is tossed once and read twice.
    moved = state.x - params.gamma * (problem.f.gradient(state.x) - problem.y_star)
    first = np.where(draw.eta[..., None], moved, state.x)
    return State(np.where(draw.eta[..., None], first, state.x) + 0 * first, state.h)


def test_a_coin_that_is_read_twice_is_tossed_once():
    def tossed(problem, params, state):
        return Product(Coins, (Bernoulli(params.p), participation.Coins(params.q)))

    assert shown(_claim(_twice, sympy.Integer(1), (SHORT,), tossed), CLIENTS)
