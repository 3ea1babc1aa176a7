"""Tables as text, Markdown, HTML, CSV and JSON, and in LaTeX as a journal prints them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import sympy

from fedtheory.numbers.symbols import Latex, MathML, Plain, as_in_tables, grouped
from fedtheory.tables import FORMATS, Column, Entry, Table

# Tables in LaTeX, as a journal prints them: a float with booktabs, a caption, a label and its note.

# The mark of an unknown value.
_MISSING = "--"
_SPECIAL = {"\\": r"\textbackslash{}", **{c: "\\" + c for c in "#$%&_{}"}, "^": r"\^{}", "~": r"\~{}"}
#: Characters of a text from which its column is broken into lines, and columns that a page holds side by side.
_LONG, _COLUMNS = 40, 3
#: The width of the wider half of a table.
_WIDTH = r"\fedtheorywidth"
#: Rows from which a table of fractions is set closer, and made smaller where a page is too short for it.
_TALL = 12
_GREEK = "alpha|beta|gamma|epsilon|zeta|eta|theta|Theta|kappa|lambda|mu|nu|omega|rho|sigma|tau|chi"
#: A letter with its star, index or power; "a" and the properties A to D are words when they stand alone.
_ATOM = rf"(?:\b(?:log|ceil|{_GREEK}|[b-zA-Z])(?:\*|\^\d|_[a-z])?(?![\w*])|\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)"
_OPEN, _CLOSE, _OPERATOR = r"\(?", r"\)*", r"(?: ?[=<] ?| - | \+ |/|\(|, (?=\d+\))| (?=[a-z]\b ?=))"
_FORMULA = re.compile(rf"(?:{_OPEN}{_ATOM}{_CLOSE})(?:{_OPERATOR}{_OPEN}{_ATOM}{_CLOSE})*")
_WORDS = {"A", "B", "C", "D", "O"}


class _Formulas(Latex):
    """Formulas for a page: slashed exponents, roots only where they are square."""

    def __init__(self) -> None:
        super().__init__(as_in_tables, fold_short_frac=False, fold_frac_powers=True)

    def _print_Pow(self, expr: sympy.Pow) -> str:
        self._settings["root_notation"] = abs(expr.exp) == sympy.Rational(1, 2)
        return str(super()._print_Pow(expr))


def formula(value: sympy.Expr) -> str:
    """A formula without its dollars, its outer fractions in display size."""
    printed = re.sub(r"_\{(max|min)\}", r"_{\\\1}", _Formulas().doprint(grouped(value)))
    printed = re.sub(r"\\log\{\\left\(\\frac\{(\w+|\\\w+)\}\{(\\\w+)\} \\right\)\}", r"\\log(\1/\2)", printed)
    depth, found = 0, []
    for part in re.split(r"([{}]|\\frac)", printed):
        depth += {"{": 1, "}": -1}.get(part, 0)
        found.append(r"\dfrac" if part == r"\frac" and depth == 0 else part)
    return "".join(found)


def escaped(text: str) -> str:
    """Text with the characters that mean something to TeX made harmless."""
    return "".join(_SPECIAL.get(c, c) for c in text)


def prose(text: str) -> str:
    """A sentence with the formulas in it, such as sigma = 1 and f(w) - f*, between dollars, and `code` in type."""
    if "`" in text:
        parts = text.split("`")
        return "".join(rf"\texttt{{{escaped(p)}}}" if i % 2 else prose(p) for i, p in enumerate(parts))
    found, end = [], 0
    for match in _FORMULA.finditer(text):
        shown = match.group()
        extra = shown.count(")") - shown.count("(")
        stop = match.end() - extra if extra > 0 and shown.endswith(")" * extra) else match.end()
        start = match.start() + (1 if extra < 0 and shown.startswith("(") else 0)
        inside = text[start:stop]
        if inside in _WORDS or not re.search("[a-zA-Z]", inside) or inside.count("(") != inside.count(")"):
            continue
        found += [escaped(text[end:start]), f"${_math(inside)}$"]
        end = stop
    return "".join([*found, escaped(text[end:])])


def _math(text: str) -> str:
    typed = re.sub(rf"\b({_GREEK}|log)\b", r"\\\1 ", text)
    typed = re.sub(r"(\\[a-zA-Z]+) (?![a-zA-Z])", r"\1", typed)
    typed = re.sub(r"ceil\(([^)]*)\)", r"\\lceil \1\\rceil ", typed).replace("*", r"^{\star}")
    typed = re.sub(r"(\d)e[+]?(-?)0*(\d+)", r"\1\\cdot 10^{\2\3}", typed)
    return re.sub(r"([a-z]) ([a-z])(?= ?=)", r"\1\\,\2", typed)


def _cell(entry: Entry) -> str:
    if isinstance(entry.value, sympy.Expr):
        shown = f"${formula(entry.value)}$"
        return rf"{{\boldmath {shown}}}" if entry.best else shown
    shown = _text(entry.value)
    # Bold type of text does not reach the formulas in it.
    weight = r"\boldmath " if "$" in shown else ""
    return rf"\textbf{{{weight}{shown}}}" if entry.best else shown


def _text(value: object) -> str:
    if value is None:
        return _MISSING
    if not isinstance(value, float):
        return prose(str(value)) if " " in str(value) else escaped(str(value))
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if exponent else mantissa


class _Panel(NamedTuple):
    """Some of the columns of a table: the letters of its columns in LaTeX, its lines, and the size of its type."""

    kinds: str
    lines: list[str]
    size: list[str]

    def tabular(self) -> list[str]:
        """A tabular as wide as it is by itself, smaller where it is wider than the page."""
        return [*self.size, *_within_page([rf"\begin{{tabular}}{{{self.kinds}}}", *self.lines, r"\end{tabular}"])]


def _within_page(box: list[str]) -> list[str]:
    return [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%", *box[:-1], box[-1] + "}"]


def _within_height(lines: list[str]) -> list[str]:
    """Lines that are made smaller together where a page with a caption above them would be too short."""
    limit = r"\dimexpr\textheight-5\baselineskip\relax"
    box = [r"\begin{lrbox}{4}\begin{minipage}{\linewidth}\centering", *lines, r"\end{minipage}\end{lrbox}"]
    return [*box, rf"\resizebox*{{!}}{{\ifdim\totalheight>{limit}{limit}\else\totalheight\fi}}{{\usebox4}}"]


def _halves(above: _Panel, below: _Panel) -> Iterator[list[str]]:
    """Yield two tabulars, each as wide as the wider of the two, and what is measured for it."""
    names = (r"\fedtheoryabove", r"\fedtheorybelow")
    measured = []
    for box, name, panel in zip((0, 2), names, (above, below), strict=True):
        measured += [rf"\def{name}{{%", *panel.lines[:-1], panel.lines[-1] + "}"]
        inner = rf"\begin{{tabular}}{{{panel.kinds}}}{name}\end{{tabular}}"
        measured.append(rf"\sbox{box}{{{''.join(panel.size)}{inner}}}")
    measured.append(rf"\edef{_WIDTH}{{\ifdim\wd0>\wd2 \the\wd0\else\the\wd2\fi}}%")
    for name, panel in zip(names, (above, below), strict=True):
        kinds = rf"@{{\extracolsep{{\fill}}}}{panel.kinds}"
        star = [rf"\begin{{tabular*}}{{{_WIDTH}}}{{{kinds}}}{name}\end{{tabular*}}"]
        yield [*measured, "{" + "".join(panel.size) + "%", *_within_page(star)[:-1], star[0] + "}}"]
        measured = []


def _panel(table: Table, chosen: Sequence[int]) -> _Panel:
    """Some of the columns, with the lines of a tabular of them."""
    columns = [table.columns[i] for i in chosen]
    numbers = all(_numbers(table, i) for i in chosen)
    # Below its formula a method without a number needs no line.
    rows = [row for row in table.rows if not numbers or any(row.entries[i].value is not None for i in chosen)]
    entries = [[row.entries[i] for i in chosen] for row in rows]
    long = any(isinstance(e.value, str) and len(e.value) > _LONG for line in entries for e in line)
    share = rf"p{{\dimexpr{0.88 / len(columns):.3f}\linewidth-2\tabcolsep\relax}}"
    ragged = r">{\raggedright\arraybackslash}"
    kinds = ["r" if _numbers(table, i) else ragged + share if long else "l" for i in chosen]
    first = rf"{ragged}p{{0.12\linewidth}}" if long else "l"
    head = " & ".join(["Method", *(_heading(c) for c in columns)]) + r" \\"
    tall = any(r"\dfrac" in _cell(e) for line in entries for e in line)
    body = [" & ".join([prose(row.label), *map(_cell, line)]) + r" \\" for row, line in zip(rows, entries, strict=True)]
    if tall or long:
        space = r" \addlinespace[2pt]" if len(body) > _TALL else r" \addlinespace"
        body = [line + space for line in body[:-1]] + body[-1:]
    size = [r"\scriptsize\setlength{\tabcolsep}{3pt}"] if long else []
    lines = [r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    return _Panel(f"@{{}}{first}{''.join(kinds)}@{{}}", lines, size)


def _heading(column: Column) -> str:
    return prose(column.text) if column.text == column.latex else column.latex


def _numbers(table: Table, column: int) -> bool:
    values = [row.entries[column].value for row in table.rows]
    return any(isinstance(v, float) for v in values) and all(v is None or isinstance(v, float) for v in values)


def latex(table: Table) -> str:
    """A float that fits the width of a page, with formulas above numbers where both side by side would not.

    It takes the packages amsmath, array, booktabs and graphicx. What is best in its column is bold, and the note below
    says so.
    """
    every = range(len(table.columns))
    numbers = [i for i in every if _numbers(table, i)]
    formulas = [i for i in every if i not in numbers]
    panels = [formulas, numbers] if numbers and len(every) > _COLUMNS else [list(every)]
    bold = any(e.best for row in table.rows for e in row.entries)
    note = prose(table.note) + (" Bold: state of the art, the best of its column." if bold else "")
    made = [_panel(table, chosen) for chosen in panels]
    body = list(_halves(*made)) if len(made) == 2 else [made[0].tabular()]
    below = rf"\begin{{minipage}}{{\linewidth}}\footnotesize {note}\end{{minipage}}"
    spaced = [line for panel in [*body, [below]] for line in (*panel, "", r"\medskip", "")][:-3]
    if len(table.rows) > _TALL:
        spaced = _within_height(spaced)
    label = re.sub(r"[^a-z0-9]+", "-", table.name) + ("-numbers" if numbers else "")
    return by_itself(
        "\n".join(
            [
                r"\begin{table*}",
                r"\centering\small",
                rf"\caption{{{prose(table.title or table.name)}}}",
                rf"\label{{tab:{label}}}",
                *spaced,
                r"\end{table*}",
            ]
        ),
        ("amsmath", "array", "booktabs", "graphicx"),
    )


#: What begins and ends a file that is a document by itself, and part of one where a paper reads it: after the beginning
#: of a document LaTeX has the command @nodocument as relax.
_ALONE = r"""% A document by itself; in a paper: {packages} and \input of this file.
\expandafter\ifx\csname @nodocument\endcsname\relax\else
\documentclass[10pt]{{article}}
{packages}
\usepackage[margin=12mm]{{geometry}}
\pagestyle{{empty}}
\begin{{document}}
\def\fedtheoryends{{\end{{document}}}}
\fi
"""
_ENDS = r"\ifdefined\fedtheoryends\expandafter\fedtheoryends\fi"


def by_itself(body: str, packages: Sequence[str]) -> str:
    """A file that LaTeX compiles, and that a paper that loads the ``packages`` can read by its input command."""
    loaded = rf"\usepackage{{{','.join(packages)}}}"
    return f"{_ALONE.format(packages=loaded)}{body}\n{_ENDS}\n"


def fitted(formula: str) -> str:
    """A displayed formula, made smaller where it is wider than the column; it takes amsmath and graphicx."""
    width = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
    return rf"\[\resizebox{{{width}}}{{!}}{{\(\displaystyle {formula}\)}}\]"


# The mark of an unknown value.
_UNKNOWN = "-"


def plain(value: object) -> str:
    """An entry's value as text: a formula with ^ for powers, a number with four digits, - where nothing is known."""
    if isinstance(value, sympy.Expr):
        return str(Plain(as_in_tables).doprint(grouped(value)))
    return _number(value)


def _number(value: object) -> str:
    if value is None:
        return _UNKNOWN
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _latex_value(value: object) -> str:
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
