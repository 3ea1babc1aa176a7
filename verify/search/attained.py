"""Margins measured again where they were seen, without a search."""

from __future__ import annotations

import numpy as np

from fedtheory.claims import Claim
from verify.base.evaluate import has_rounds, hypotheses_hold
from verify.comparisons import parts
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Attained
from verify.search import refutation, spectral, states

#: How near a margin is to be to what is carried, relative to both: floats differ from one processor to the next.
NEAR = 1e-6


def margin_at(claim: Claim, at: Attained) -> float:
    """The margin of a claim where one was seen.

    ``ValueError`` or ``ArithmeticError`` where the claim speaks of no such state, or cannot be evaluated there.
    """
    if at.part:
        left, right = parts.evaluate_at(claim, at.recipe, at.point, at.rounds, at.part, at.entry)
        said = parts.relation(claim, at.part)
        return refutation.margin(
            Counterexample(claim, at.recipe, at.point, at.rounds, at.part, at.entry, left, right, said, "")
        )
    built = claim.instances.build(at.recipe, True)
    if not (hypotheses_hold(claim, built) and has_rounds(claim, built, 1)) or states.too_many(claim, built):
        raise ValueError(f"the instance does not meet the hypotheses of {claim.id}")
    theta = np.array([float(v) for v in at.point])
    with np.errstate(all="ignore"):
        ratio = states.ratio_at(claim, built, at.recipe, at.point, at.rounds)
    finding = states.settled(claim, at.recipe, states.Finding(ratio, theta, at.rounds, ""))
    return round(1 - float(spectral.steady(finding.ratio)), 9) + 0.0


def agree(one: float | None, other: float | None) -> bool:
    """Whether two margins are the same, but for rounding."""
    if one is None or other is None:
        return one is other
    return one == other or abs(one - other) <= NEAR * max(1.0, abs(one), abs(other))
