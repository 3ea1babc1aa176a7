"""Results as tables and lines of text, coloured and with a progress bar on a terminal, plain in a log."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Protocol, TextIO

import mpmath
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fedtheory.claims import Claim
from fedtheory.rational import real
from verify.evidence import Counterexample, Evidence, Verdict, number
from verify.report import outcomes, statement
from verify.report.plain import clean

# Lines of a log are not wrapped, so that they can be searched: rich wants a width all the same.
_LOG_WIDTH = 1000

_STYLES = {
    Verdict.PROVED: "bold green",
    Verdict.CERTIFIED: "bold green",
    Verdict.SUPPORTED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.ILL_POSED: "magenta",
    Verdict.NOT_TESTED: "yellow",
    Verdict.OPEN: "yellow",
}

# Columns of text at least, beside what it is indented by.
_NARROWEST = 20

# Blanks between the columns of a table.
_GAP = 2

# Longer fractions are shown as decimals, as real numbers are.
_LONGEST = 40


def console(file: TextIO) -> Console:
    """A console on a stream. Texts are taken as they are: brackets in them are not markup."""
    width = None if file.isatty() else _LOG_WIDTH
    return Console(file=file, width=width, markup=False, highlight=False, emoji=False)


class Advance(Protocol):
    """Says that one more piece of work is done. A text is a line of the log."""

    def __call__(self, text: str = "") -> None: ...


@contextmanager
def progress(to: Console, title: str, total: int) -> Iterator[Advance]:
    """Yield what is to be called ``total`` times: it moves a bar on a terminal, and elsewhere prints its texts."""
    if not to.is_terminal:
        count = itertools.count(1)

        def line(text: str = "") -> None:
            done = next(count)
            if text:
                to.print(clean(f"[{done}/{total}] {text}"), soft_wrap=True)

        yield line
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=to, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text="": bar.update(task, advance=1)


def say(to: Console, *lines: str | Text) -> None:
    """Print lines; on a terminal long ones are broken between words, and go on beneath their beginning."""
    for line in lines:
        text = line if isinstance(line, Text) else Text(clean(line))
        indent = len(text.plain) - len(text.plain.lstrip(" "))
        if not to.is_terminal or len(text) <= to.width:
            to.print(text, soft_wrap=True)
            continue
        for i, part in enumerate(text[indent:].wrap(to, max(_NARROWEST, to.width - indent - 2))):
            to.print(Text(" " * (indent + 2 * bool(i))) + part, soft_wrap=True)


def show(to: Console, table: Table, headings: bool = True) -> None:
    """Print a table: aligned on a terminal; elsewhere a line for each row, its cells parted by tabs, nothing padded."""
    if to.is_terminal:
        to.print(table)
        return
    if table.title is not None:
        print(clean(str(table.title)), file=to.file)
    columns = [[*([column.header] if headings else []), *column.cells] for column in table.columns]
    for cells in zip(*columns, strict=True):
        line = "\t".join(clean(str(cell)) for cell in cells)
        # Past the console, which makes blanks of tabs.
        print(line.rstrip("\t"), file=to.file)


def brief(evidence: Evidence) -> str:
    """One claim's result in a line."""
    return f"{evidence.claim.id} {evidence.verdict}, margin {_margin(evidence)}, {evidence.seconds:.1f} s"


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
        "verdict": [str(e.verdict) for e in found],
        "margin": [_margin(e) for e in found],
        "methods": [", ".join(e.methods) for e in found],
        "instances": [str(e.instances) for e in found],
        "seconds": [f"{e.seconds:.1f}" for e in found],
    }
    for name in _LESS_WANTED:
        if width is not None and sum(_wide(*column) + _GAP for column in columns.items()) - _GAP > width:
            del columns[name]
    table = Table(box=None, pad_edge=False)
    for name in columns:
        right = name in ("margin", "instances", "seconds")
        table.add_column(name, justify="right" if right else "left", no_wrap=name != "methods", overflow="fold")
    styles = [_STYLES[e.verdict] for e in found]
    for style, *cells in zip(styles, *columns.values(), strict=True):
        table.add_row(*(Text(cell, style=style if i == 1 else "") for i, cell in enumerate(cells)))
    return table


def _wide(title: str, cells: Sequence[str]) -> int:
    """The width that a column needs."""
    return max(map(len, (title, *cells)))


def remarks(found: Sequence[Evidence]) -> list[str]:
    """A line for each claim that fell, with its counterexample, or that was not tested, with the reason."""
    lines = []
    for evidence in found:
        if evidence.counterexample is not None:
            repaired = evidence.to_json()["repaired"]
            more = f" (repaired: {repaired})" if repaired else ""
            lines.append(f"{evidence.claim.id}: {_failure(evidence.counterexample)}{more}")
        elif evidence.verdict in (Verdict.ILL_POSED, Verdict.NOT_TESTED):
            lines.append(f"{evidence.claim.id}: {evidence.verdict}, {evidence.note}")
    return lines


def summary(found: Sequence[Evidence], seconds: float) -> str:
    """How many claims there were of each verdict, and the time the audit took."""
    counts = Counter(e.verdict for e in found)
    parts = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v])
    return f"{len(found)} claim{'s' if len(found) != 1 else ''}: {parts}; {seconds:.1f} s"


def coverage(found: Sequence[Evidence]) -> list[str]:
    """How many of the one-step and rate claims that hold have more than a search behind them; what the rest lack."""
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
    """What stands in the way of a stronger verdict."""
    found = evidence.note.split("; margin at")[0]
    hidden = "an order hides its constant, for which there is no certificate; "
    return hidden + found if evidence.claim.statement.kind == "order" else found


#: A claim, and its verdict or "-".
Listed = tuple[Claim, str]


def claims_table(listed: Sequence[Listed]) -> Table:
    """What is claimed, and where, with the verdicts."""
    table = Table("claim", "verdict", "kind", "where", "gist", box=None, pad_edge=False)
    for claim in listed:
        table.add_row(*(Text(cell, style=style(cell) if i == 1 else "") for i, cell in enumerate(_told(claim))))
    return table


def fits(listed: Sequence[Listed], width: int) -> bool:
    """Whether a terminal is wide enough for the table of claims with nothing broken."""
    columns = zip(*map(_told, listed), strict=True)
    return sum(_wide("", cells) + _GAP for cells in columns) - _GAP <= width


def claims_lines(listed: Sequence[Listed]) -> list[Text]:
    """What is claimed, and where, below the id of each claim."""
    told = []
    for id, verdict, kind, where, gist in map(_told, listed):
        told += [Text(id), Text.assemble("  ", (verdict, style(verdict)), f"; {kind}, {where}: {gist}")]
    return told


def _told(listed: Listed) -> tuple[str, str, str, str, str]:
    claim, verdict = listed
    return claim.id, verdict, claim.kind, claim.where, claim.gist


def style(verdict: str) -> str:
    """The colour of a verdict; none for what is none."""
    return _STYLES[Verdict(verdict)] if verdict in set(Verdict) else ""


def description(claim: Claim) -> list[str]:
    """A claim in words: its place, statement, hypotheses, reading, and what ``variant`` can change."""
    lines = [
        f"{claim.id}  ({claim.kind}; {claim.where})",
        f"  {claim.gist}",
        f"  for: {claim.setting.text}",
        "statement",
        *(f"  {line}" for line in statement.text(claim)),
    ]
    if meanings := statement.definitions(claim):
        lines += ["where", *(f"  {name}: {meaning}" for name, meaning in meanings)]
    if claim.requires:
        lines += ["hypotheses", *(f"  {hypothesis.text}" for hypothesis in claim.requires)]
    if claim.reading:
        lines += ["reading", f"  {claim.reading}"]
    if claim.repairs:
        lines += ["repairs", f"  {claim.repairs}"]
    return [*lines, "variant can change", f"  {', '.join(statement.parts(claim))}"]


def findings(evidence: Evidence, repaired: Sequence[Claim]) -> list[str]:
    """The evidence in words, with both sides of a counterexample and the claims that repair it."""
    lines = [
        f"verdict: {evidence.verdict}",
        f"  margin {_margin(evidence)}; {evidence.instances} instances met the hypotheses; {evidence.seconds:.1f} s",
        f"  methods: {', '.join(evidence.methods) or 'none'}",
        f"  {evidence.note}",
    ]
    if (example := evidence.counterexample) is not None:
        lines += [
            "counterexample",
            f"  {example.text}",
            f"  left  = {shown(example.left)}",
            f"  right = {shown(example.right)}",
            f"  claimed: left {example.relation} right",
        ]
    lines += outcomes.lines(evidence.outcomes)
    for claim in repaired:
        lines += [f"repaired: {claim.id}", f"  {claim.gist}", *(f"  {line}" for line in statement.text(claim))]
    return lines


def shown(value: Any) -> str:
    """A number, as a fraction where that is exact and short."""
    text = "0" if value == 0 else number(value)
    if text == "0" or (isinstance(value, int | Fraction) and len(text) <= _LONGEST):
        return text
    return f"about {mpmath.nstr(real(value), 12)}"


def _failure(example: Counterexample) -> str:
    return f"{example.text}: {shown(example.left)} {example.relation} {shown(example.right)} is false"


def _margin(evidence: Evidence) -> str:
    return "-" if evidence.margin is None else f"{evidence.margin:.3g}"
