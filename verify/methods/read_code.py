"""Two sides that are one expression, and what a step preserves, read off the claim's code: for all n, d and letters."""

from __future__ import annotations

from itertools import islice

from fedtheory.instances import Instance
from fedtheory.kinds.base import Statement
from verify.base.evaluate import meeting
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.reading import comparing, proving
from verify.search import hunting

#: Recipes beyond those that the search came across, at which the kinds of parameters and the sizes of states are seen.
MORE = 60


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it, whatever the letters; otherwise nothing is known."""
    claim = inquiry.claim
    try:
        with attributed(claim):
            instances = _instances(inquiry)
            cases = proving.read(claim, instances)
            why = next((why for case in cases if (why := proving.unshown(claim, case))), "")
            if not why:
                comparing.check(claim, cases, instances, hunting.generator(claim, inquiry.seed))
    except (ValueError, ArithmeticError) as error:
        return method.skipped(f"left open: {error}")
    if why or not cases:
        return method.skipped(f"left open: {why or 'the hypotheses are met by no letters'}")
    note = (
        "read off the code: for every n and d, in all states, for all functions and draws, at all values of the letters"
    )
    return method.found(Verdict.PROVED, note, used=("symbolic",))


def _instances(inquiry: Inquiry) -> list[Instance]:
    """Instances that meet the hypotheses, of several sizes."""
    claim = inquiry.claim
    found = [claim.instances.build(recipe, True) for recipe in inquiry.met]
    if not found:
        raise ValueError("no instance meets the hypotheses")
    more = claim.instances.recipes(hunting.generator(claim, inquiry.seed))
    return found + [instance for _, instance in meeting(claim, islice(more, MORE))]


METHOD = Method(
    "code that is read",
    "all states, functions and draws, in all dimensions, at all parameters and numbers of clients",
    (Statement,),
    run,
    frozenset({"==", "<="}),
    applies=proving.applies,
)
