"""Answers about a claim as data, for programs: used by ``--json`` of the commands and by the server for agents."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory import claims
from fedtheory.claims import Claim
from verify.base.plain import counted
from verify.base.verdict import Verdict
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import number
from verify.evidence.record import Evidence
from verify.report import by_hand, failures, placing, statement, terminal, why

if TYPE_CHECKING:
    from verify.search import seen

#: The beginning of the note of a claim that is only supported, with what was not searched.
_NOT_SEARCHED = re.compile(r"supported ((?:on|for|beyond|in|with) .*?): ")

#: The number of rounds beyond which all are meant.
_EVER = 10**6


def claim(
    evidence: Evidence, verdicts: Mapping[str, str], own: Path | None = None, reached: str = ""
) -> dict[str, Any]:
    """The evidence for a claim, its counterexample, what holds instead, and the commands that may be next.

    ``own``: the user's file that has the claim; ``reached``: how far was searched, where that is known.
    """
    of, example = evidence.claim, evidence.counterexample
    way = failures.failure_mode(of, verdicts)
    return {
        "id": of.id,
        "where": of.where,
        "kind": of.kind,
        "gist": of.gist,
        "statement": statement.text(of),
        "latex": statement.formulas(of),
        "hypotheses": [hypothesis.text for hypothesis in of.requires],
        "verdict": str(evidence.verdict),
        "failure_mode": None if way is None else str(way),
        "summary": str(evidence),
        "note": evidence.note,
        "margin": evidence.to_json()["margin"],
        "instances": evidence.instances,
        "not_searched": not_searched(evidence, reached),
        "assumed": list(evidence.assumed),
        "counterexample": None if example is None else counterexample(example),
        "flaw": of.flaw or None,
        "relies_on": [used.claim.id for used in why.ends(of, verdicts)] if way is not None else [],
        "instead": [
            {
                "id": other.id,
                "verdict": verdicts.get(other.id, "-"),
                "gist": other.gist,
                "statement": statement.text(other),
                "hypotheses": [hypothesis.text for hypothesis in other.requires],
            }
            for other in claims.repairing(of.id)
        ],
        "next": steps(of, evidence.verdict, own),
    }


def not_searched(evidence: Evidence, reached: str = "") -> list[str]:
    """Return what a supported verdict leaves open, how far was searched first; empty for other verdicts."""
    if evidence.verdict is not Verdict.SUPPORTED:
        return []
    found = [match[1]] if (match := _NOT_SEARCHED.match(evidence.note)) else []
    found += _by_reason(text for outcome in evidence.outcomes for text in outcome.left_open)
    # For others the note says how far was searched.
    return [*([reached] if reached else []), *(dict.fromkeys(found) or [evidence.note])]


def reached(looked: Collection[seen.FunctionsSeen]) -> str:
    """Return the most clients, dimensions and rounds that were tried; empty if there were no functions."""
    if not looked:
        return ""
    clients, dimension, rounds = (max(getattr(s, name) for s in looked) for name in ("clients", "dimension", "rounds"))
    after = f", T <= {rounds}" if 1 < rounds <= _EVER else ""
    return f"searched at n <= {clients}, d <= {dimension}{after} only: a violation beyond would not have been seen"


def _by_reason(left_open: Iterable[str]) -> list[str]:
    """Places that are left open, each with its reason at the end, as the reasons with the first place of each."""
    places: dict[str, list[str]] = {}
    for text in left_open:
        place, _, reason = text.rpartition(": ")
        places.setdefault(reason, []).append(place)
    found = []
    for reason, (first, *others) in places.items():
        more = f", and at {counted(len(others), 'more place')}" if others else ""
        found.append(f"{first.split('; ')[0]}{more}: {reason}" if first else reason)
    return found


def counterexample(example: Counterexample) -> dict[str, Any]:
    """A counterexample: where, the lines to follow it, both sides exactly, and what was claimed of them."""
    return {
        "at": placing.place(example),
        "by_hand": by_hand.lines(example),
        "left": number(example.left),
        "relation": example.relation,
        "right": number(example.right),
        "says": terminal.claimed(example),
    }


def steps(of: Claim, verdict: Verdict, own: Path | None = None) -> list[str]:
    """Commands that may be next, the likeliest first."""
    file = f" --own {own}" if own is not None else ""
    if verdict is Verdict.REFUTED:
        return [f"fedtheory repair {of.id}{file}", f"fedtheory why {of.id}{file}"]
    if verdict in (Verdict.PROVED, Verdict.CERTIFIED):
        export = f"fedtheory export{file}" if own is not None else f"fedtheory export {of.id}"
        return [export, f"fedtheory best {of.id}{file}", f"fedtheory tight {of.id}{file}"]
    if verdict is Verdict.SUPPORTED:
        again = f"fedtheory check {own} {of.id}" if own is not None else f"fedtheory show {of.id} --check"
        return [f"{again} --budget full", f"fedtheory tight {of.id}{file}"]
    return [f"fedtheory show {of.id}{file}"]
