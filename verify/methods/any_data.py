"""Claims shown by leaves: of labelled examples, of arrays whose lengths are letters, and by squares of what is read."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from fedtheory.claims import Claim
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.base import Statement
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, seen


def _applies(leaf: str, claim: Claim) -> bool:
    # A leaf is loaded when a claim is asked about.
    return bool(import_module(f"verify.{leaf}").applies(claim))


def _run(leaf: str, method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it; otherwise nothing is known."""
    claim, of = inquiry.claim, import_module(f"verify.{leaf}")
    try:
        with attributed(claim):
            why: str = of.prove(claim, seen(inquiry))
    except (ValueError, ArithmeticError) as error:
        why = str(error)
    return (
        method.skipped(f"left open: {why}") if why else method.found(Verdict.PROVED, of.note(claim), used=("symbolic",))
    )


def _method(leaf: str, kinds: tuple[type[Statement], ...], name: str, covers: str, *shows: str) -> Method:
    return Method(name, covers, kinds, partial(_run, leaf), frozenset(shows), applies=partial(_applies, leaf))


_ALL_DATA = "all data, any numbers of examples, clients and features, all states, at all parameters"
_ENTRIES = "all entries of arrays of any length, sums of any number of terms, at all parameters"
_STATES = "all states, in all dimensions, at all parameters and numbers of clients"
METHOD = _method("data.proving", (Identity, Inequality, Agreement, OneStep), "data as letters", _ALL_DATA, "==", "<=")
ENTRIES = _method("entries.proving", (Identity,), "entry by entry", _ENTRIES, "==")
SQUARES = _method("as_read.ordered", (Inequality,), "squares of what is read", _STATES, "==", "<=")
