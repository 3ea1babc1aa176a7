"""Two sides that are one expression, and what a step preserves, read off the claim's code: for all n, d and letters."""

from __future__ import annotations

from fedtheory.kinds.base import Statement
from verify.as_read import proving
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, seen
from verify.search import hunting


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it, for all letters; otherwise nothing is known."""
    claim = inquiry.claim
    try:
        with attributed(claim):
            why = proving.obstacle(claim, seen(inquiry), hunting.generator(claim, inquiry.seed))
    except (ValueError, ArithmeticError) as error:
        why = str(error)
    if why:
        return method.skipped(f"left open: {why}")
    note = (
        "read off the code: for every n and d, in all states, for all functions and draws, at all values of the letters"
    )
    return method.found(Verdict.PROVED, note, used=("symbolic",))


METHOD = Method(
    "code that is read",
    "all states, functions and draws, in all dimensions, at all parameters and numbers of clients",
    (Statement,),
    run,
    frozenset({"==", "<="}),
    applies=proving.applies,
)
