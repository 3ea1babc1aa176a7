"""Prove what a step preserves by running the claim's own code on vectors known only by their inner products."""

from __future__ import annotations

from fedtheory.kinds.invariant import Invariant
from verify.evidence.record import Outcome
from verify.methods.base import CLASS, Inquiry, Method, Role
from verify.pep import posing
from verify.search.at_points import Way, at_each, formally


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified over the class, at each choice of the parameters."""
    if not posing.posable(inquiry.claim.setting):
        return method.skipped(f"the class of {inquiry.claim.id} is not posed")
    at = formally("invariant", inquiry.claim)
    way = Way(at, "over the class", "exact over the whole class, in all dimensions, at {}", "formal")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


METHOD = Method("invariants", CLASS, (Invariant,), run, role=Role.WHOLE)
