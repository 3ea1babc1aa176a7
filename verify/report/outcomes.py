"""Describe what each method found about a claim, and the instance of a counterexample in letters and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.evidence.certificates import ClassCertificate
from verify.evidence.parsing import number
from verify.evidence.record import Evidence, Outcome, Provenance
from verify.pep.prover import ProofStep

#: The margins after many rounds, among what else a note says.
LISTED = re.compile(r"(?P<before>.*?)(?:; )?(?P<list>margin at T=\d+: .*?(?:, T=\d+: [^,;]*)+)(?P<after>;.*)?", re.S)
_ROUND = re.compile(r"T=(\d+): ([^,;]*)")
#: Margins of a note that are listed.
_FIRST = 4
#: Longer fractions are shown as decimals.
_LONGEST = 24


def lines(evidence: Evidence) -> list[str]:
    """The methods that ran, each with what it covers and what it found, unless the evidence as a whole says that."""
    ran = [outcome for outcome in evidence.outcomes if outcome.applied]
    found = ["what each method found"] if ran else []
    for outcome in ran:
        verdict = "no verdict" if outcome.verdict is None else str(outcome.verdict)
        source = "" if outcome.source is Provenance.ANEW else f", {outcome.source}"
        found += [f"  {outcome.method}: {verdict}{source}", f"    covers {outcome.covers}"]
        found += [f"    {text}" for text in (*_details(outcome, evidence), *_certificates(outcome))]
    return found


def noted(note: str) -> list[str]:
    """A note in lines; of the margins after many rounds the first ones, and the least of the others."""
    found = LISTED.fullmatch(note)
    if found is None:
        return [note] if note else []
    margins = [(int(rounds), float(margin)) for rounds, margin in _ROUND.findall(found["list"])]
    listed = ", ".join(f"T={rounds}: {margin:g}" for rounds, margin in margins[:_FIRST])
    if rest := margins[_FIRST:]:
        listed += f"; at {len(rest)} more up to T={rest[-1][0]}: at least {min(margin for _, margin in rest):g}"
    kept = [part for part in (found["before"], (found["after"] or "").removeprefix("; ")) if part]
    return [*kept, f"margin at {listed}"]


def _details(outcome: Outcome, evidence: Evidence) -> Iterator[str]:
    if outcome.note not in evidence.note:
        yield from noted(outcome.note)
    if outcome.margin is not None and (outcome.margin, outcome.instances) != (evidence.margin, evidence.instances):
        yield f"margin {outcome.margin:.3g} over {outcome.instances} instances"
    for text in outcome.left_open:
        if text not in outcome.note:
            yield f"left open: {text}"


def _certificates(outcome: Outcome) -> Iterator[str]:
    for certificate in outcome.certificates:
        yield from steps(certificate)


def steps(certificate: ClassCertificate) -> list[str]:
    """The parameters at which a certificate holds, and its steps."""
    found = [f"  {name}: {_step(step)}" for name, step in certificate.steps.items()]
    return [f"certificate ({certificate.method}) at {_letters(certificate) or certificate.text}", *found]


def _letters(certificate: ClassCertificate) -> str:
    spelled = {"lambda" if name == "lamda" else name: value for name, value in certificate.letters.items()}
    return ", ".join(f"{name}={short(value)}" for name, value in spelled.items())


def _step(step: ProofStep) -> str:
    count = len(step.multipliers)
    return f"bound {short(number(step.bound))}, {count} multiplier{'s' if count != 1 else ''}"


def short(value: str) -> str:
    """A rational as it is, or to ten digits where it is long."""
    if len(value) <= _LONGEST:
        return value
    above, _, below = value.partition("/")
    try:
        return f"about {int(above) / int(below or '1'):.10g}"
    except (ValueError, OverflowError):
        return f"{value[:_LONGEST]}..."


@dataclass(frozen=True)
class LetterTable:
    """Part of an instance in which several have the same letters: clients, for example."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def scalars(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the letters that have one value each; empty lists are omitted."""
    return [(name, _value(value)) for name, value in recipe.items() if _rows(value) is None and value != []]


def tables(recipe: Mapping[str, Any]) -> list[LetterTable]:
    """The parts that repeat."""
    return [LetterTable(name, *rows) for name, value in recipe.items() if (rows := _rows(value)) is not None]


def _rows(value: Any) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]] | None:
    """Columns and rows of a list of objects with values by name; None for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(part, Mapping) for part in value):
        return None
    if any(set(part) == {"ratio"} for part in value):
        return None
    columns = tuple(dict.fromkeys(name for part in value for name in part if part[name] != []))
    return columns, tuple(
        tuple(_value(part[name]) if part.get(name, []) != [] else "" for name in columns) for part in value
    )


def _value(value: Any) -> str:
    """A part of an instance as text: fractions as they are, vectors in brackets."""
    if isinstance(value, Mapping):
        if set(value) == {"ratio"}:
            return short(str(value["ratio"]))
        return ", ".join(f"{name} = {_value(part)}" for name, part in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_value, value))})"
    return str(value)
