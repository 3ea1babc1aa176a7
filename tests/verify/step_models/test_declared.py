"""What a quantity is in a model is declared by the setting, whatever it is called, and compared with its code."""

from dataclasses import replace

import pytest
import sympy

from fedtheory import claims
from fedtheory.papers.feddcd import descent, dual, inexact, memory
from verify.methods import identities
from verify.proofs.identity import Unprovable
from verify.step_models import MODELS

GAP, DISTANCE, ZETA = (claims.get(f"feddcd/theorem-5.2/{name}/repaired") for name in ("eq-8", "eq-9", "zeta"))
C2, E1 = (claims.get(f"feddcd/{name}/repaired") for name in ("lemma-C.2", "lemma-E.1/inexact"))
KEPT_GAP, KEPT_DISTANCE = (claims.get(f"feddcd/theorem-5.2/{name}/repaired-memory") for name in ("eq-8", "eq-9"))
DECLARED, OF_MEMORY = (claim.setting.hints.identities.quantities for claim in (GAP, KEPT_GAP))


def declaring(claim, quantities):
    """The claim in a setting that declares other quantities."""
    hints = claim.setting.hints
    told = replace(hints, identities=replace(hints.identities, quantities=quantities))
    return replace(claim, setting=replace(claim.setting, hints=told))


def swapped(claim, one, other):
    """Two quantities, each declared to be the other."""
    known = claim.setting.hints.identities.quantities
    return declaring(claim, {**known, one: known[other], other: known[one]})


def measuring(claim, **functions):
    """The claim whose left side, or initial or other value, is another function under the same name."""
    statement = claim.statement
    left = next(q for q in statement.quantities if q.expression == statement.left)
    parts = [replace(q, of=functions.get("left" if q is left else "other", q.of)) for q in statement.quantities]
    return replace(claim, statement=replace(statement, quantities=tuple(parts)))


def is_proved(claim):
    try:
        return identities.prove(claim) is not None
    except ValueError as error:
        # A maximum over the clients is no form.
        assert not isinstance(error, Unprovable)
        return False


MISDECLARED = {
    "distance for gap": swapped(GAP, "gap", "distance"),
    "gap for distance": swapped(DISTANCE, "gap", "distance"),
    "|y*|^2 for the gap at the start": swapped(GAP, "first gap", "dual norm"),
    "zeta^2 for |y*|^2": swapped(ZETA, "heterogeneity", "dual norm"),
    "|y*|^2 for zeta^2": swapped(DISTANCE, "heterogeneity", "dual norm"),
    "gaps for drifts": swapped(C2, "gaps", "drift"),
    "drifts for gaps": swapped(E1, "gaps", "drift"),
    "distance for gap, with memory": swapped(KEPT_GAP, "gap", "distance"),
    "the gap for the potential": swapped(KEPT_DISTANCE, "potential", "first gap"),
    "nothing": declaring(GAP, {}),
    "no gap": declaring(E1, {name: q for name, q in DECLARED.items() if name != "gap"}),
    "no potential": declaring(KEPT_GAP, {name: q for name, q in OF_MEMORY.items() if name != "potential"}),
}


@pytest.mark.parametrize("name", MISDECLARED)
def test_what_is_declared_is_not_believed(name):
    assert not is_proved(MISDECLARED[name])


MEASURED = {
    # (20/3)/(N alpha^2) may be less than 1, and then this fails at T = 0.
    "gaps on both sides of a bound on the distance": measuring(DISTANCE, left=dual.dual_gap, other=dual.dual_gap),
    "gaps on both sides, through zeta": measuring(ZETA, left=dual.dual_gap, other=dual.dual_gap),
    "distances on both sides of a bound on the gap": measuring(
        GAP, left=inexact.primal_distance, other=inexact.primal_distance
    ),
    "the distance for the gap": measuring(GAP, left=inexact.primal_distance),
    "another distance": measuring(DISTANCE, left=dual.primal_distance),
    "|y - y*|^2 for the gap at the start": measuring(GAP, other=dual.dual_distance),
    "the gap for |y*|^2": measuring(DISTANCE, other=dual.dual_gap),
    "the gap for zeta^2": measuring(ZETA, other=dual.dual_gap),
    "a sum of gaps for that of drifts": measuring(C2, other=inexact.sum_of_gaps),
    "a sum of drifts for that of gaps": measuring(E1, other=inexact.drift),
    "the error for the distance": measuring(E1, left=inexact.oracle_error),
    "the gap for the potential": measuring(KEPT_DISTANCE, other=dual.dual_gap),
    "gaps on both sides, with memory": measuring(KEPT_DISTANCE, left=dual.dual_gap, other=dual.dual_gap),
    "the stored error for the potential": measuring(KEPT_GAP, other=memory.stored_error),
}


@pytest.mark.parametrize("name", MEASURED)
def test_what_a_quantity_measures_is_looked_at(name):
    assert not is_proved(MEASURED[name])


def test_a_bound_on_the_gap_by_the_constant_of_the_distance_fails():
    alpha, N = inexact.alpha, inexact.N
    constant = DISTANCE.statement.constant
    assert constant.subs({alpha: 10, N: 2}) < 1


def renamed(claim):
    """The claim with other names for all of its quantities, in its statement and in what is declared."""
    known = claim.setting.hints.identities.quantities
    others = {q.expression: sympy.Symbol(f"q_{k}") for k, q in enumerate(known.values())}
    quantities = {name: replace(q, expression=others[q.expression]) for name, q in known.items()}
    statement = claim.statement
    parts = tuple(replace(q, expression=others[q.expression]) for q in statement.quantities)
    sides = {
        side: getattr(statement, side).subs(others)
        for side in ("left", "initial", "override")
        if isinstance(getattr(statement, side, None), sympy.Basic)
    }
    return declaring(replace(claim, statement=replace(statement, quantities=parts, **sides)), quantities)


@pytest.mark.parametrize("claim", [GAP, DISTANCE, ZETA, C2, E1, KEPT_GAP, KEPT_DISTANCE], ids=lambda claim: claim.id)
def test_other_names_are_as_good(claim):
    other = renamed(claim)
    assert str(other.statement.left) != str(claim.statement.left)
    assert all(weights.prove(posed, other) for posed, weights in identities.pose(other))
    model = MODELS[other.setting.hints.identities.model]
    assert model.differs(other, next(model.instances(other))) is None


def test_a_round_after_others_asks_for_its_own_model():
    assert claims.get("feddcd/eq-29").setting is descent.DISPLAYED
    assert descent.DISPLAYED.hints.identities.model == "one round"
    with pytest.raises(Unprovable, match="does not declare"):
        identities.pose(replace(claims.get("feddcd/eq-29"), setting=inexact.COLD_IN_PROOF))
