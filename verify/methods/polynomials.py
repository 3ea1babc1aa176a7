"""Relations between constants whose difference is a product of polynomials of one sign."""

from __future__ import annotations

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


METHOD = Method(
    "signs of polynomials", CONSTANTS, (Inequality, ParameterRule), run, frozenset({"==", "<=", "<"}), reads=False
)
