"""The worst case over the class, bounded by a semidefinite program whose dual is checked in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from fedtheory.instances import Recipe
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from verify.base.along_runs import of_runs
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.evidence import certificates
from verify.evidence.certificates import ClassCertificate
from verify.evidence.record import Outcome
from verify.methods.base import CLASS, Inquiry, Method, Role
from verify.pep import posing
from verify.search.at_points import Way, at_each


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Certified by an exact bound at each choice of the parameters; a larger worst case refutes nothing."""
    if not posing.posable(inquiry.claim.setting):
        return method.skipped(f"the class of {inquiry.claim.id} is not posed")

    def at(recipe: Recipe) -> tuple[ClassCertificate | None, str, bool]:
        found, certificate = certificates.certified(Case(inquiry.claim, recipe))
        exceeded = found.verdict is Verdict.REFUTED
        size = found.lower if found.lower is not None else "not bounded"
        worst = f"the worst case over the class is {_short(size)}, and {_short(found.claimed)} is claimed"
        return certificate, worst if exceeded else found.note, exceeded

    way = Way(at, "over the class", "bounded over the whole class, in all dimensions, at {}", "sdp")
    return at_each(method.found, inquiry.claim, inquiry.met, inquiry.others, way)


def _short(value: Fraction | str) -> str:
    return value if isinstance(value, str) else f"{float(value):.9g}"


METHOD = Method(
    "worst cases",
    CLASS,
    (OneStep, Bound, Inequality),
    run,
    role=Role.WHOLE,
    # One step says nothing of sums over rounds.
    applies=lambda claim: not of_runs(claim.statement),
)
