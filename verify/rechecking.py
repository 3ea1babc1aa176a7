"""What is carried of a claim, checked again: its proofs without a search for them, its counterexample by evaluation.

A proof is found once and checked always. Nothing that is carried is believed: a certificate is checked by the code that
would make it, against the claim as it is now; a counterexample is evaluated in fractions, or by intervals; a margin is
measured again where it was seen. What does not hold is reported, and searched for again. Two things are not done
again, where the code is the same: proofs are not looked for where none was found, and of a claim that is proved only
the beginning of the search is made, and few runs are followed, which guards the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fedtheory.claims import Claim
from verify.base.verdict import Verdict
from verify.comparisons import orders
from verify.comparisons.deciding import arithmetic, violated
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome, Provenance
from verify.methods import PROOFS
from verify.methods.base import PROVEN, Inquiry, Method, examined
from verify.results import Carried
from verify.search import attained, hunting
from verify.search.refutation import margin as margin_of

#: Instances at which what is proved is looked at, and searched for violations; the second where the first are not
#: enough.
GUARD = (10, 40)


class Recheck:
    """A claim examined again: ``inquiry`` is what was asked of the methods in the end, ``fallen`` what failed."""

    def __init__(self, inquiry: Inquiry, carried: Carried, budget: str) -> None:
        self.inquiry = inquiry
        self.fallen = [carried.unread] if carried.unread else []
        evidence = carried.evidence
        self._evidence = evidence
        self._stored = {} if evidence is None else {outcome.method: outcome for outcome in evidence.outcomes}
        self._same = carried.alike and carried.budget == budget
        self._again = self._same and carried.seed == inquiry.seed
        self._firm: dict[str, Outcome] = {}
        self._beginnings = [replace(inquiry, size=min(size, inquiry.size), climbing=False) for size in GUARD]

    def outcomes(self, methods: tuple[Method, ...]) -> Iterator[Outcome]:
        """What each method finds, in order, as :func:`verify.methods.base.examined`."""
        fallen = self._refuted(methods)
        if fallen is not None:
            yield from fallen
            return
        self._prove(methods)
        if self._firm and self._same and "hunt" not in vars(self.inquiry):
            self._guard(methods)
        yield from examined(self.inquiry, methods, self._found)

    def _refuted(self, methods: tuple[Method, ...]) -> list[Outcome] | None:
        """The outcomes where the counterexample that is carried contradicts the claim; None where none does."""
        claim = self.inquiry.claim
        by = next((o for o in self._stored.values() if o.verdict is Verdict.REFUTED), None)
        example = None if self._evidence is None else self._evidence.counterexample
        method = next((m for m in methods if by is not None and m.name == by.method and m.speaks_of(claim)), None)
        if by is None or example is None or method is None:
            return None
        try:
            again = _contradicting(claim, example)
            worst = margin_of(again)
            if by.attained is not None:
                worst = min(worst, attained.margin_at(claim, by.attained))
        except Exception as error:
            # No file content ends an audit.
            self.fallen.append(f"the counterexample: {error}")
            return None
        found = method.found(
            Verdict.REFUTED,
            f"confirmed {arithmetic(again.left, again.right)}",
            margin=worst,
            instances=1,
            counterexample=again,
            tightest=again.recipe,
            attained=by.attained,
            used=("rational",),
            source=Provenance.RECHECKED,
        )
        return list(examined(self.inquiry, methods, lambda other, _: found if other is method else _spared(other)))

    def _prove(self, methods: tuple[Method, ...]) -> None:
        """Check the first proof that is carried, or find it again where it is quickly found."""
        for method in methods:
            was = self._stored.get(method.name)
            if was is None or was.verdict not in PROVEN or not method.speaks_of(self.inquiry.claim):
                continue
            if method.recheck is None:
                # Not a search for a proof, but the proof itself. Of one for all letters few instances are enough.
                few = self._beginnings if was.verdict is Verdict.PROVED else []
                for inquiry in (*few, self.inquiry):
                    found = method.run(method, inquiry)
                    if found.verdict in PROVEN:
                        break
            else:
                try:
                    found = replace(method.recheck(method, self.inquiry, was), source=Provenance.RECHECKED)
                except Exception as error:
                    self.fallen.append(f"the proof by the method {method.name!r}: {error}")
                    continue
            self._firm[method.name] = found
            if found.verdict in PROVEN and not method.unshown(self.inquiry.claim):
                return
        self._firm = {name: found for name, found in self._firm.items() if found.verdict in PROVEN}

    def _guard(self, methods: tuple[Method, ...]) -> None:
        """Have those methods that report how much was examined look a little, where the margin that is carried is so.

        What they find with the same seed has that margin, or all of it is found anew.
        """
        for method in methods:
            was = self._stored.get(method.name)
            if method.guard is None or was is None or not method.speaks_of(self.inquiry.claim):
                continue
            for beginning in self._beginnings:
                try:
                    found = method.guard(method, beginning, was)
                except Exception as error:
                    self.fallen.append(f"the margin: {error}")
                    return
                if found.verdict is not Verdict.NOT_TESTED:
                    break
            else:
                return
            if self._again and found.verdict is was.verdict:
                if not attained.agree(found.margin, was.margin):
                    self.fallen.append(f"the margin: {was.margin} is carried, and {found.margin} is found")
                    return
                found = replace(found, margin=was.margin)
            self._firm[method.name] = found
            if "hunt" in vars(beginning):
                self.inquiry = beginning

    def _found(self, method: Method, inquiry: Inquiry) -> Outcome:
        if (firm := self._firm.get(method.name)) is not None:
            return firm
        was = self._stored.get(method.name)
        if self._same and was is not None and was.applied and was.verdict is None and method in PROOFS:
            return replace(was, source=Provenance.CARRIED)
        return method.run(method, inquiry)


def _contradicting(claim: Claim, example: Counterexample) -> Counterexample:
    """A counterexample evaluated again. ``ValueError`` where it is none of this claim."""
    if example.claim is not claim:
        raise ValueError(f"it is one of {example.claim.id}")
    left, right = example.replay()
    if not violated(left, right, example.relation):
        raise ValueError(f"it does not contradict {claim.id}")
    of_curve = example.part.startswith(orders.PREFIX)
    if not (claim.statement.ending or of_curve) and (untrue := hunting.untrue(claim, example.recipe)):
        raise ValueError(untrue)
    return replace(example, left=left, right=right, text=example.place())


def _spared(method: Method) -> Outcome:
    return method.skipped("not run: a counterexample is carried", applied=False)
