"""Why a claim fails: its counterexample, the step of the printed proof that fails, what holds instead; for one that
holds, what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rich.text import Text

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.origins import ORIGINS
from verify.base.plain import counted
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence
from verify.report import failures, letters, statement
from verify.report.consoles import style
from verify.report.failures import FAILED, Verdicts
from verify.report.terminal import example_lines, refutation

_SURE = {
    Verdict.PROVED: "it holds: proved for all values of its constants",
    Verdict.CERTIFIED: "it holds: certified over the whole class at the parameters that it fixes",
    Verdict.SUPPORTED: "no counterexample was found, which is not a proof",
    Verdict.NOT_TESTED: "it was not tested",
}

#: The method that nothing else checks. Its module loads z3.
_BY_Z3 = "real closed fields"


class Used(NamedTuple):
    """A claim on which a printed proof rests, with the claims through which it does, the nearest first."""

    claim: Claim
    through: tuple[Claim, ...]


def failed(claim: Claim, verdicts: Verdicts) -> list[Used]:
    """Return the failing claims on which the printed proof rests, directly or through other failing claims.

    The nearest first. Failures behind a claim that holds are not faults of its users.
    """

    def uses(id: str) -> list[str]:
        user = claim if id == claim.id else claims.get(id)
        return [used for used in user.uses if verdicts.get(used) in FAILED]

    _, *found = claims.behind(claim.id, uses)
    return [Used(claims.get(id), tuple(map(claims.get, path[1:]))) for id, path in found]


def ends(claim: Claim, verdicts: Verdicts) -> list[Used]:
    """Return those of :func:`failed` that contain an error: a known flaw, or no failing claim behind them."""
    culprits = failed(claim, verdicts)
    return [used for used in culprits if used.claim.flaw or not failed(used.claim, verdicts)]


def lines(evidence: Evidence, verdicts: Verdicts, again: str) -> list[str | Text]:
    """Return why the claim fails, or what it rests on; ``again``: the command that evaluates its counterexample."""
    claim = evidence.claim
    head: list[str | Text] = [
        _heading(evidence),
        *([f"  {claim.gist}"] if claim.gist else []),
        *_origin(claim, verdicts),
    ]
    if evidence.verdict in FAILED:
        return [*head, *_failure(evidence, again), *_step(claim, verdicts), *_instead(claim, verdicts)]
    return [*head, *_holding(evidence, verdicts)]


def roots(falling: Sequence[Claim]) -> Iterator[str]:
    """Yield a line for each fault that several claims share."""
    for root, ids in failures.by_root(falling).items():
        if len(ids) > 1:
            yield f"  {len(ids)} of one root, {root}: {', '.join(id.partition('/')[2] for id in ids)}"


def brief(evidence: Evidence, verdicts: Verdicts) -> list[str | Text]:
    """Return why a claim fails, in a few lines."""
    claim, example = evidence.claim, evidence.counterexample
    found: list[str | Text] = [_heading(evidence)]
    repairing = claims.repairing(claim.id)
    if claim.literal_of and claim.literal_of not in {repaired.id for repaired in repairing}:
        found.append(f"  intended: {_verdict_of(claim.literal_of, verdicts)}")
    if example is None:
        found.append(f"  reason: {evidence.note}")
    else:
        found.append(f"  counterexample: {refutation(example)}")
    if claim.flaw:
        found.append(f"  step: {claim.flaw}")
    # Each error is reported once, where it is made: here only which claims make it.
    if culprits := ends(claim, verdicts):
        also = "also relies" if claim.flaw else "relies"
        found.append(f"  step: it {also} on what is false: {', '.join(_placed(used.claim) for used in culprits)}")
    for repaired in repairing:
        label = "repaired, as intended" if repaired.id == claim.literal_of else "repaired"
        found.append(f"  {label}: {repaired.id}, {verdicts.get(repaired.id, '-')}: {repaired.gist}")
    return found


def _heading(evidence: Evidence) -> Text:
    claim, verdict = evidence.claim, str(evidence.verdict)
    place = f"  ({claim.where})" if claim.where else ""
    return Text.assemble(f"{claim.id}{place}: ", (verdict, style(verdict)))


def _verdict_of(id: str, verdicts: Verdicts) -> str:
    return ": ".join(filter(None, (f"{id}, {verdicts.get(id, '-')}", claims.get(id).gist)))


def _origin(claim: Claim, verdicts: Verdicts) -> Iterator[str]:
    """Yield whether the claim is printed, with its formula as printed, and why it fails, if it does."""
    way = failures.failure_mode(claim, verdicts)
    if way not in (None, failures.FailureMode.UNKNOWN_ORIGIN, failures.FailureMode.UNDEFINED):
        yield f"  {way}"
    elif claim.origin:
        yield f"  {ORIGINS[claim.origin]}"
    if way is not None and claim.root:
        yield f"  root: {claim.root}"
    if claim.formula:
        yield f"  as printed: {claim.formula}"
    if claim.reading and verdicts.get(claim.id) in FAILED:
        yield f"  as read: {claim.reading}"
    if claim.later:
        yield f"  in a later version: {claim.later}"
    if claim.requires and verdicts.get(claim.id) in FAILED:
        yield f"  under: {'; '.join(hypothesis.text for hypothesis in claim.requires)}"
    if claim.literal_of:
        yield f"  intended statement: {_verdict_of(claim.literal_of, verdicts)}"
    for other in claims.by_letter(claim.id):
        yield f"  literal reading: {_verdict_of(other.id, verdicts)}"


def _failure(evidence: Evidence, again: str) -> Iterator[str]:
    """The counterexample, in numbers."""
    example = evidence.counterexample
    if example is None:
        yield from ("what is wrong", f"  {evidence.note}")
        return
    comparisons = getattr(evidence.claim.statement, "comparisons", ())
    which = f", to comparison {int(example.part) + 1} of {len(comparisons)}" if len(comparisons) > 1 else ""
    yield f"counterexample{which if example.part.isdigit() else ''}"
    yield from (f"  {line}" for line in example_lines(example))
    if known := letters.meanings(evidence.claim):
        yield f"  letters: {'; '.join(f'{name}: {meaning}' for name, meaning in known)}"
    yield f"  to replay it exactly: {again}"


def _step(claim: Claim, verdicts: Verdicts) -> Iterator[str]:
    """The step of the printed proof that fails; nothing where the claim says nothing of a proof."""
    if not claim.flaw and not claim.uses:
        return
    yield "the step that fails"
    if claim.flaw:
        yield f"  {claim.flaw}"
    culprits = failed(claim, verdicts)
    for culprit in culprits:
        yield f"  {_rests(culprit)}, which is {verdicts[culprit.claim.id]}"
        yield f"    {culprit.claim.gist}"
        if culprit.claim.flaw:
            yield f"    {culprit.claim.flaw}"
    if not claim.flaw and not culprits:
        yield "  not known"


def _rests(used: Used) -> str:
    way = f", through {', '.join(c.id for c in used.through)}" if used.through else ""
    return f"it relies on {_placed(used.claim)}{way}"


def _placed(claim: Claim) -> str:
    return f"{claim.id} ({claim.where})" if claim.where else claim.id


def _instead(claim: Claim, verdicts: Verdicts) -> Iterator[str | Text]:
    """The repaired statements beside the printed one, what differs in marks."""
    for repaired in claims.repairing(claim.id):
        verdict = verdicts.get(repaired.id, "-")
        yield Text.assemble("the repaired statement: ", repaired.id, ": ", (verdict, style(verdict)))
        yield f"  {repaired.gist}"
        first, second = statement.marked(claim, repaired)
        differs = any(map(statement.is_marked, chain.from_iterable(part.lines for part in (*first, *second))))
        for title, parts in ((f"as read{', with differences in {braces}' * differs}", first), ("repaired", second)):
            yield title
            for heading, section in parts:
                for line in section:
                    if line.startswith("factor = ") and not statement.is_marked(line):
                        continue
                    yield Text("  " if heading == "statement" else f"  {heading}: ") + statement.shown(line)
        if repaired.reading and repaired.reading != claim.reading:
            yield f"  reading: {repaired.reading}"


def _holding(evidence: Evidence, verdicts: Verdicts) -> Iterator[str | Text]:
    """Yield what a claim that does not fail rests on."""
    claim = evidence.claim
    if unproved := [id for id, verdict in evidence.given if verdict is not Verdict.PROVED]:
        yield f"it holds if {' and '.join(unproved)} {'do' if len(unproved) > 1 else 'does'}"
    else:
        yield f"{_SURE[evidence.verdict]}"
    # The margins after many rounds are in what `show` prints.
    yield f"  {evidence.note.split('; margin at')[0]}"
    if evidence.deciding:
        count = sum(len(outcome.certificates) for outcome in evidence.outcomes)
        kept = f"; {counted(count, 'certificate')}" if count else ""
        yield f"  methods: {', '.join(evidence.deciding)}{kept}; {counted(evidence.instances, 'instance')}"
    decided = next((o.method for o in evidence.outcomes if o.verdict is evidence.verdict), "")
    if decided == _BY_Z3:
        yield f"  fedtheory export {claim.id} writes a proof that something else checks, or says that this is all"
    yield from (f"  {line}" for line in statement.text(claim))
    if claim.repairs:
        yield f"it repairs {claim.repairs}: {verdicts.get(claim.repairs, '-')}; see fedtheory why {claim.repairs}"
    if claim.uses:
        yield "its printed proof relies on"
        for id in claim.uses:
            verdict = verdicts.get(id, "-")
            yield Text.assemble("  ", id, ": ", (verdict, style(verdict)))
    if culprits := failed(claim, verdicts):
        yield "so its printed proof fails as it stands"
        for culprit in culprits:
            yield f"  {_rests(culprit)}, which is {verdicts[culprit.claim.id]}"
            if culprit.claim.flaw:
                yield f"    {culprit.claim.flaw}"


__all__ = ["FAILED", "Used", "Verdicts", "brief", "ends", "failed", "lines", "roots"]
