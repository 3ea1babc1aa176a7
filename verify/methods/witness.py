"""Show that something fails: by a witness, an instance."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.kinds.fails import Fails
from verify.base.verdict import Verdict
from verify.comparisons.deciding import arithmetic, certain
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import number
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method, Role
from verify.search import choosing


def smallest_witness(inquiry: Inquiry) -> Counterexample | None:
    """The smallest instance found that contradicts what the claim says to fail, confirmed; None if none is."""
    statement: Fails = inquiry.statement
    found = replace(inquiry, claim=replace(inquiry.claim, statement=statement.of)).hunt.refutations
    if not found:
        return None
    return choosing.chosen(found)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved by one instance, in fractions or by intervals; where none is found nothing is known.

    Where floats take part it is supported.
    """
    found = smallest_witness(inquiry)
    if found is None:
        return method.found(Verdict.NOT_TESTED, "no instance was found on which it fails; this proves nothing")
    sides = f"{number(found.left)} where {found.relation} {number(found.right)} would have to hold"
    note = f"an instance, confirmed {arithmetic(found.left, found.right)}: {found.text}: {sides}"
    verdict = Verdict.PROVED if certain(found.left, found.right) else Verdict.SUPPORTED
    return method.found(verdict, note, instances=1, tightest=found.recipe, used=("search", "rational"))


METHOD = Method(
    "witness", "that a statement fails, by an instance in fractions", (Fails,), run, role=Role.ALONE, reads=False
)
