"""Tables in LaTeX, as a journal prints them: a float with booktabs, a caption, a label and its note."""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy

from fedtheory.numbers.printing import Latex, as_in_tables, grouped
from fedtheory.tables import Column, Entry, Table

# What stands for a value that is not known.
_UNKNOWN = "--"
_SPECIAL = {"\\": r"\textbackslash{}", **{c: "\\" + c for c in "#$%&_{}"}, "^": r"\^{}", "~": r"\~{}"}
#: Characters of a text from which its column is broken into lines, and columns that a page holds side by side.
_LONG, _COLUMNS = 40, 3
#: Rows from which a table of fractions is set closer, so that it fits the height of a page.
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
        return _UNKNOWN
    if not isinstance(value, float):
        return prose(str(value)) if " " in str(value) else escaped(str(value))
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if exponent else mantissa


def _panel(table: Table, chosen: Sequence[int]) -> list[str]:
    """A tabular of some of the columns, no wider than the page."""
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
    tabular = [
        rf"\begin{{tabular}}{{@{{}}{first}{''.join(kinds)}@{{}}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        r"\end{tabular}",
    ]
    if long:
        return [r"\scriptsize\setlength{\tabcolsep}{3pt}", *tabular]
    return [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%", *tabular[:-1], tabular[-1] + "}"]


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
    body = [_panel(table, chosen) for chosen in panels]
    spaced = [line for panel in body for line in (*panel, "", r"\medskip", "")]
    label = re.sub(r"[^a-z0-9]+", "-", table.name) + ("-numbers" if numbers else "")
    return (
        "\n".join(
            [
                r"% \usepackage{amsmath,array,booktabs,graphicx}",
                r"\begin{table*}",
                r"\centering\small",
                rf"\caption{{{prose(table.title or table.name)}}}",
                rf"\label{{tab:{label}}}",
                *spaced,
                rf"\begin{{minipage}}{{\linewidth}}\footnotesize {note}\end{{minipage}}",
                r"\end{table*}",
            ]
        )
        + "\n"
    )
