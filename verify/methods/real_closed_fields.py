"""Relations between constants, decided over the reals by z3, and what it finds against them confirmed."""

from __future__ import annotations

import sympy

from fedtheory.kinds.base import Statement
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods.base import CONSTANTS, Inquiry, Method
from verify.search import choosing, hunting, states

#: The remark where no proof object is written that something else checks.
ALONE = "the only evidence is z3's decision procedure"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved for all real values, refuted or ill-posed at values that z3 finds and exact arithmetic confirms, or left
    open."""
    for recipe in reals.holes(inquiry.claim) if inquiry.claim.setting.of_constants else ():
        if (undefined := hunting.undefined_at(Case(inquiry.claim, recipe))) is not None:
            why, where = undefined
            return method.found(Verdict.ILL_POSED, f"{why}, which no hypothesis excludes: at {where}", used=("reals",))
    if not reals.proves(inquiry.claim):
        # Values of letters make an instance where there is no problem beside them.
        for recipe in reals.suspects(inquiry.claim) if inquiry.claim.setting.of_constants else ():
            example = states.violation(Case(inquiry.claim, recipe))
            if example is not None:
                return choosing.refuted(method.found, example, "at values that z3 found", "reals")
        return method.skipped(
            "left open: z3 finds no proof within its limit on work, or the statement is not polynomial"
        )
    if unreal := reals.unreal(inquiry.claim):
        return method.skipped(unreal)
    note = "no real values of the constants break it, by z3's decision procedure for polynomials"
    if any(side.has(sympy.log) for c in inquiry.statement.comparisons for side in (c.left, c.right)):
        note += ", and logarithms are at most their tangents"
    return method.found(Verdict.PROVED, note, used=("reals",))


METHOD = Method(
    "real closed fields",
    CONSTANTS,
    (Statement,),
    run,
    frozenset({"==", "<=", "<"}),
    applies=reals.applies,
    reads=False,
)
