"""Claims about labelled examples, shown in index notation: for all data, on every number of clients."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fedtheory.claims import Claim
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, seen

#: A leaf, which is loaded when a claim is asked about.
_DATA = "verify.data.proving"


def _proving() -> Any:
    return import_module(_DATA)


def _applies(claim: Claim) -> bool:
    return bool(_proving().applies(claim))


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it for all data; otherwise nothing is known."""
    claim = inquiry.claim
    try:
        with attributed(claim):
            why: str = _proving().prove(claim, seen(inquiry))
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if why:
        return method.skipped(f"left open: {why}")
    note = f"read off the code in index notation: for {_covered(claim)}"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _covered(claim: Claim) -> str:
    """Return in words what a proof is for."""
    if claim.setting.functions is None or (claim.setting.clients != (1,) and claim.setting.drawing.parameters):
        return "all data, any numbers of examples, clients and features"
    return "all functions of the class, any numbers of clients, in all dimensions"


METHOD = Method(
    "data as letters",
    "all data, any numbers of examples, clients and features, all states, at all parameters",
    (Identity, Inequality, Agreement, OneStep),
    run,
    frozenset({"==", "<="}),
    applies=_applies,
)
