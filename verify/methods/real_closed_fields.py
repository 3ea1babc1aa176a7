"""Relations between constants, decided over the reals by z3, and what it finds against them confirmed."""

from __future__ import annotations

from fedtheory.kinds.base import Statement
from verify.base.verdict import Verdict
from verify.comparisons.deciding import arithmetic
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.exact import reals
from verify.methods.base import CONSTANTS, Inquiry, Method
from verify.search import shrinking, states
from verify.search.refutation import margin

#: What is told where no object is written that something else checks.
ALONE = "there is one opinion only, that of z3's decision procedure"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved for all real values, refuted at values that z3 finds and exact arithmetic confirms, or left open."""
    if not reals.proves(inquiry.claim):
        for recipe in reals.suspects(inquiry.claim):
            example = states.violation(inquiry.claim, recipe)
            if example is not None:
                return _fallen(method, example)
        return method.skipped("left open: z3 gives no proof in its time, or the statement is not one of polynomials")
    if undefined := reals.unreal(inquiry.claim):
        return method.skipped(undefined)
    note = "no real values of the constants break it, by z3's decision procedure for polynomials"
    return method.found(Verdict.PROVED, note, used=("reals",))


def _fallen(method: Method, example: Counterexample) -> Outcome:
    """Refuted by values that z3 found, made as simple as can be."""
    small = shrinking.smallest(example)
    note = f"at values that z3 found: confirmed {arithmetic(small.left, small.right)}"
    details = {"counterexample": small, "tightest": small.recipe, "used": ("reals", "rational"), "instances": 1}
    return method.found(Verdict.REFUTED, note, margin=margin(small), **details)


METHOD = Method(
    "real closed fields",
    CONSTANTS,
    (Statement,),
    run,
    frozenset({"==", "<=", "<"}),
    applies=reals.applies,
)
