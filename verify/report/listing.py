"""A list of claims with their verdicts, on a terminal of any width. Nothing is loaded that computes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from verify.results.index import Row

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
Listed = tuple[Row, str]


def wide(title: str, cells: Sequence[str]) -> int:
    """The width that a column needs."""
    return max(map(len, (title, *cells)))


def claims_table(listed: Sequence[Listed]) -> Table:
    """What is claimed, and where, with the verdicts."""
    table = Table("claim", "verdict", "kind", "where", "gist", "origin", box=None, pad_edge=False)
    for claim in listed:
        table.add_row(*(Text(cell, style=style(cell) if i == 1 else "") for i, cell in enumerate(_told(claim))))
    return table


def fits(listed: Sequence[Listed], width: int) -> bool:
    """Whether a terminal is wide enough for the table of claims with nothing broken."""
    columns = zip(*map(_told, listed), strict=True)
    return sum(wide("", cells) + GAP for cells in columns) - GAP <= width


def claims_lines(listed: Sequence[Listed]) -> list[Text]:
    """What is claimed, and where, below the id of each claim."""
    told = []
    for id, verdict, kind, where, gist, origin in map(_told, listed):
        told += [Text(id), Text.assemble("  ", (verdict, style(verdict)), f"; {kind}, {origin}, {where}: {gist}")]
    return told


def _told(listed: Listed) -> tuple[str, str, str, str, str, str]:
    claim, verdict = listed
    letter = " (letter)" if claim.literal_of else ""
    return claim.id, verdict, claim.kind, claim.where, claim.gist, f"{claim.origin}{letter}"


def style(verdict: str) -> str:
    """The colour of a verdict; none for what is none."""
    return STYLES.get(verdict, "")
