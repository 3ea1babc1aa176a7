"""Statements about all states, at exact parameters, by the claim's own code on states that are indeterminate."""

from __future__ import annotations

from verify.evidence.record import Outcome
from verify.methods.at_parameters import formally
from verify.methods.base import Inquiry, Method, Role
from verify.pep import generic_states


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified in all states, at each choice of the parameters."""
    return formally(method, inquiry, "all states", "in all states", "exact in all states, at {}", "formal")


METHOD = Method(
    "all states",
    "all states, at exact parameters",
    generic_states.applies,
    run,
    frozenset({"==", "<="}),
    Role.WHOLE,
)
