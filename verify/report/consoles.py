"""Consoles: lines, tables, lists of claims and progress bars on a terminal, plain text in a log.

Nothing is loaded for them that computes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from verify.base.plain import clean
from verify.results import ListedClaim

# Lines of a log are not wrapped, so that they can be searched: rich wants a width all the same.
_LOG_WIDTH = 1000

# Columns of text at least, beside what it is indented by.
_NARROWEST = 20

#: The colours of verdicts.
STYLES = {
    "proved": "bold green",
    "certified": "bold green",
    "supported": "green",
    "refuted": "bold red",
    "ill-posed": "magenta",
    "not-tested": "yellow",
    "open": "yellow",
}

#: Blanks between the columns of a table.
GAP = 2

#: A claim, and its verdict or "-".
Listed = tuple[ListedClaim, str]


class _Console(Console):
    """A console whose reader may go, as that of a pipe into ``head`` does, which is not a failure."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(file: TextIO) -> Console:
    """A console on a stream. Texts are taken as they are: brackets in them are not markup."""
    width = None if file.isatty() else _LOG_WIDTH
    return _Console(file=file, width=width, markup=False, highlight=False, emoji=False)


class Advance(Protocol):
    """Says that one more piece of work is done."""

    def __call__(self, text: str = "") -> None:
        """A text is a line of the log."""


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


def wide(title: str, cells: Sequence[str]) -> int:
    """The width that a column needs."""
    return max(map(len, (title, *cells)))


def claims_table(listed: Sequence[Listed]) -> Table:
    """Return a table of the claims, where they stand, and their verdicts."""
    table = Table("claim", "verdict", "kind", "where", "gist", "origin", box=None, pad_edge=False)
    for claim in listed:
        table.add_row(*(Text(cell, style=style(cell) if i == 1 else "") for i, cell in enumerate(_cells(claim))))
    return table


def fits(listed: Sequence[Listed], width: int) -> bool:
    """Return True if a terminal of this width shows the table of claims without breaking a cell."""
    columns = zip(*map(_cells, listed), strict=True)
    return sum(wide("", cells) + GAP for cells in columns) - GAP <= width


def claims_lines(listed: Sequence[Listed]) -> list[Text]:
    """Return two lines for each claim: its id, then its verdict, kind, place and gist."""
    lines = []
    for id, verdict, kind, where, gist, origin in map(_cells, listed):
        lines += [Text(id), Text.assemble("  ", (verdict, style(verdict)), f"; {kind}, {origin}, {where}: {gist}")]
    return lines


def _cells(listed: Listed) -> tuple[str, str, str, str, str, str]:
    claim, verdict = listed
    literal = " (read literally)" if claim.literal_of else ""
    return claim.id, verdict, claim.kind, claim.where, claim.gist, f"{claim.origin}{literal}"


def style(verdict: str) -> str:
    """The colour of a verdict; none for what is none."""
    return STYLES.get(verdict, "")
