"""Strictness is kept from a relation to the last comparison: what shows <= refuses <."""

import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import gradient_descent
from fedtheory.kinds.bound import bound
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.symbols import T
from fedtheory.settings.quantities import distance
from fedtheory.settings.relations import E, Quantity
from verify import Verdict, check
from verify.methods import METHODS, PROOFS
from verify.methods.base import Inquiry, examined

DESCENT = claims.get("baseline/gradient-descent/one-step")
FACTOR = DESCENT.statement.factor
BEFORE, AFTER = Quantity("V", distance), Quantity("V_next", distance, after=True)
GD = gradient_descent.algorithm
PROVING = [method.name for method in PROOFS]


def changed(statement):
    """Gradient descent's claim with another statement, as somebody's own."""
    return claims.Claim("mine/strict", setting=DESCENT.setting, statement=statement, requires=DESCENT.requires)


def test_relations_keep_their_strictness():
    for state in (one_step, bound):
        assert [c.relation for c in state(GD, E(AFTER) < BEFORE / 2).comparisons] == ["<"]
        assert [c.relation for c in state(GD, BEFORE / 2 >= E(AFTER)).comparisons] == ["<="]
    rates = (T + 1, sympy.Rational(1, 2) ** T, sympy.Sum(sympy.Symbol("j") + 1, (sympy.Symbol("j"), 0, T)))
    assert all(bound(GD, E(AFTER) < rate * BEFORE).strict for rate in rates)


@pytest.mark.parametrize("statement", [one_step(GD, E(AFTER) < FACTOR * BEFORE), bound(GD, E(AFTER) < 2 * BEFORE)])
def test_at_the_optimum_no_side_is_below_the_other(statement):
    found = check(changed(statement))
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample.replay() == (0, 0) and found.counterexample.relation == "<"


def test_what_holds_strictly_is_supported_and_no_more():
    found = check(changed(one_step(GD, E(AFTER) < FACTOR * BEFORE + 1)))
    assert found.verdict is Verdict.SUPPORTED and "says <" in found.note


@pytest.mark.parametrize(
    "id", ["baseline/gradient-descent/one-step", "feddcd/lemma-E.2", "locodl/theorem-3.1/one-step"]
)
def test_no_proof_of_a_weak_inequality_speaks_of_a_strict_one(id):
    claim = claims.get(id)
    recipe = next(iter(Inquiry(claim, size=40).met))
    assert any(o.verdict for o in examined(Inquiry(claim, given=(recipe,), methods=METHODS), PROOFS))
    strict = claim.variant(strict=True)
    assert not any(o.verdict for o in examined(Inquiry(strict, given=(recipe,), methods=METHODS), PROOFS))


def test_a_method_says_which_relations_it_shows():
    strict = {m.name for m in METHODS if "<" in m.shows}
    assert strict == {"signs of polynomials", "real closed fields"}
