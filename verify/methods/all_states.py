"""Statements about all states, at exact parameters, by the claim's own code on states that are indeterminate."""

from __future__ import annotations

from fedtheory.kinds.base import Statement
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.pep import generic_states
from verify.search.at_points import Way, at_each, formally


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified in all states, at each choice of the parameters."""
    at = formally("all states", inquiry.claim)
    way = Way(at, "in all states", "exact in all states, at {}", "formal")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


METHOD = Method(
    "all states",
    "all states, at exact parameters",
    (Statement,),
    run,
    frozenset({"==", "<="}),
    Role.WHOLE,
    generic_states.applies,
)
