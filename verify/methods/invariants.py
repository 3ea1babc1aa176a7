"""Prove what a step preserves by running the claim's own code on vectors known only by their inner products."""

from __future__ import annotations

from fedtheory.kinds.invariant import Invariant
from verify.evidence.record import Outcome
from verify.methods.base import CLASS, Inquiry, Method, Role
from verify.pep import posing
from verify.pep.prover import DoesNotHold
from verify.search.at_points import Way, at_each, checked, formally

#: The kind of the certificates, and what they show.
KIND, WHOLE = "invariant", "exact over the whole class, in all dimensions, at {}"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified over the class, at each choice of the parameters."""
    if not posing.posable(inquiry.claim.setting):
        return method.skipped(f"the class of {inquiry.claim.id} is not posed")
    way = Way(formally(KIND, inquiry.claim), "over the class", WHOLE, "formal")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


def recheck(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, at the stored choices of the parameters: all is computed again, and nothing looked for."""
    if not posing.posable(inquiry.claim.setting):
        raise DoesNotHold(f"the class of {inquiry.claim.id} is not posed")
    return checked(method.found, inquiry.claim, KIND, stored.certificates, WHOLE, "formal")


METHOD = Method("invariants", CLASS, (Invariant,), run, role=Role.WHOLE, recheck=recheck)
