"""What is said of one client's numbers, or by a setting of somebody's own, is not taken to be so of all clients."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.classes import OneStronglyConvex
from fedtheory.instances import numbers
from fedtheory.papers.fedadmm.experiments import PRODUCT, SQUARE, alpha_1, mu_1
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.reading import theory
from verify.reading.source import Unread
from verify.search import hunting

L = ft.letters("L")
w_i = sympy.Symbol("w_i", positive=True)
METHOD = ft.method("mine", lambda problem, params, state, draw: {"x": state.x}, ["w", "i"], {"x": "point"})


def _draw(rng, recipe):
    clients = tuple({**c, "w": Fraction(int(rng.integers(1, 6)), 2)} for c in recipe["clients"])
    return {**recipe, "clients": clients, "i": int(rng.integers(len(clients)))}


def _parameters(recipe, problem, exact):
    return METHOD.Params(numbers([c["w"] for c in recipe["clients"]], exact), recipe["i"])


def _each(problem, state):
    return ((state.x[..., None, :] - problem.x_star + 0 * problem.y_star) ** 2).sum(axis=-1)


PLAIN = ft.Quantity("D", lambda problem, params, state: _each(problem, state).sum(axis=-1))
WEIGHTED = ft.Quantity("W", lambda problem, params, state: (params.w * _each(problem, state)).sum(axis=-1))
SETTING = ft.Setting(
    algorithm=METHOD,
    functions=ft.Smooth(L),
    letters={w_i: lambda problem, params: params.w[params.i]},
    drawing=ft.Drawing(draw=_draw, parameters=_parameters),
)


def _shown(relation, requires=(), **of_setting):
    setting = replace(SETTING, **of_setting)
    return _is_proved(ft.Claim("mine/weights", setting=setting, statement=ft.inequality(relation), requires=requires))


def _is_proved(claim):
    instances = [i for _, i in meeting(claim, islice(claim.instances.recipes(hunting.generator(claim, 0)), 12))]
    try:
        return not isinstance(client_proofs.prove(claim, instances, np.random.default_rng(0)), str)
    except Unread:
        return False


@pytest.fixture
def trusted(monkeypatch):
    """As if this file were of the package's theory, of whose parameters kinds are known."""
    monkeypatch.setattr(theory, "holds", lambda thing: True)


def test_what_is_true_whatever_the_weights_is_shown():
    assert _shown(PLAIN <= (1 + L) * PLAIN, letters=(L,))


@pytest.mark.parametrize("where", ("requires", "domain"))
def test_a_bound_on_one_clients_weight_is_none_on_the_others(where, trusted):
    assert not _shown(WEIGHTED <= PLAIN, **{where: (w_i <= 1,)})


def test_the_sign_of_one_clients_weight_is_not_that_of_the_others(trusted):
    assert not _shown(-WEIGHTED <= WEIGHTED)


def test_what_each_client_has_is_no_letter(trusted):
    w = ft.letters("w")
    assert not _shown(WEIGHTED <= w * PLAIN, letters={w: "w"})
    setting = replace(SETTING, letters={w: "w"})
    with pytest.raises(ValueError, match="the letter w is an array"):
        setting.bind(None, METHOD.Params(np.ones(2), 0))


def test_parameters_of_ones_own_making_may_be_of_any_kind():
    # They may be arrays at some instances, which are seldom drawn, and numbers at others.
    assert not _shown(-(L * WEIGHTED) <= -(L * WEIGHTED), letters=(L,))


def test_hints_of_ones_own_prove_nothing():
    # They hold at all instances that are drawn, and not beyond.
    signs = ((lambda problem, params: params.w, True), (lambda problem, params: 3 - params.w, False))
    assert not _shown(WEIGHTED <= 3 * PLAIN, hints=ft.Hints(signs=signs))
    small = ft.Hints(known=lambda problem, params, state: ((state.x - problem.x_star) ** 2).sum(axis=-1) - 10**6)
    assert not _shown(PLAIN <= 4 * 10**6 + 0 * PLAIN, hints=small)


REMARK = claims.get("fedadmm/remark-4.2")


@pytest.mark.parametrize(("share", "right"), ((1, True), (sympy.Rational(101, 100), False), (1 / alpha_1, False)))
def test_the_client_whose_function_is_strongly_convex_stands_apart(share, right):
    claim = replace(REMARK, statement=ft.inequality(share * alpha_1 * mu_1 * SQUARE <= PRODUCT))
    assert _is_proved(claim) is right


def test_what_a_class_says_of_one_client_is_not_said_of_another():
    # f_1 is known by its place, and the statement speaks of the client that a parameter says.
    functions = OneStronglyConvex(mu_1, REMARK.setting.functions.L)
    requires = (Hypothesis("f_1 is strongly convex", met=functions.contains),)
    other = replace(REMARK, setting=replace(REMARK.setting, functions=functions), requires=requires)
    assert not _is_proved(other)
    assert not requires[0].states_membership((REMARK.setting.functions,))
