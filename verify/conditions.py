"""Claims that restate the bounds of others, as rounds restate a rate: they hold only if these do, and say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fedtheory import claims
from fedtheory.claims import Claim
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence

#: Verdicts that a claim can have if it is not refuted and makes sense, strongest first.
_ORDER = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED, Verdict.NOT_TESTED)


def conditional(evidence: Evidence, verdict_of: Callable[[Claim], Verdict]) -> Evidence:
    """The evidence, with a verdict no stronger than those of what is given; ``verdict_of`` a claim: its verdict.

    Of what does not hold, or is not tested, nothing follows. Raise ``ValueError`` if a claim is given itself.
    """
    claim = evidence.claim
    if not claim.given or evidence.verdict not in _ORDER:
        return evidence
    _check_order(claim)
    given = tuple((id, verdict_of(claims.get(id))) for id in claim.given)
    unproved = [(id, verdict) for id, verdict in given if verdict is not Verdict.PROVED]
    strength = max(map(_strength, (evidence.verdict, *(verdict for _, verdict in given))))
    if not unproved:
        return replace(evidence, given=given)
    known = ", and ".join(f"{id} holds, which is {verdict}" for id, verdict in unproved)
    return replace(evidence, verdict=_ORDER[strength], note=f"if {known}: {evidence.note}", given=given)


def _strength(verdict: Verdict) -> int:
    return _ORDER.index(verdict) if verdict in _ORDER else len(_ORDER) - 1


def _check_order(claim: Claim) -> None:
    def given(id: str) -> tuple[str, ...]:
        return claim.given if id == claim.id else claims.get(id).given

    for id, path in claims.behind(claim.id, given, deep=True):
        for other in given(id):
            if other in (*path, id):
                raise ValueError(f"{other} would be given itself")
