"""Results as tables and lines of text, coloured and with a progress bar on a terminal, plain in a log."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import mpmath
from rich.table import Table
from rich.text import Text

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.numbers.rational import real
from fedtheory.origins import ORIGINS
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.plain import counted
from verify.base.verdict import Verdict
from verify.comparisons import naming, orders
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import ASSUMED, Evidence, Provenance, Sighting, tally
from verify.report import by_hand, letters, outcomes, placing, statement
from verify.report.consoles import GAP, STYLES, style, wide


def brief(evidence: Evidence) -> str:
    """One claim's result in a line."""
    return f"{evidence.claim.id} {evidence.verdict}, margin {_margin(evidence)}, {evidence.seconds:.1f} s"


#: The least margin that is printed as a number.
_TINY = 1e-6

#: Columns of verdicts that are left out, in this order, where a terminal is too narrow for all.
_LESS_WANTED = ("methods", "instances", "seconds")


def verdicts(found: Sequence[Evidence], width: int | None = None) -> Table:
    """A row for each claim.

    For a terminal of a ``width``, that of a repaired claim is marked, beneath the one it repairs, and ids are never
    broken: where it is too narrow columns are left out instead.
    """
    shown = set() if width is None else {e.claim.id for e in found}
    columns: dict[str, list[str]] = {
        "claim": [f"{'└ ' if e.claim.repairs in shown else ''}{e.claim.id}" for e in found],
        "verdict": ["-" if e.sightings else str(e.verdict) for e in found],
        "margin": [_margin(e) for e in found],
        "methods": [", ".join(e.deciding) for e in found],
        "instances": [str(e.instances) for e in found],
        "seconds": [f"{e.seconds:.1f}" for e in found],
    }
    if any(e.sightings for e in found):
        columns["experiment"] = [tally(e.sightings) for e in found]
    for name in _LESS_WANTED:
        if width is not None and sum(wide(*column) + GAP for column in columns.items()) - GAP > width:
            del columns[name]
    table = Table(box=None, pad_edge=False)
    for name in columns:
        right = name in ("margin", "instances", "seconds")
        table.add_column(name, justify="right" if right else "left", no_wrap=name != "methods", overflow="fold")
    colours = ["" if e.sightings else STYLES[e.verdict] for e in found]
    for colour, *cells in zip(colours, *columns.values(), strict=True):
        table.add_row(*(Text(cell, style=colour if i == 1 else "") for i, cell in enumerate(cells)))
    return table


def remarks(found: Sequence[Evidence]) -> list[str]:
    """A line for each claim that fell, with its counterexample, or that was not tested, with the reason; and for each
    statement of an experiment, with what was seen."""
    lines = []
    for evidence in found:
        if evidence.counterexample is not None:
            repaired = evidence.to_json()["repaired"]
            more = f" (repaired: {repaired})" if repaired else ""
            lines.append(f"{evidence.claim.id}: {refutation(evidence.counterexample)}{more}")
        elif evidence.sightings:
            lines += [f"{evidence.claim.id}: experiment, {one}" for one in evidence.sightings]
        elif evidence.verdict in (Verdict.ILL_POSED, Verdict.NOT_TESTED):
            lines.append(f"{evidence.claim.id}: {evidence.verdict}, {evidence.note}")
    return lines


def summary(found: Sequence[Evidence], seconds: float) -> str:
    """Return the number of claims with each verdict, the outcomes of experiments, and the time taken."""
    seen = [one for e in found for one in e.sightings]
    counts = Counter(e.verdict for e in found if not e.sightings)
    parts = [f"{counts[v]} {v}" for v in Verdict if counts[v]]
    claims_of = counts.total()
    sentences = (
        [f"{claims_of} claim{'s' if claims_of != 1 else ''}: {', '.join(parts)}"] if claims_of or not found else []
    )
    if seen:
        sentences.append(f"{len(found) - claims_of} experiments: {tally(seen)}")
    return "; ".join([*sentences, f"{seconds:.1f} s"])


def sources(found: Sequence[Evidence]) -> list[str]:
    """Return the numbers of verdicts that rest on re-checked stored evidence, on proofs made again, and
    on a search; empty if no stored evidence was used."""
    of = Counter(
        "rechecked"
        if any(o.source is Provenance.RECHECKED for o in e.outcomes)
        else "proved again"
        if e.verdict in (Verdict.PROVED, Verdict.CERTIFIED)
        else "searched anew"
        for e in found
    )
    ways = [f"{of[how]} {how}" for how in ("rechecked", "proved again", "searched anew") if of[how]]
    return [", ".join(ways)] if of["rechecked"] else []


def fallen(found: Sequence[Evidence]) -> list[str]:
    """Return a line for each stored proof or counterexample of a claim that fails."""
    return [f"SHIPPED PROOF FAILS: {e.claim.id}: {why}; searched anew" for e in found for why in e.fallen]


def coverage(found: Sequence[Evidence]) -> list[str]:
    """Return how many of the one-step and rate claims that hold are proved or certified, and what the rest lack."""
    kinds = ("one-step", "bound")
    rates = [e for e in found if e.claim.kind in kinds or e.claim.statement.kind in kinds]
    strong = [e for e in rates if e.verdict in (Verdict.PROVED, Verdict.CERTIFIED)]
    weak = [e for e in rates if e.verdict is Verdict.SUPPORTED]
    if not strong and not weak:
        return []
    share = f"{len(strong)} of {len(strong) + len(weak)}"
    lines = [f"one-step and rate claims that hold: {share} proved or certified"]
    return lines + [f"{e.claim.id}: only supported: {_obstacle(e)}" for e in weak]


def _obstacle(evidence: Evidence) -> str:
    """Return what prevents a stronger verdict."""
    found = evidence.note.split("; margin at")[0]
    hidden = "an order hides its constant, for which there is no certificate; "
    return hidden + found if evidence.claim.statement.kind == "order" else found


def description(claim: Claim) -> list[str]:
    """A claim in words: its place, statement, hypotheses, reading, and what ``variant`` can change."""
    scope = statement.scope(claim)
    lines = [
        f"{claim.id}  ({'; '.join(filter(None, (claim.kind, claim.where)))})",
        *(f"  {text}" for text in (claim.gist, scope and f"for: {scope}", _of_version(claim)) if text),
        *(("as printed", f"  {claim.formula}") if claim.formula else ()),
        "statement" if not claim.formula else "as read",
        *(f"  {line}" for line in statement.text(claim)),
    ]
    if meanings := [*statement.definitions(claim), *letters.meanings(claim)]:
        lines += ["where", *(f"  {name}: {meaning}" for name, meaning in meanings)]
    if claim.requires:
        lines += ["hypotheses", *(f"  {_hypothesis(claim, hypothesis)}" for hypothesis in claim.requires)]
    if claim.reading:
        lines += ["reading", f"  {claim.reading}"]
    if claim.later:
        lines += ["in a later version of the paper", f"  {claim.later}"]
    if claim.literal_of:
        lines += ["this is the literal reading; the intended statement is", f"  {claim.literal_of}"]
    if literal := claims.by_letter(claim.id):
        lines += ["this is the intended statement; the literal reading is", *(f"  {other.id}" for other in literal)]
    if claim.repairs:
        lines += ["repairs", f"  {claim.repairs}"]
    if claim.follows:
        lines += ["should follow from", *(f"  {id}" for id in claim.follows)]
    return [*lines, "claim.variant can change", f"  {', '.join(statement.parts(claim))}"]


def _of_version(claim: Claim) -> str:
    """Return the origin of a claim in words, with the version of the text in which it is printed."""
    paper, origin = plugins.every().get(claim.paper), ORIGINS.get(claim.origin, "")
    return f"{origin}: {paper.version}" if paper and paper.version and claim.origin == "printed" else origin


def _hypothesis(claim: Claim, hypothesis: Hypothesis) -> str:
    """A hypothesis as it is worded; of a claim of the user's own with the relation, which a wording may miss, or that
    code decides."""
    if hypothesis.met is not None and not claim.origin and not hypothesis.states_membership(claim.setting.classes):
        return f"{hypothesis.text}: as its code decides"
    if claim.origin or hypothesis.relation is None:
        return hypothesis.text
    relation = statement.expression(hypothesis.relation)
    return hypothesis.text if hypothesis.text == relation else f"{hypothesis.text}: {relation}"


def findings(evidence: Evidence, repaired: Sequence[Claim]) -> list[str]:
    """The evidence in words, with both sides of a counterexample and the claims that repair it."""
    if evidence.sightings:
        return [
            f"experiment: {tally(evidence.sightings)}",
            *(f"  {line}" for one in evidence.sightings for line in _ran(one)),
        ]
    example = evidence.counterexample
    lines = [f"verdict: {evidence.verdict}", *(f"  {line}" for line in outcomes.noted(evidence.note))]
    met = f"{counted(evidence.instances, 'instance')} met the hypotheses"
    if evidence.margin is not None:
        # The simplest counterexample is rarely the worst instance.
        met += f", the worst with margin {_margin(evidence)}" if example else f"; margin {_margin(evidence)}"
        # Of an equality, and with a right side that is not positive, the margin is not a ratio: then it is at least -2.
        if example and -2 > evidence.margin > -math.inf:
            met += f" (the left side {1 - evidence.margin:.3g} times the right one)"
        elif example and no_ratio(example):
            met += f" ({NO_RATIO})"
    lines.append(f"  {met}; {evidence.seconds:.1f} s")
    if evidence.deciding:
        lines.append(f"  methods: {', '.join(evidence.deciding)}")
    if evidence.assumed and ASSUMED not in evidence.note:
        lines += [ASSUMED, *(f"  {text}" for text in evidence.assumed)]
    if example is not None:
        lines += ["counterexample, the simplest found", *(f"  {text}" for text in example_lines(example))]
    lines += outcomes.lines(evidence)
    for claim in repaired:
        lines += [f"repaired: {claim.id}", *([f"  {claim.gist}"] if claim.gist else [])]
        lines += [f"  {line}" for line in statement.text(claim)]
    return lines


def _ran(one: Sighting) -> list[str]:
    """Return the outcome of an experiment's statement, and the run in which it was observed."""
    run = f"  {one.seeds} seeds, {one.date}, commit {one.commit}"
    return [str(one), run] if one.seeds else [str(one)]


def example_lines(example: Counterexample) -> list[str]:
    """A counterexample: the instance, both sides as the claim writes them, and how to follow it by hand."""
    by = by_hand.lines(example)
    found = [placing.instance(example, by), claimed(example)]
    if by:
        found += ["by hand", *(f"  {line}" for line in by)]
    else:
        found += [f"{name} = {shown(side)}" for name, side in zip(by_hand.sides(example), both(example), strict=True)]
    return [line for line in found if line]


def both(example: Counterexample) -> tuple[Any, Any]:
    """Both sides."""
    return example.left, example.right


def claimed(example: Counterexample) -> str:
    """Return the two numbers that contradict the claim, and by how much, if that is known."""
    if example.part.startswith(orders.PREFIX):
        return "claimed left = O(right), which is false"
    left, relation, right = example.left, example.relation, example.right
    factor = excess(left, relation, right)
    numbers = f"claimed {shown(left)} {relation} {shown(right)}, which is false"
    return f"{numbers}: the left side is {factor} times the right one" if factor else numbers


def excess(first: Any, relation: str, second: Any) -> str:
    """The ratio of the left side to the right one, as a decimal; empty where nothing is exceeded or that says
    nothing."""
    left, right = real(first), real(second)
    if relation == "==" or not (mpmath.isfinite(left) and left > right > 0):
        return ""
    factor = left / right
    # As many digits as distinguish it from 1.
    digits = 3 if factor >= 1.01 else 3 - int(mpmath.floor(mpmath.log10(factor - 1)))
    return str(mpmath.nstr(factor, digits).removesuffix(".0"))


#: A number, as a fraction where that is exact and short.
shown = naming.number


def refutation(example: Counterexample) -> str:
    """The two numbers that refute the claim, and where; of an order, along which curve its sides grow apart."""
    place = placing.place(example)
    if example.part.startswith(orders.PREFIX):
        return place
    numbers = f"{shown(example.left)} {example.relation} {shown(example.right)} is false"
    return f"{numbers} at {place}" if place else numbers


#: What the margin is where the right side is not positive.
NO_RATIO = "absolute, as the right side is not positive: the difference of the sides over the sum of their sizes"


def no_ratio(example: Counterexample) -> bool:
    """Return True if an inequality is violated where its right side is not positive: its margin is not a ratio."""
    if example.relation == "==" or example.part.startswith(orders.PREFIX):
        return False
    return bool(mpmath.isfinite(right := real(example.right)) and right <= 0)


def _margin(evidence: Evidence) -> str:
    if evidence.margin is None:
        return "-"
    # The rounding error where a bound is attained.
    return f"<{_TINY:g}" if 0 < evidence.margin < _TINY else f"{evidence.margin:.3g}"


#: The verdicts of a claim whose check did not come to an end: of an error, and of a limit or an interruption.
FAILED, STOPPED = "failed", "stopped"
#: The colour of such claims, and of what a note says of the author's code.
_LOUD = "bold white on red"
#: The words by which a method's outcome marks an error in the author's code.
_FAULT = "its own code fails in "
#: The beginning of the part of a note that says what keeps worst cases from being posed.
_OPEN = "over the class: "
#: The beginning of a note of a method that proves, where it does not; and those methods, the farthest-reaching first.
_LEFT_OPEN = "left open: "
_PROVERS = ("telescoping sums", "multipliers", "induction on rounds", "client by client")
#: The beginning of the part of a note that says why a proof does not count.
_UNCOUNTED = "shown, but "
#: The words with which the note of a proof begins to list its cases.
_CASES = re.compile(r": with(out)? g\b.*")
#: How the note of a claim says of what choices of the parameters it has certificates, and what may be otherwise.
_CERTIFICATES = re.compile(r"((?:bounded|exact) (?:over|in) .*?)(?:, among them .*?)?, but (.*)")


class ResultLine(NamedTuple):
    """A line of the table."""

    id: str
    verdict: str
    margin: str
    over: str


def row(evidence: Evidence) -> ResultLine:
    """The line of a claim that was tested."""
    return ResultLine(evidence.claim.id, str(evidence.verdict), _margin(evidence), over(evidence))


def over(evidence: Evidence) -> str:
    """Return what the verdict covers (all values, the class at some parameters, some instances), or where the claim
    fails.
    """
    example, note = evidence.counterexample, evidence.note
    if example is not None:
        return refutation(example)
    covered = note.split("; ")[0]
    if evidence.verdict is Verdict.CERTIFIED:
        covered = note.split(", among them")[0].split("; ")[0]
    elif evidence.verdict is Verdict.PROVED:
        # Together the cases of a proof are the class: the first alone would read as a restriction.
        covered = _CASES.sub("", covered)
    elif evidence.verdict is Verdict.SUPPORTED:
        some = next((found for part in note.split("; ") if (found := _CERTIFICATES.fullmatch(part))), None)
        open_ = next((part for part in note.split("; ") if part.startswith(_OPEN)), "")
        why = f"; left open {open_}" if open_ else _unproved(evidence)
        instances = f"{counted(evidence.instances, 'instance')}: {covered}{why}"
        covered = instances if some is None else ", but ".join(some.groups())
        covered = next((part for part in note.split("; ") if part.startswith(_UNCOUNTED)), covered)
    if not evidence.assumed:
        return covered
    first, *others = evidence.assumed
    return f"assuming that {first}{f', and {len(others)} more' if others else ''}: {covered}"


def _unproved(evidence: Evidence) -> str:
    """Return where the proof that comes nearest to a claim fails, to follow in a sentence; empty if none was tried."""
    notes = {o.method: o.note for o in evidence.outcomes if o.applied and o.note.startswith(_LEFT_OPEN)}
    return next((f"; not proved: {notes[name].removeprefix(_LEFT_OPEN)}" for name in _PROVERS if name in notes), "")


def faults(evidence: Evidence) -> list[str]:
    """Errors in the author's code that kept a method from its work, each once."""
    notes = (text for o in evidence.outcomes for text in (o.note, *o.left_open))
    found = (text[text.index(_FAULT) :].split("; ")[0] for text in notes if _FAULT in text)
    return list(dict.fromkeys(found))


def lines(row: ResultLine, widths: tuple[int, int], width: int) -> Iterator[Text]:
    """The line on a terminal of a ``width``, cut there if the check came to an end. ``widths``: of ids and verdicts."""
    colour = _LOUD if row.verdict in (FAILED, STOPPED) else style(row.verdict)
    head = Text.assemble(
        row.id.ljust(widths[0]), "  ", (row.verdict, colour), " " * (widths[1] - len(row.verdict)),
        f"  {row.margin:>9}  ",
    )  # fmt: skip
    room = width - len(head)
    if row.verdict in (FAILED, STOPPED):
        yield head
        yield Text(f"  {row.over}", style=_LOUD)
    else:
        yield head + Text(row.over if len(row.over) <= room else f"{row.over[: max(room - 3, 0)]}...")
