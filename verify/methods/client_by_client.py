"""Inequalities of states, or of one step, for all letters and numbers of clients, by what one generic client adds."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods import multipliers
from verify.methods.base import Inquiry, Method, seen
from verify.multipliers import client_proofs, proving
from verify.search import hunting


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by multipliers that were checked; otherwise nothing is known."""
    claim = inquiry.claim
    try:
        with attributed(claim):
            shown = client_proofs.prove(claim, seen(inquiry), hunting.generator(claim, inquiry.seed))
    except (ValueError, ArithmeticError) as error:
        shown = str(error)
    if isinstance(shown, str):
        return _otherwise(method, claim) or method.skipped(f"left open: {shown}")
    used = sum(len(proof.multipliers) for proof in shown)
    note = (
        f"{used} multiplier{'s' if used != 1 else ''} in closed form, for all letters, each client's own too, and "
        f"every number of clients{f', in {len(shown)} cases' if len(shown) > 1 else ''}"
    )
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _otherwise(method: Method, claim: Claim) -> Outcome | None:
    """An inequality of states proved as one step is, by the mean over the clients and the deviations from it."""
    classed = claim.setting.algorithm is not None and claim.setting.functions is not None
    if not isinstance(claim.statement, Inequality) or not classed or reals.unreal(claim):
        return None
    found = proving.prove(claim)
    return None if isinstance(found, str) else method.found(Verdict.PROVED, multipliers.note(found), used=("symbolic",))


def _applies(claim: Claim) -> bool:
    statement = claim.statement
    return bool(statement.quantities) and not (statement.stepping and claim.setting.adversaries)


METHOD = Method(
    "client by client",
    "the whole class, in all dimensions, at all parameters, each client's own too, and numbers of clients",
    (Inequality, OneStep),
    run,
    frozenset({"<=", "=="}),
    applies=_applies,
)
