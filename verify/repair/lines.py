"""The lines of a statement of several, each a claim of its own."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.settings.relations import Comparison


def lines(claim: Claim) -> tuple[Comparison, ...]:
    """Return the lines of a claim that may be examined one by one: inequalities, all of one sort."""
    statement = claim.statement
    if not isinstance(statement, Inequality) or statement.middle is not None or statement.strict:
        return ()
    return statement.comparisons


def alone(claim: Claim, kept: Sequence[Comparison]) -> Claim:
    """Return the claim of some of its lines, an inequality first, with the quantities in these."""
    (left, _, right), *also = kept
    named = sympy.Tuple(*(side for line in kept for side in (line.left, line.right))).free_symbols
    quantities = tuple(q for q in claim.statement.quantities if q.expression.free_symbols & named)
    return claim.variant(left=left, right=right, also=tuple(also), quantities=quantities)


def altered(changed: Claim, claim: Claim) -> Claim:
    """Return the part of a changed claim that has to be searched: the lines that the change alters. The others are as
    before; if one of them fails, so does the claim.
    """
    remaining, printed = lines(changed), lines(claim)
    if not remaining or {"requires", "setting", "algorithm", "statement"} & set(changed.changes):
        return changed
    kept = [line for line in remaining if line not in printed]
    return alone(changed, kept) if kept and kept[0].relation == "<=" and len(kept) < len(remaining) else changed
