"""Identities and inequalities in all states."""

from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.settings.relations import Quantity
from verify import Verdict, check
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.pep import generic_states
from verify.search import hunting

#: Claims that hold, and a change that makes each false.
FALSE = {
    "feddcd/lemma-B.3/idempotent": lambda c: c.variant(right=2 * c.statement.right),
    "feddcd/lemma-B.3/eq-18": lambda c: c.variant(right=c.statement.right * sympy.Rational(1000001, 1000000)),
    "feddcd/lemma-B.3/eq-20": lambda c: c.variant(right=c.statement.right + c.statement.left**2),
    "feddcd/lemma-B.4/eq-22": lambda c: c.variant(right=c.statement.right * sympy.Rational(999, 1000)),
    "feddcd/lemma-B.5": lambda c: c.variant(left=c.statement.left + 1),
    "feddcd/lemma-D.2": lambda c: c.variant(right=2 * c.statement.right),
    "feddcd/lemma-D.3": lambda c: c.variant(right=2 * c.statement.right),
    "feddcd/appendix-F/mgf": lambda c: c.variant(right=c.statement.right + 1),
    "feddcd/appendix-F/class/repaired": lambda c: c.variant(left=2 * c.statement.left),
    "feddcd/projection/repaired": lambda c: c.variant(left=-c.statement.left),
    "locodl/eq-15": lambda c: c.variant(right=2 * c.statement.right),
}


def instances(claim, count=4):
    recipes = claim.instances.recipes(hunting.generator(claim, 3))
    return [built for _, built in islice(meeting(claim, recipes), count)]


@pytest.mark.parametrize("id", FALSE)
def test_the_claim_holds_in_all_states_and_a_changed_one_does_not(id):
    claim = claims.get(id)
    assert generic_states.applies(claim)
    assert all(generic_states.holds(Case.of(claim, instance)) for instance in instances(claim))
    wrong = FALSE[id](claim)
    assert not all(_holds(wrong, instance) for instance in instances(claim, 30))


def _holds(claim, instance):
    try:
        return generic_states.holds(Case.of(claim, instance))
    except (TypeError, ValueError):
        return False


def test_what_the_paper_prints_for_the_projection_does_not_hold():
    claim = claims.get("feddcd/projection")
    assert not all(generic_states.holds(Case.of(claim, instance)) for instance in instances(claim, 10))


def test_code_that_compares_or_leaves_the_rationals_is_not_vouched_for():
    claim = claims.get("feddcd/lemma-B.3/eq-20")
    (instance,) = instances(claim, 1)

    def with_left(of):
        left, right = claim.statement.quantities
        return claim.variant(quantities=(Quantity(left.expression, of), right))

    def larger(problem, params, state):
        return np.where(state.x[..., 0] > 0, 1, 0)

    def rounded(problem, params, state):
        return np.sqrt(0.5)

    for of in (larger, rounded):
        with pytest.raises((TypeError, ValueError)):
            generic_states.holds(Case.of(with_left(of), instance))
        assert check(with_left(of)).verdict is not Verdict.CERTIFIED
    assert not generic_states.holds(
        Case.of(
            claims.get("feddcd/lemma-B.4/eq-22").variant(strict=True),
            instances(claims.get("feddcd/lemma-B.4/eq-22"), 1)[0],
        )
    )


def test_claims_about_functions_of_one_instance_are_left_alone():
    for id in ("feddcd/eq-1", "locodl/optimality", "locodl/eq-3/default", "feddcd/lemma-E.2"):
        assert not generic_states.applies(claims.get(id))
