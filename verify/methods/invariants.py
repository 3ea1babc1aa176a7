"""What a step preserves, by the claim's own code on vectors that are known by their inner products."""

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
    whole = "exact over the whole class, in all dimensions, at {}"
    way = Way(formally("invariant", inquiry.claim), "over the class", whole, "formal")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


METHOD = Method("invariants", CLASS, (Invariant,), run, role=Role.WHOLE)
