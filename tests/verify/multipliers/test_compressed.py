"""Compressors in inequalities of states, client by client: for all letters and every number of clients."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.papers.locodl.compression import MEAN_SQUARE, compressed
from fedtheory.papers.locodl.setting import n, omega
from fedtheory.randomness import expectation
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.multipliers import client_proofs
from verify.reading.source import Unread
from verify.search import hunting

DEFAULT, INDEPENDENT, NORM = "locodl/eq-3/default", "locodl/eq-3/independent", "locodl/proof/compressed-norm"


def shown(claim):
    recipes = islice(claim.instances.recipes(hunting.generator(claim, 0)), 12)
    instances = [instance for _, instance in meeting(claim, recipes)]
    try:
        return not isinstance(client_proofs.prove(claim, instances, np.random.default_rng(0)), str)
    except Unread:
        return False


@pytest.mark.parametrize("id", (DEFAULT, INDEPENDENT, NORM))
def test_what_compressors_are_known_by_proves_their_claims(id):
    assert shown(claims.get(id))


def _smaller(id):
    claim = claims.get(id)
    less = claim.statement.right.subs(omega, sympy.Rational(99, 100) * omega)
    return replace(claim, statement=replace(claim.statement, right=less))


def _of(id, *quantities, **sides):
    claim = claims.get(id)
    sides = {side: getattr(of, "expression", of) for side, of in sides.items()}
    return replace(claim, id="mine/other", statement=replace(claim.statement, quantities=quantities, **sides))


def _errors(params, x):
    values, chances = compressed(params, x)
    return values - x[..., None, :, :], chances


def _with_itself(problem, params, state):
    error, chances = _errors(params, state.x)
    return expectation((error * (error + state.x[..., None, :, :])).sum(axis=(-1, -2)), chances)


def _squared_after(problem, params, state):
    error, chances = _errors(params, state.x)
    return expectation(((error * state.x[..., None, :, :]).sum(axis=(-1, -2))) ** 2, chances)


def _twice(problem, params, state):
    draws, chances = params.compressors.draws.support(True)
    once = params.compressors.apply(draws, state.x[..., None, :, :])
    return expectation((params.compressors.apply(draws, once) ** 2).sum(axis=(-1, -2)), chances)


SELF, AFTER, TWICE = Quantity("S", _with_itself), Quantity("A", _squared_after), Quantity("T", _twice)


def test_an_error_has_no_product_with_what_is_not_random():
    assert shown(_of(DEFAULT, SELF, MEAN_SQUARE, left=SELF, right=omega * n * MEAN_SQUARE.expression))
    assert not shown(_of(DEFAULT, SELF, MEAN_SQUARE, left=SELF, right=omega * MEAN_SQUARE.expression))


@pytest.mark.parametrize(
    "claim",
    (
        _smaller(DEFAULT),
        _smaller(INDEPENDENT),
        _smaller(NORM),
        replace(claims.get(INDEPENDENT), requires=()),
        _of(DEFAULT, AFTER, left=AFTER, right=sympy.Integer(0)),
        _of(DEFAULT, TWICE, MEAN_SQUARE, left=TWICE, right=(1 + omega) * n * MEAN_SQUARE.expression),
    ),
    ids=("mean", "independent", "norm", "dependent", "square of a product", "compressed twice"),
)
def test_what_is_false_is_not_proved(claim):
    assert not shown(claim)
