"""Bounds for every number of rounds, by multipliers for one step."""

from __future__ import annotations

from fedtheory.kinds.bound import Bound
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods import multipliers
from verify.methods.base import Inquiry, Method
from verify.multipliers.induction import step_of
from verify.multipliers.proving import prove
from verify.reading.source import Unread


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the step is by multipliers that were checked; otherwise nothing is known."""
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    try:
        found = prove(step_of(inquiry.claim), multipliers.SECONDS)
    except Unread as error:
        return method.skipped(f"left open: {error}")
    if isinstance(found, str):
        return method.skipped(f"left open: {found}")
    note = f"by induction on the rounds, of which each makes it smaller by the rate: {', '.join(found.cases)}"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


METHOD = Method(
    "induction on rounds",
    "the whole class, in all dimensions, at all parameters and numbers of clients and rounds",
    (Bound,),
    run,
    applies=multipliers.METHOD.applies,
)
