"""Orders of growth: left = O(right), by the supremum of the ratio over boxes that grow.

An order holds as far as this shows when the supremum stops growing; it fails when the supremum keeps growing with the
box. How it is found: :mod:`verify.comparisons.orders`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.statements import Order
from verify.comparisons.orders import BOXES, EXCESS, sides_at, suprema
from verify.counterexamples import Counterexample
from verify.methods.base import Method
from verify.outcome import Outcome
from verify.verdict import Verdict

#: Growth of the supremum, from one box to the next, that still counts as none, and that counts as unbounded.
STEADY, GROWING = 1.05, 2.0
#: Longer numbers are shown in floating point.
_LONGEST = 12


def counterexample(claim: Claim, recipe: Recipe, index: int) -> Counterexample | None:
    """The counterexample to one order of the claim at the values of a recipe, if they are one.

    ``ValueError`` for values of which the claim does not speak.
    """
    left, right = sides_at(claim, recipe, index)
    if left <= right:
        return None
    values = ", ".join(f"{name}={_short(v)}" for name, v in recipe.items())
    text = f"{values}: left/right against {EXCESS} times the most it is while all values are within 10^{BOXES[0]}"
    return Counterexample(claim, recipe, (), 0, f"order {index}", 0, left, right, "<=", text)


def _short(value: Fraction) -> str:
    """A number as it is, or in floating point where it is long."""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{float(value):g}"


def outcome(method: Method, claim: Claim) -> Outcome:
    """Supported when every supremum is steady over the last boxes, refuted when one grows in each, else not tested."""
    assert isinstance(claim.statement, Order)
    parts = claim.statement.parts
    steady, tested = [], 0
    for index, part in enumerate(parts):
        found = suprema(part, claim)
        values = [v for v, _ in found if v is not None]
        if len(values) < len(BOXES):
            return method.found(Verdict.NOT_TESTED, "no instance met the hypotheses")
        tested += len(values)
        growth = [b / a if a else mpmath.inf for a, b in pairwise(values)]
        if growth[-1] > STEADY:
            seen = ", ".join(mpmath.nstr(v, 4) for v in values)
            note = f"({part.left})/({part.right}) grows with the values: at most {seen}"
            example = counterexample(claim, {str(s): v for s, v in found[-1][1].items()}, index)
            if example is not None and all(g >= GROWING for g in growth[1:]):
                details = {"margin": round(float(1 - example.left / example.right), 9), "counterexample": example}
                return method.found(Verdict.REFUTED, note, instances=tested, used=("search",), **details)
            return method.found(Verdict.NOT_TESTED, note, instances=tested, used=("search",))
        steady.append(values[-1])
    note = f"left/right stays below {mpmath.nstr(max(steady), 6)} up to 10^{BOXES[-1]}"
    if len(parts) > 1:
        note += f", over {len(parts)} orders"
    return method.found(Verdict.SUPPORTED, note, instances=tested, used=("search",))
