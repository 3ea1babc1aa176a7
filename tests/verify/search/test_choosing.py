"""The counterexample that is shown convinces: one order, and what is proposed by it."""

from contextlib import suppress
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.papers.feddcd import inexact
from fedtheory.settings import Setting
from verify import check
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons import naming
from verify.evidence.counterexamples import Counterexample
from verify.results import shipped
from verify.search import choosing, hunting, refutation, states
from verify.search.convincing import Rank, excess, key, rank


def at(id, recipe, point, rounds):
    found = refutation.refute(Case(claims.get(id), recipe), tuple(map(Fraction, point)), rounds)
    assert found is not None
    return found


def cold(second, **more):
    """Two clients with f_i'' = 1, the second of which calls an oracle that leaves this share of the error."""
    client = {"h": (Fraction(1),), "y": (Fraction(0),), "c": Fraction(0)}
    letters = {"alpha": Fraction(1), "beta": Fraction(1), "eta": Fraction(1, 4), "scale": Fraction(1), "tau": 2}
    clients = (client, {**client, "c": Fraction(second)})
    return {"d": 1, "x": (Fraction(0),), "clients": clients, **letters, **more}


WIDE = {"delta": Fraction(1, 2)}
FLAT = {"L": Fraction(1), "h": (Fraction(1, 100),), "c": (Fraction(0),)}
SYMMETRIC = {"d": 1, "level": Fraction(0), "clients": (FLAT, FLAT), "mu": Fraction(1, 100), "tau": 2}


def test_the_order_is_the_one_that_is_documented():
    worst = Rank(True, True, True, 3)
    for better in (worst._replace(degenerate=False), worst._replace(elsewhere=False), worst._replace(at_once=False)):
        assert better < worst
    assert Rank(False, True, True, 3) < Rank(True, False, False, 0)
    assert Rank(False, False, True, 3) < Rank(False, True, False, 0)
    assert Rank(False, False, False, 3) < Rank(False, False, True, 0)


def of(left, right, recipe=None, relation="<="):
    claim = claims.get("feddcd/theorem-7.1/eq-14")
    return Counterexample(claim, recipe or {"N": 2}, (), 1, "0", 0, Fraction(left), Fraction(right), relation, "")


def test_a_large_ratio_comes_before_small_numbers():
    ratios = [
        of(3, 1),
        of(Fraction(3, 2), 1),
        of(Fraction(107, 100), 1),
        of(Fraction(103, 100), 1),
        of(Fraction(1001, 1000), 1),
    ]
    assert [rank(c).narrow for c in ratios] == [0, 1, 2, 3, 4]
    assert rank(of(1, 0)).narrow == rank(of(1, -5)).narrow == rank(of(0, 1, relation="==")).narrow == 0
    assert key(of(3, 1, {"N": 1000})) < key(of(Fraction(3, 2), 1, {"N": 2})) < key(of(Fraction(3, 2), 1, {"N": 3}))


def test_what_should_be_equal_is_measured_by_its_ratio_too():
    halves, near, nothing = (of(left, right, relation="==") for left, right in ((1, 2), (10, 11), (0, 1)))
    assert excess(halves) == pytest.approx(1) and rank(halves).narrow == 0
    assert excess(near) == pytest.approx(0.1) and rank(near).narrow == 1
    assert excess(nothing) == float("inf")


def test_sides_of_many_digits_are_told_shorter():
    shown = Counterexample.from_json(shipped().entries["fedadmm/eq-53"]["counterexample"])
    found = choosing._with_fewer_digits(shown, states.violation)
    assert found.left > Fraction(11, 10) * found.right and choosing._digits(found) < 60
    assert "about" not in naming.number(found.left)
    assert choosing._with_fewer_digits(of(3, 1), states.violation).left == 3


def test_the_proof_of_theorem_C_1_has_its_own_delta():
    claim = claims.get("feddcd/eq-36")
    met = list(hunting.meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), 60)))
    assert met
    for _, built in met:
        values = claim.setting.bind(built.problem, built.params)
        kappa = inexact.kappa.subs(values)
        assert inexact.delta.subs(values) == (1 - kappa) / 2


def test_a_constant_that_is_declared_positive_is_not_0():
    id = "feddcd/theorem-5.2/zeta"
    recipe = cold("12/25")
    first = at(id, recipe, (1, 0), 0)
    assert rank(first).degenerate and not rank(at(id, recipe, (1, Fraction(1, 10)), 0)).degenerate
    found = choosing.improved(first)
    assert rank(found) < rank(first) and found.right > 0 and found.replay() == (found.left, found.right)


def test_a_run_begins_where_the_paper_begins_it():
    found = check(claims.get("feddcd/theorem-C.1")).counterexample
    instance = found.claim.instances.build(found.recipe, True)
    _, state = instance.initial(choosing.as_row(found.point))
    assert not rank(found).elsewhere and not state.x.any()


def test_a_run_from_elsewhere_is_translated():
    id = "feddcd/theorem-D.1"
    first = at(id, SYMMETRIC, (1,), 1)
    found = choosing.improved(first)
    assert rank(first).elsewhere and not rank(found).elsewhere
    # Moved with its start, a run is as it was; after more rounds it fails by more.
    moved = at(id, choosing._translated(Case(first.claim, first.recipe), first.point), (1,), 1)
    assert (moved.left, moved.right) == (first.left, first.right)
    assert [c["c"] for c in moved.recipe["clients"]] == [(-1,), (1,)]
    assert found.rounds > 1 and found.left / found.right > first.left / first.right


@pytest.mark.parametrize(
    ("id", "recipe"),
    [
        ("feddcd/theorem-5.2/eq-9", cold("6/25")),
        ("feddcd/lemma-C.2", cold("6/25", **WIDE)),
    ],
)
def test_a_bound_fails_after_a_round_where_it_does(id, recipe):
    found = choosing.chosen([at(id, recipe, (1, 0), 0)])
    assert found.rounds >= 1 and found.left > found.right


def test_eq_14_falls_by_far_and_at_round_numbers():
    recipe = check(claims.get("feddcd/theorem-7.1/eq-14")).counterexample.recipe
    # N = tau = kappa: whichever of the two terms is meant.
    assert recipe["N"] == recipe["tau"] == recipe["kappa"] and recipe["kappa"] % 1000 == 0


def test_what_shrinks_convinces_no_less():
    first = at("feddcd/lemma-C.2", cold("12/25", **WIDE), (10, 1), 1)
    found = choosing.shrinking.smallest(first)
    assert rank(found) <= rank(first) and key(found) <= key(first)


def test_what_cannot_convince_more_stays_as_it_is():
    """True neighbours are proposed, and none is taken for a counterexample."""
    first = at("feddcd/theorem-5.2/eq-9", cold("6/25"), (1, 0), 0)
    for offer in choosing._offers(first, Rank(True, True, True, 3)):
        with suppress(ValueError):
            # Of some there is no instance.
            found = choosing.shrinking.at_state(Case(first.claim, offer.recipe), offer.point, offer.rounds)
            assert found is None or found.left > found.right
    assert choosing.improved(of(3, 1)).recipe == {"N": 2}


@pytest.mark.parametrize(("above", "below"), [(4000, 0), (4000, 4000), (9000, 0), (9000, 8500)])
def test_numbers_that_python_does_not_write_out_have_a_length(above, below):
    value = Fraction(7**above, 3**below)
    expected = (value.numerator.bit_length() + value.denominator.bit_length()) * 0.30103
    assert abs(choosing._length(value) - expected) <= 0.01 * expected + 2


@pytest.mark.parametrize("least", [9000, 9500])
def test_sides_of_many_digits_are_refuted(least):
    n = sympy.Symbol("n", integer=True, positive=True)
    claim = Claim(
        "own/long",
        setting=Setting(letters=(n,)),
        statement=Inequality(sympy.Integer(3) ** n, n),
        requires=(n >= least, n <= least + 5),
    )
    assert check(claim).verdict is Verdict.REFUTED
