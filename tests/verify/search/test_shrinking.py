"""Counterexamples are made small: equal numbers at once, large and small ones by bisection, dimensions with vectors."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory import claims
from verify import check
from verify.base.case import Case
from verify.evidence.counterexamples import Counterexample
from verify.results import shipped
from verify.search import refutation, shrinking


def found(recipe, fails):
    """The smallest counterexample from a recipe on, where those fail of which a function says so."""

    def again(case):
        return Counterexample(case.claim, case.recipe, (), 0, "", 0, 1, 0, "<=", "") if fails(case.recipe) else None

    return shrinking.smallest(again(Case(claims.get("feddcd/theorem-7.1/eq-14"), recipe)), again=again).recipe


@pytest.mark.parametrize(
    ("start", "fails", "expected"),
    [
        (Fraction(10**9), lambda v: v > 1234, 1235),
        (Fraction(10**9 + 1, 7), lambda v: v > 1234, 1235),
        (Fraction(-(10**6)), lambda v: v < -77, -78),
        (10**6, lambda v: v > 99, 100),
        (Fraction(1, 10**9), lambda v: 0 < v < Fraction(1, 70), Fraction(1, 71)),
        (Fraction(10**6), lambda v: v > 3, 4),
    ],
)
def test_numbers_are_bisected(start, fails, expected):
    recipe = found({"x": start}, lambda recipe: fails(recipe["x"]))
    assert recipe == {"x": expected} and type(recipe["x"]) is type(start)


def test_equal_integers_become_smaller_together():
    assert found({"N": 6, "tau": 6}, lambda r: r["N"] == r["tau"] >= 2) == {"N": 2, "tau": 2}


def test_a_dimension_changes_with_its_vectors_only():
    start = {"d": 3, "clients": ((Fraction(3),) * 3,) * 2, "n": 50}
    smaller = found(start, lambda r: [len(v) for v in r["clients"]][:1] == [r["d"]] and r["n"] > 20)
    assert smaller == {"d": 1, "clients": ((0,),), "n": 21}


def test_a_letter_d_is_a_number_like_others():
    assert found({"d": 100, "n": 7}, lambda r: r["d"] > 40) == {"d": 41, "n": 0}


def test_lemma_4_1_falls_at_one_client_with_sigma_1_and_small_integers():
    claim, carried = claims.get("fedadmm/lemma-4.1"), shipped().entries["fedadmm/lemma-4.1"]["counterexample"]
    recipe = Counterexample.from_json(carried).recipe
    client = recipe["clients"][0]
    start = {**recipe, "clients": ({**client, "c": Fraction(1), "factor": Fraction(1, 2)},)}
    found = shrinking.smallest(refutation.refute(Case(claim, start), (Fraction(-237), Fraction(91)), 1))
    (client,) = found.recipe["clients"]
    assert (client["factor"], client["h"], client["c"], client["eps"]) == (1, 1, 0, 1)
    assert all(v.denominator == 1 and abs(v) <= 50 for v in found.point) and found.point.count(0) == 1
    assert found.replay() == (found.left, found.right) and found.left > found.right


def test_a_client_that_takes_no_part_is_left_out_with_its_coordinates():
    claim, carried = claims.get("fedadmm/lemma-4.1"), shipped().entries["fedadmm/lemma-4.1"]["counterexample"]
    recipe = Counterexample.from_json(carried).recipe
    first = recipe["clients"][0]
    idle = {**first, "rounds": (0,) * len(first["rounds"])}
    for clients, i, point in (((first, idle), 0, (69, 0, 0)), ((idle, first), 1, (0, 69, 0))):
        start = {**recipe, "clients": clients, "i": i}
        found = shrinking.smallest(refutation.refute(Case(claim, start), tuple(map(Fraction, point)), 1))
        assert len(found.recipe["clients"]) == 1 and found.point[1] == 0 and found.point[0] <= 50


def test_a_state_of_another_size_is_none_of_an_instance():
    found = check(claims.get("fedopt/fsvrg/single-node")).counterexample
    assert found.point in ((1, 0), (0, 1))
    for point in ((), (1,), (1, 0, 0)):
        assert shrinking.at_state(Case(found.claim, found.recipe), tuple(map(Fraction, point)), 1) is None


@pytest.mark.parametrize(
    "id", ["fedadmm/lemma-4.1", "feddcd/theorem-5.2/zeta", "locodl/section-2.2/convex-combination"]
)
def test_floats_leave_out_no_counterexample(id):
    """What is asked in fractions are all states at which the claim fails, and few others."""
    found = Counterexample.from_json(shipped().entries[id]["counterexample"])
    rng = np.random.default_rng(0)
    size = len(found.point)
    points = [tuple(Fraction(int(v), 7) for v in rng.integers(-300, 301, size)) for _ in range(30)]
    points += [found.point, tuple(v + Fraction(1, 10**9) for v in found.point)]
    for point, suspect in zip(points, shrinking._suspects(found, points), strict=True):
        other = shrinking.at_state(Case(found.claim, found.recipe), point, found.rounds)
        assert suspect or other is None or other.part != found.part


def test_long_fractions_are_rounded_to_the_side_on_which_a_bound_has_them():
    claim = {"gamma": Fraction(50000, 53617), "L": Fraction(53617, 50000)}
    small = found(
        claim, lambda r: r["L"] >= Fraction(53617, 50000) and Fraction(1, 2) < r["gamma"] and r["L"] * r["gamma"] <= 1
    )
    assert small["L"].denominator <= 10 and small["gamma"].denominator <= 10
    assert shrinking.length(Fraction(3, 7)) < shrinking.LONG < shrinking.length(Fraction(50000, 53617))
