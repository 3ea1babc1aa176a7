"""Statements about all states, at exact parameters, by the claim's own code on states that are indeterminate."""

from __future__ import annotations

from fedtheory.kinds.base import Statement
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.pep import generic_states
from verify.search.at_points import Way, at_each, checked, formally

#: The kind of the certificates, and what they show.
KIND, WHOLE = "all states", "exact in all states, at {}"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified in all states, at each choice of the parameters."""
    way = Way(formally(KIND, inquiry.claim), "in all states", WHOLE, "formal")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


def recheck(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, at the stored choices of the parameters: all is computed again, and nothing looked for."""
    return checked(method.found, inquiry.claim, KIND, stored.certificates, WHOLE, "formal")


METHOD = Method(
    "all states",
    "all states, at exact parameters",
    (Statement,),
    run,
    frozenset({"==", "<="}),
    Role.WHOLE,
    generic_states.applies,
    recheck,
)
