"""Proofs by multipliers that are functions of the letters, for every number of clients, read off the claim's code."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.kinds.one_step import OneStep
from verify.base.verdict import Verdict
from verify.derivation import starts
from verify.derivation.lemmas import in_one_round
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods.base import Inquiry, Method
from verify.multipliers.proving import Shown, prove


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by multipliers that were checked; otherwise nothing is known."""
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    try:
        found = _shown(inquiry.claim)
    except ValueError as error:
        return method.skipped(f"left open: {error}")
    if isinstance(found, str):
        return method.skipped(f"left open: {found}")
    return method.found(Verdict.PROVED, note(found), used=("symbolic",))


def note(found: Shown) -> str:
    """Return in words what a proof of all cases rests on."""
    used = sum(len(proof.multipliers) for proof in found.proofs)
    setting = found.claim.setting
    named = setting.functions is not None and setting.functions.named
    several = "" if named or set(setting.clients) == {1} else " and every number of clients"
    return (
        f"{used} multiplier{'s' if used != 1 else ''} in closed form, for all letters{several}: "
        f"{'; '.join(found.cases)}"
    )


def _shown(claim: Claim) -> Shown | str:
    """Proofs of a claim about one step; of one in which parameters vary with the round, for every round."""
    if not getattr(claim.statement.algorithm, "schedules", {}):
        return prove(claim)
    varies = starts.varying(claim)
    return varies or prove(in_one_round(claim, claim.statement), read_at=claim)


def _applies(claim: Claim) -> bool:
    return claim.setting.algorithm is not None and claim.setting.functions is not None


METHOD = Method(
    "multipliers",
    "the whole class, in all dimensions, at all parameters and numbers of clients",
    (OneStep,),
    run,
    applies=_applies,
)
