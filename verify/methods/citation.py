"""Cited results: not tested, for the reason that the statement gives."""

from __future__ import annotations

from fedtheory.kinds.untested import Untested
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Not tested, with the reason."""
    statement: Untested = inquiry.statement
    return method.found(Verdict.NOT_TESTED, statement.reason)


METHOD = Method("citation", "cited results", (Untested,), run, role=Role.ALONE)
