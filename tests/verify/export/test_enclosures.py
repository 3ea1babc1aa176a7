"""Counterexamples with roots and whole parts as arithmetic: bounds of both sides, and no others."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from verify import checker, results
from verify.evidence import formats
from verify.evidence.counterexamples import Counterexample
from verify.export import enclosures, found, objects, rocq_terms

ROOTS, WHOLE, GIVEN = "feddcd/theorem-7.1/eq-14", "fedadmm/remark-4.3/eq-29/literal", "fedadmm/eq-45/use"


def _example(id):
    return Counterexample.from_json(results.shipped().entries[id]["counterexample"])


@pytest.mark.parametrize("id", [ROOTS, WHOLE, GIVEN, "fedopt/fsvrg/property-b"])
def test_bounds_are_arithmetic_in_which_no_number_can_be_another(id):
    (made,) = found.all_of(id)
    assert made["kind"] == "arithmetic" and formats.checked("proof", checker.check(json.dumps(made))) == made
    assert rocq_terms.theorem("t", made)
    for k, (name, by, *of) in enumerate(made["steps"]):
        # Another instance may have the same sides.
        if not of and (id == ROOTS or " from " in name or "stated" in name or name == by):
            x = Fraction(by)
            for other in (x + 1, -x - 1, x * Fraction(11, 10) + Fraction(1, 7)):
                steps = [*made["steps"][:k], [name, str(other)], *made["steps"][k + 1 :]]
                with pytest.raises(ValueError):
                    checker.check(json.dumps(objects.sealed({**made, "steps": steps})))


def test_ends_of_sides_are_told_where_they_are_not_the_sides():
    (roots,), (whole,), (least,) = (found.all_of(id) for id in (ROOTS, WHOLE, "feddcd/appendix-F/case-2"))
    assert any("beside argument" in name for name, *_ in least["steps"])
    assert roots["steps"][-1][1:] == ["<", "right, bounded from above", "left, bounded from below"]
    assert whole["steps"][-1][2:] == ["right", "left"]


def test_what_holds_gets_no_object():
    """Sides that are as near as 1e-7 are told apart, on the right side; what only code counts is no arithmetic."""
    example = _example(ROOTS)
    right = example.claim.statement.right
    for factor, made in ((10, False), (Fraction(20744471, 10**7), True), (Fraction(20744472, 10**7), False)):
        other = replace(example, claim=example.claim.variant(right=right * factor))
        assert (enclosures.of(other.claim, other) is not None) == made
    for id in ("fedadmm/eq-21", "fedadmm/example-5.1", "fedadmm/remark-4.1/scheme"):
        assert [data["kind"] for data in found.all_of(id)] == ["recomputation"]
