"""Relations between constants whose difference is a product of polynomials of one sign."""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals, symbolic
from verify.methods.base import CONSTANTS, Inquiry, Method


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by the signs of factors; otherwise nothing is known."""
    try:
        proved = symbolic.proves(inquiry.claim)
    except symbolic.Unfactored as error:
        return method.skipped(f"left open: {error}")
    if not proved:
        return method.skipped("left open: the difference of the sides is not a product of factors of one sign")
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    note = "reduced to the sign of polynomials, for all values of the constants"
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _applies(claim: Claim) -> bool:
    """Return True unless an identity involves quantities, of which expressions alone show nothing."""
    return not (isinstance(claim.statement, Identity) and claim.statement.quantities)


METHOD = Method(
    "signs of polynomials",
    CONSTANTS,
    (Inequality, Identity, ParameterRule),
    run,
    frozenset({"==", "<=", "<"}),
    applies=_applies,
    reads=False,
)
