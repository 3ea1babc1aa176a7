"""Tables as text, Markdown, LaTeX, HTML, CSV and JSON."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable
from typing import Any

import sympy

from fedtheory.numbers.printing import Latex, MathML, Plain, as_in_tables, grouped
from fedtheory.tables import FORMATS, Entry, Table
from fedtheory.tables.latex import escaped, latex

# What stands for a value that is not known.
_UNKNOWN = "-"


def plain(value: Any) -> str:
    """An entry's value as text: a formula with ^ for powers, a number with four digits, - where nothing is known."""
    if isinstance(value, sympy.Expr):
        return str(Plain(as_in_tables).doprint(grouped(value)))
    return _number(value)


def _number(value: Any) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _latex_value(value: Any) -> str:
    """Math without its dollars for a formula, else text with the special characters escaped."""
    if isinstance(value, sympy.Expr):
        return str(Latex(as_in_tables, fold_short_frac=False).doprint(grouped(value)))
    return escaped(_number(value))


def render(table: Table, format: str = "text") -> str:
    """The table in one of :data:`fedtheory.tables.FORMATS`; ``ValueError`` for another.

    The best of a column is in bold, in text starred, in CSV and JSON named.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: it is one of {', '.join(FORMATS)}")
    return _WRITERS[format](table)


def text(table: Table) -> str:
    """Aligned columns; the best of each is starred."""
    lines = [["method", *(c.text for c in table.columns)]]
    for row in table.rows:
        lines.append([row.label, *(f"{'* ' if e.best else '  '}{plain(e.value)}" for e in row.entries)])
    lines[0][1:] = [f"  {heading}" for heading in lines[0][1:]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    starred = ["* state of the art"] if any(e.best for row in table.rows for e in row.entries) else []
    return "\n".join([table.name, *body, *starred, table.note]) + "\n"


def markdown(table: Table) -> str:
    """A pipe table with formulas in LaTeX."""

    def cell(entry: Entry) -> str:
        is_formula = isinstance(entry.value, sympy.Expr)
        shown = f"${_latex_value(entry.value)}$" if is_formula else _number(entry.value)
        return f"**{shown}**" if entry.best else shown

    head = ["method", *(c.latex.replace(r"\#", "#") for c in table.columns)]
    rows = [[row.label, *map(cell, row.entries)] for row in table.rows]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{table.note}\n"


def html_table(table: Table) -> str:
    """A table element with formulas in MathML; best entries have the class "best"."""

    def cell(entry: Entry) -> str:
        if isinstance(entry.value, sympy.Expr):
            printed = MathML(as_in_tables).doprint(grouped(entry.value)).replace("&InvisibleTimes;", "&#8290;")
            shown = f"<math>{printed}</math>"
        else:
            shown = html.escape(_number(entry.value))
        if entry.best:
            return f'<td class="best" style="background: #dff0d8"><strong>{shown}</strong></td>'
        return f"<td>{shown}</td>"

    head = "".join(f"<th>{html.escape(text)}</th>" for text in ("method", *(c.text for c in table.columns)))
    rows = [f"<tr><td>{html.escape(row.label)}</td>{''.join(map(cell, row.entries))}</tr>" for row in table.rows]
    caption = f"<caption>{html.escape(table.name)}</caption>"
    return (
        "\n".join(["<table>", caption, f"<tr>{head}</tr>", *rows, "</table>", f"<p>{html.escape(table.note)}</p>"])
        + "\n"
    )


def csv_table(table: Table) -> str:
    """One line a method; the last column names the columns in which it is best. Numbers with all digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [c.text for c in table.columns]
    writer.writerow(["method", *names, "best in"])
    for row in table.rows:
        values = [repr(e.value) if isinstance(e.value, float) else plain(e.value) for e in row.entries]
        leads = [name for name, entry in zip(names, row.entries, strict=True) if entry.best]
        writer.writerow([row.label, *("" if v == _UNKNOWN else v for v in values), "; ".join(leads)])
    return out.getvalue()


def json_table(table: Table) -> str:
    """Every entry with its text, its LaTeX or number, and whether it is best."""

    def entry(column: str, entry: Entry) -> dict[str, Any]:
        kept: dict[str, Any] = {"column": column, "best": entry.best}
        if isinstance(entry.value, sympy.Expr):
            return {**kept, "text": plain(entry.value), "latex": _latex_value(entry.value)}
        return {**kept, "value": entry.value}

    names = [c.text for c in table.columns]
    rows = [
        {
            "method": row.label,
            "key": row.key,
            "entries": [entry(name, e) for name, e in zip(names, row.entries, strict=True)],
        }
        for row in table.rows
    ]
    return json.dumps({"table": table.name, "columns": names, "rows": rows, "note": table.note}, indent=2) + "\n"


_WRITERS: dict[str, Callable[[Table], str]] = dict(
    zip(FORMATS, (text, markdown, latex, html_table, csv_table, json_table), strict=True)
)
