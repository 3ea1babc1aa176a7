"""A claim's result in a line: its verdict, its margin, and what that is over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.text import Text

from verify.base.verdict import Verdict
from verify.evidence.record import Evidence
from verify.report.consoles import style
from verify.report.terminal import shown

#: The verdict of a claim whose check did not come to an end.
FAILED = "failed"
#: Of such claims, and of what a note says of the author's code.
_LOUD = "bold white on red"
#: How the outcome of a method tells an error in the author's code.
_FAULT = "its own code fails in "


class Row(NamedTuple):
    """A line of the table."""

    id: str
    verdict: str
    margin: str
    over: str


def row(evidence: Evidence) -> Row:
    """The line of a claim that was tested."""
    margin = "-" if evidence.margin is None else f"{evidence.margin:.3g}"
    return Row(evidence.claim.id, str(evidence.verdict), margin, over(evidence))


def over(evidence: Evidence) -> str:
    """What the verdict is over: all values, the class at some parameters, some instances; or where the claim fails."""
    example, note = evidence.counterexample, evidence.note
    if example is not None:
        place = example.place()
        numbers = f"{shown(example.left)} {example.relation} {shown(example.right)} is false"
        return f"{numbers} at {place}" if place else numbers
    if evidence.verdict is Verdict.CERTIFIED:
        return note.split(", among them")[0].split("; ")[0]
    if evidence.verdict is Verdict.SUPPORTED:
        return f"{evidence.instances} instances: {note.split('; ')[0]}"
    return note.split("; ")[0]


def faults(evidence: Evidence) -> list[str]:
    """Errors in the author's code that kept a method from its work, each once."""
    said = (text for o in evidence.outcomes for text in (o.note, *o.left_open))
    found = (text[text.index(_FAULT) :].split("; ")[0] for text in said if _FAULT in text)
    return list(dict.fromkeys(found))


def lines(told: Row, widths: tuple[int, int], width: int) -> Iterator[Text]:
    """The line on a terminal of a ``width``, cut there unless the claim failed. ``widths``: of ids and verdicts."""
    colour = _LOUD if told.verdict == FAILED else style(told.verdict)
    head = Text.assemble(
        told.id.ljust(widths[0]), "  ", (told.verdict, colour), " " * (widths[1] - len(told.verdict)),
        f"  {told.margin:>9}  ",
    )  # fmt: skip
    room = width - len(head)
    if told.verdict == FAILED:
        yield head
        yield Text(f"  {told.over}", style=_LOUD)
    else:
        yield head + Text(told.over if len(told.over) <= room else f"{told.over[: max(room - 3, 0)]}...")
