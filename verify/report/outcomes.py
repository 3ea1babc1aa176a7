"""What each method found about a claim, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verify.evidence import number

if TYPE_CHECKING:
    from verify.outcome import ClassCertificate, Outcome
    from verify.pep.prover import Step

#: Longer fractions are shown as decimals.
_LONGEST = 24


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """The methods that ran, each with what it covers and what it found; then those that were not run."""
    found = ["what each method found"] if outcomes else []
    for outcome in outcomes:
        if outcome.applied:
            verdict = "says nothing" if outcome.verdict is None else str(outcome.verdict)
            found += [f"  {outcome.method}: {verdict}", f"    covers {outcome.covers}"]
            found += [f"    {text}" for text in (*_details(outcome), *_certificates(outcome))]
    skipped: dict[str, list[str]] = {}
    for outcome in outcomes:
        if not outcome.applied:
            skipped.setdefault(outcome.note, []).append(outcome.method)
    return [*found, *(f"  {', '.join(methods)}: {why}" for why, methods in skipped.items())]


def _details(outcome: Outcome) -> Iterator[str]:
    yield outcome.note
    if outcome.margin is not None:
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
    return ", ".join(f"{name}={short(value)}" for name, value in certificate.letters.items())


def _step(step: Step) -> str:
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
