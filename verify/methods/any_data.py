"""Claims shown in notations of their own: labelled examples by indices, and arrays whose lengths are letters."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from fedtheory.claims import Claim
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, seen


def _applies(leaf: str, claim: Claim) -> bool:
    return bool(_proving(leaf).applies(claim))


def _proving(leaf: str) -> Any:
    """Return the module of a leaf, which is loaded when a claim is asked about."""
    return import_module(f"verify.{leaf}.proving")


def _run(leaf: str, method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it; otherwise nothing is known."""
    claim, of = inquiry.claim, _proving(leaf)
    try:
        with attributed(claim):
            why: str = of.prove(claim, seen(inquiry))
    except (ValueError, ArithmeticError) as error:
        why = str(error)
    return method.skipped(f"left open: {why}") if why else method.found(Verdict.PROVED, of.NOTE, used=("symbolic",))


METHOD = Method(
    "data as letters",
    "all data, any numbers of examples, clients and features, all states, at all parameters",
    (Identity, Inequality, Agreement),
    partial(_run, "data"),
    frozenset({"==", "<="}),
    applies=partial(_applies, "data"),
)
ENTRIES = Method(
    "entry by entry",
    "all entries of arrays of any length, sums of any number of terms, at all parameters",
    (Identity,),
    partial(_run, "entries"),
    frozenset({"=="}),
    applies=partial(_applies, "entries"),
)
