"""Schedules: what is refused, their values at a round, the rounds that are drawn, and sums over rounds."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.algorithms import schedules
from fedtheory.algorithms.base import run
from fedtheory.numbers.rational import Undefined, evaluate
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal

mu, L, c = ft.letters("mu L c")
k = ft.round_index


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}


def method(gamma, params=("c",)):
    return ft.method("descent", step, list(params), {"x": "point"}, schedules={"gamma": gamma})


@pytest.mark.parametrize(
    ("gamma", "said"),
    [
        (c / k, "no number at k = 0"),
        (c * (1 - k / 100), "negative at k = 999"),
        (c - k, "negative at k = 999"),
        (sympy.oo, "at k = 0"),
        (sympy.nan, "at k = 0"),
        (sympy.sqrt(5 - k), "no number at k = 10"),
        (sympy.Function("h")(k), "no number at k = 0"),
        ("not an expression (", "must be an expression in k"),
        (None, "must be an expression in k"),
        (k > 3, "must be an expression in k"),
        (lambda k: 1 / (k + 1), "must be an expression in k"),
        (sympy.Symbol("b", positive=True) / (k + 1), "mentions b, which is not a parameter"),
        (c / (ft.k + 1), "uses a k other than"),
    ],
)
def test_a_schedule_that_makes_no_sense_at_some_round_gets_a_sentence(gamma, said):
    with pytest.raises(ValueError, match=said):
        method(gamma)


def test_a_schedule_takes_no_name_of_a_parameter():
    with pytest.raises(ValueError, match="gamma has a schedule"):
        method(c / (k + 1), ("c", "gamma"))


def test_a_schedule_that_hypotheses_keep_nonnegative_is_taken():
    assert method((1 - c) / (k + 1)).schedules


def problem():
    two, zero = Fraction(2), Fraction(0)
    return Problem(diagonal(np.array([[two]]), np.array([[zero]])), None, (two, two))


def test_its_values_are_those_of_the_round_in_fractions_and_floats():
    gd = method(c / (L * (k + 1)))
    one = gd.Params(c=Fraction(1, 2), gamma=None)
    at = schedules.at_round(gd.schedules, problem(), one, 2, True)
    assert at == (Fraction(1, 2), Fraction(1, 12), 2) and one.round == 0
    assert type(schedules.at_round(gd.schedules, problem(), one._replace(c=0.5), 2, False).gamma) is float
    root = method(c / sympy.sqrt(k + 1))
    assert schedules.at_round(root.schedules, problem(), one, 3, True).gamma == Fraction(1, 4)
    with pytest.raises(schedules.Irrational, match="irrational at k = 1"):
        schedules.at_round(root.schedules, problem(), one, 1, True)
    for wrong in (-1, Fraction(1, 2)):
        with pytest.raises(ValueError, match="a round is an integer"):
            schedules.at_round(gd.schedules, problem(), one, wrong, True)


def test_runs_go_through_the_rounds():
    gd = method(c / (k + 1))
    start = gd.State(np.ones((1, 1)))
    floats = Problem(diagonal(np.array([[2.0]]), np.array([[0.0]])), None, (2.0, 2.0))
    seen = run(gd, floats, gd.Params(0.25, None), 3, np.random.default_rng(0), lambda s: s.x[..., 0], state=start)
    assert seen[:, 0] == pytest.approx([1, 1 / 2, 3 / 8, 5 / 16])


def test_rounds_are_drawn_on_a_wide_scale():
    rng = np.random.default_rng(0)
    found = [schedules.drawn(rng) for _ in range(2000)]
    assert {0, 1, 2, 3} <= set(found) and min(found) == 0 and max(found) <= schedules.LAST
    for low in (10, 10**2, 10**3, 10**4, 10**5):
        assert sum(low <= value < 10 * low for value in found) > 100


def test_sums_and_products_over_rounds_are_exact():
    half, T = Fraction(1, 2), ft.T
    total, product = sympy.Sum(c / (k + 1), (k, 0, T - 1)), sympy.Product(1 - c / (k + 1), (k, 0, T - 1))
    assert [evaluate(total, {c: half, T: rounds}) for rounds in (0, 1, 3)] == [0, half, Fraction(11, 12)]
    assert [evaluate(product, {c: half, T: rounds}) for rounds in (0, 1, 2)] == [1, half, Fraction(3, 8)]
    # The round at hand is another one than those of the sum.
    assert evaluate(total, {c: half, T: 1, k: 7}) == half
    assert float(evaluate(sympy.Sum(1 / sympy.sqrt(k + 1), (k, 0, 1)), {})) == pytest.approx(1 + 2**-0.5)
    with pytest.raises(Undefined, match="from one integer to another"):
        evaluate(sympy.Sum(k, (k, 0, c)), {c: half})


def test_methods_and_claims_with_schedules_can_be_keys():
    gamma = sympy.Symbol("c", positive=True) / (ft.round_index + 1)

    def step(problem, params, state, draw):
        return {"x": (1 - params.gamma) * state.x}

    decreasing = ft.method("decreasing", step, ["c"], {"x": "point"}, schedules={"gamma": gamma})
    claim = ft.Claim(
        "own/decreasing",
        setting=ft.Setting(algorithm=decreasing),
        statement=ft.contracts(decreasing, ft.distance, sympy.S.One),
    )
    assert {decreasing: 1}[decreasing] == 1 and claim in {claim}
