"""Claims about labelled examples, shown in index notation: for all data, on every number of clients."""

from __future__ import annotations

from functools import partial
from importlib import import_module

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


def applies(leaf: str, claim: Claim) -> bool:
    """Return True if the proofs of a leaf are about claims such as this."""
    return bool(import_module(leaf).applies(claim))


def shown(leaf: str, method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where a leaf shows the claim by code that it reads; otherwise nothing is known."""
    claim, of = inquiry.claim, import_module(leaf)
    try:
        with attributed(claim):
            why: str = of.prove(claim, seen(inquiry))
    except (ValueError, ArithmeticError) as error:
        why = str(error)
    if why:
        return method.skipped(f"left open: {why}")
    return method.found(Verdict.PROVED, of.note(claim), used=("symbolic",))


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it for all data; otherwise nothing is known."""
    return shown(_DATA, method, inquiry)


METHOD = Method(
    "data as letters",
    "all data, any numbers of examples, clients and features, all states, at all parameters",
    (Identity, Inequality, Agreement, OneStep),
    run,
    frozenset({"==", "<="}),
    applies=partial(applies, _DATA),
)
