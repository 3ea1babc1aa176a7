"""What exists: an instance on which a statement fails, and orderings seen in an experiment on data at hand."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.fails import Fails
from verify.comparisons.deciding import arithmetic, certain
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import number
from verify.evidence.record import Outcome
from verify.methods import shrinking
from verify.methods.base import Inquiry, Method
from verify.verdict import Verdict


def smallest_witness(inquiry: Inquiry) -> Counterexample | None:
    """The smallest instance found that contradicts what the claim says to fail, confirmed; None if none is."""
    claim = inquiry.claim
    assert isinstance(claim.statement, Fails)
    found = replace(inquiry, claim=replace(claim, statement=claim.statement.of)).hunt.refutations
    if not found:
        return None
    return shrinking.smallest(min(found, key=lambda c: shrinking.complexity(c.recipe)))


def witness(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by one instance, in fractions or by intervals; where none is found nothing is known.

    Where floats take part it is supported.
    """
    found = smallest_witness(inquiry)
    if found is None:
        return method.found(Verdict.NOT_TESTED, "no instance was found on which it fails, which proves nothing")
    sides = f"{number(found.left)} where {found.relation} {number(found.right)} would have to hold"
    note = f"an instance, confirmed {arithmetic(found.left, found.right)}: {found.text}: {sides}"
    verdict = Verdict.PROVED if certain(found.left, found.right) else Verdict.SUPPORTED
    return method.found(verdict, note, instances=1, tightest=found.recipe, used=("search", "rational"))


def sightings(method: Method, inquiry: Inquiry) -> Outcome:
    """Supported where all orderings are seen; else not tested, with those that are and those that are not."""
    statement = inquiry.claim.statement
    assert isinstance(statement, Experiment)
    found = statement.run(inquiry.seed)
    if not found:
        return method.found(Verdict.NOT_TESTED, f"not run: {statement.data}")
    words = {None: "not decided", True: "seen", False: "NOT seen"}
    told = [f"{s.text}: {words[s.seen]} ({s.numbers})" for s in found]
    note = "; ".join([f"on {statement.data}", *told])
    verdict = Verdict.SUPPORTED if all(s.seen for s in found) else Verdict.NOT_TESTED
    return method.found(verdict, note, instances=len(found), used=("search",))
