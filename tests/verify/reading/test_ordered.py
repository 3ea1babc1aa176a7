"""Inequalities of states shown as they are read, by squares and the extreme numbers of the clients; and false ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.settings.relations import Quantity
from verify.as_read import ordered
from verify.base.evaluate import meeting

OPERATORS, STARS = "feddcd/lemma-B.4/eq-22", "feddcd/theorem-4.1/eq-5/better/repaired"
n, L_min, L_max = sympy.Symbol("n", integer=True, positive=True), *sympy.symbols("L_min L_max", positive=True)
N = sympy.Symbol("N", integer=True, positive=True)


def why_not(id, statement):
    """Return why a statement is not shown in the setting of a claim; empty if it is."""
    made = statement if isinstance(statement, Inequality) else inequality(statement)
    claim = replace(claims.get(id), statement=made)
    found = meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), 40))
    seen = [instance for _, instance in islice(found, 12)]
    try:
        return ordered.prove(claim, seen)
    except ValueError as error:
        return str(error)


def _squares(problem, params, state):
    return (state.x**2).sum(axis=-1)


def _weighted(problem, params, state):
    return (params.L * state.x**2).sum(axis=-1)


def _square_of_sum(problem, params, state):
    return state.x.sum(axis=-1) ** 2


def _product(problem, params, state):
    return (state.x * state.y).sum(axis=-1)


def _second_squares(problem, params, state):
    return (state.y**2).sum(axis=-1)


def _square_of_weighted_sum(problem, params, state):
    return (params.L * state.x).sum(axis=-1) ** 2


def _each(problem, params, state):
    return len(params.L) * params.L + 0 * state.x


def _all(problem, params, state):
    return params.L.sum() + 0 * state.x


def _each_square(problem, params, state):
    return state.x**2


def _all_squares(problem, params, state):
    return (state.x**2).sum(axis=-1, keepdims=True) + 0 * state.x


XX, XLX = Quantity("|x|^2", _squares), Quantity("|x|_L^2", _weighted)
SS, XY, YY = Quantity("(sum x)^2", _square_of_sum), Quantity("x'y", _product), Quantity("|y|^2", _second_squares)
LS = Quantity("(sum L x)^2", _square_of_weighted_sum)
GX = next(q for q in claims.get(OPERATORS).statement.quantities if str(q.expression) == "x'Gx")


@pytest.mark.parametrize(
    "statement",
    [
        GX <= XX / L_min,
        L_min * XX <= XLX,
        XLX <= L_max * XX,
        SS <= n * XX,
        2 * XY <= XX + YY,
        2 * XY <= XX / 3 + 3 * YY,
        2 * XY <= XLX / L_min + YY,
        Inequality(L_min * XX.expression, L_max * XX.expression, (XX, XLX), middle=XLX.expression),
    ],
)
def test_sums_of_squares_are_shown(statement):
    assert why_not(OPERATORS, statement) == ""


@pytest.mark.parametrize(
    "statement",
    [
        GX <= XX / L_max,
        GX <= XX / (2 * L_min),
        XX / L_min <= GX,
        XLX <= L_min * XX,
        L_max * XX <= XLX,
        SS <= XX,
        SS <= (n - 1) * XX,
        n * XX <= SS,
        2 * XY <= XX,
        2 * XY <= XX / 2 + YY,
        2 * XY <= XLX / L_max + YY,
        LS <= XLX,
        LS <= L_max * XLX,
        # Letters and vectors of one client are not those over which a sum runs.
        Quantity("n L", _each) <= Quantity("sum L", _all),
        Quantity("sum L", _all) <= Quantity("n L", _each),
        n * Quantity("x_i^2", _each_square) <= Quantity("|x|^2 of all", _all_squares),
        Inequality(L_min * XX.expression, L_min * XX.expression, (XX, XLX), middle=XLX.expression),
    ],
)
def test_what_no_squares_make_up_is_not_shown(statement):
    assert why_not(OPERATORS, statement)


def _norms(problem, params, state):
    return (problem.y_star**2).sum(axis=(-1, -2))


def _largest(problem, params, state):
    return (problem.y_star**2).sum(axis=-1).max(axis=-1)


def _least(problem, params, state):
    return (problem.y_star**2).sum(axis=-1).min(axis=-1)


def _square_norm_of_sum(problem, params, state):
    return (state.y.sum(axis=-2) ** 2).sum(axis=-1)


def _norms_of_states(problem, params, state):
    return (state.y**2).sum(axis=(-1, -2))


NORMS, MOST, LEAST = Quantity("|y*|^2", _norms), Quantity("zeta^2", _largest), Quantity("least", _least)
SUM, Y = Quantity("|sum y|^2", _square_norm_of_sum), Quantity("|y|^2", _norms_of_states)


@pytest.mark.parametrize("statement", [NORMS <= N * MOST, SUM <= N * Y])
def test_the_largest_is_at_least_the_mean(statement):
    assert why_not(STARS, statement) == ""


@pytest.mark.parametrize(
    "statement",
    [
        NORMS <= MOST,
        NORMS <= (N - 1) * MOST,
        N * MOST <= NORMS,
        MOST <= NORMS / N,
        NORMS <= N * LEAST,
        NORMS**2 <= N * MOST,
        SUM <= Y,
        SUM <= (N - 1) * Y,
        Y <= SUM,
    ],
)
def test_the_largest_is_no_more_than_that(statement):
    assert why_not(STARS, statement)
