"""Identities between arrays whose lengths are letters: sums over indices, bands of matrices, powers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fedtheory.claims import Claim
from fedtheory.kinds.identity import Identity
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, seen

#: A leaf, which is loaded when a claim is asked about.
_ENTRIES = "verify.entries.proving"


def _proving() -> Any:
    return import_module(_ENTRIES)


def _applies(claim: Claim) -> bool:
    return bool(_proving().applies(claim))


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it at every place; otherwise nothing is known."""
    claim = inquiry.claim
    try:
        with attributed(claim):
            why: str = _proving().prove(claim, seen(inquiry))
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if why:
        return method.skipped(f"left open: {why}")
    note = "read off the code entry by entry: for all lengths of arrays and of sums, at all values of the letters"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


METHOD = Method(
    "entry by entry",
    "all entries of arrays of any length, sums of any number of terms, at all parameters",
    (Identity,),
    run,
    frozenset({"=="}),
    applies=_applies,
)
