"""What differs between two statements, the printed one and the repaired one, marked in both.

Expressions are compared as trees: terms of sums, factors of products and the alternatives of a maximum whatever their
order, all else place by place. What is left when the common parts are taken away is marked. Texts are compared word by
word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain
from typing import NamedTuple

import sympy
from rich.text import Text

from fedtheory.claims import Claim
from verify.base.plain import clean
from verify.report import statement
from verify.report.statement import CLOSE, OPEN

#: Kinds of expressions whose parts have no order.
_UNORDERED = (sympy.Add, sympy.Mul, sympy.Min, sympy.Max)
_ASSUMPTIONS = ("positive", "nonnegative", "real")
#: The share of words that two lines have in common at least, for their words to be compared.
_ALIKE = 0.6
#: How a marked part is shown on a terminal, besides its braces.
_STYLE = "bold underline"


class Told(NamedTuple):
    """A part of a claim under its heading: its lines, with marks."""

    heading: str
    lines: list[str]


def marked(printed: Claim, repaired: Claim) -> tuple[list[Told], list[Told]]:
    """What both claims say, part by part, and of the printed one only the parts that the repaired one changes."""
    first, second = [_statement(printed, repaired)], [_statement(repaired, printed)]
    for heading, a, b in (
        ("where", _meanings(printed), _meanings(repaired)),
        ("for", [statement.scope(printed)], [statement.scope(repaired)]),
        ("hypotheses", [h.text for h in printed.requires], [h.text for h in repaired.requires]),
    ):
        if a != b:
            first.append(Told(heading, _words(a, b)))
            second.append(Told(heading, _words(b, a)))
    return first, second


def shown(line: str) -> Text:
    """The line with its marked parts in braces, and in bold and underlined where there are colours."""
    parts = re.split(f"[{OPEN}{CLOSE}]", line)
    styled = [(f"{{{clean(p)}}}", _STYLE) if i % 2 else clean(p) for i, p in enumerate(parts)]
    return Text.assemble(*styled)


def is_marked(line: str) -> bool:
    """Whether a part of the line is marked."""
    return OPEN in line


def _statement(claim: Claim, other: Claim) -> Told:
    """The claim's statement, with what the other's has not marked."""
    mine, theirs = _expressions(claim), _expressions(other)
    lines, others = statement.text(claim), statement.text(other)
    if len(mine) != len(theirs) or len(lines) != len(others) or not mine:
        return Told("statement", _words(lines, others))
    pieces = iter([statement.expression(expressions(a, b)[0]) for a, b in zip(mine, theirs, strict=True)])
    return Told("statement", statement.text(claim, lambda _: next(pieces)))


def _expressions(claim: Claim) -> list[sympy.Expr]:
    """The expressions of the statement, in the order in which they are written."""
    found: list[sympy.Expr] = []

    def note(expression: sympy.Expr) -> str:
        found.append(expression)
        return ""

    statement.text(claim, note)
    return found


def expressions(a: sympy.Expr, b: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Both expressions, each with what the other has not in place of a symbol with the marked text as its name."""
    if a == b:
        return a, b
    for kind in _UNORDERED:
        if isinstance(a, kind) or isinstance(b, kind):
            mine, theirs = (list(kind.make_args(e)) if isinstance(e, kind) else [e] for e in (a, b))
            common = list((Counter(mine) & Counter(theirs)).elements())
            if common or (isinstance(a, kind) and isinstance(b, kind)):
                rest = _without(mine, common), _without(theirs, common)
                first, second = _rest(kind, *rest)
                return kind(*common, *first), kind(*common, *second)
    if a.func == b.func and len(a.args) == len(b.args) and a.args:
        pairs = [expressions(x, y) for x, y in zip(a.args, b.args, strict=True)]
        if any(x == y for x, y in zip(a.args, b.args, strict=True)) or len(pairs) == 1:
            return a.func(*(x for x, _ in pairs)), b.func(*(y for _, y in pairs))
    return _mark(a), _mark(b)


def _rest(
    kind: type[sympy.Expr], mine: Sequence[sympy.Expr], theirs: Sequence[sympy.Expr]
) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """What is left of both when the common parts are gone: two that resemble each other are compared, others marked."""
    left, right = list(mine), list(theirs)
    first, second = [], []
    for a in mine:
        best = max(right, key=lambda b: _alike(a, b), default=None)
        if best is not None and (_alike(a, best) > 0 or len(mine) == len(theirs) == 1):
            left.remove(a)
            right.remove(best)
            x, y = expressions(a, best)
            first.append(x)
            second.append(y)
    # A single mark around all that is left.
    if left:
        first.append(_mark(kind(*left)))
    if right:
        second.append(_mark(kind(*right)))
    return first, second


def _alike(a: sympy.Expr, b: sympy.Expr) -> int:
    """How many parts two expressions have in common, besides numbers."""
    parts = [{p for p in chain([e], e.args) if not p.is_number} for e in (a, b)]
    return len(parts[0] & parts[1])


def _without(parts: Sequence[sympy.Expr], taken: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    return list((Counter(parts) - Counter(taken)).elements())


def _mark(expression: sympy.Expr) -> sympy.Symbol:
    """A symbol named by the expression's text, marked; with its sign, so that what holds it is written alike."""
    assumptions = {name: True for name in _ASSUMPTIONS if getattr(expression, f"is_{name}")}
    return sympy.Symbol(f"{OPEN}{statement.expression(expression)}{CLOSE}", **assumptions)


def _meanings(claim: Claim) -> list[str]:
    return [f"{name}: {meaning}" for name, meaning in statement.definitions(claim)]


def _words(mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """The lines of the one: as they are where the other has them too, with other words marked where one is like them,
    and else marked as a whole."""
    unknown = [line for line in theirs if line not in mine]
    return [line if line in theirs else _against(line, unknown) for line in mine]


def _against(line: str, others: Sequence[str]) -> str:
    words = line.split()
    matchers = [SequenceMatcher(None, words, other.split(), autojunk=False) for other in others]
    best = max(matchers, key=lambda m: m.ratio(), default=None)
    if best is None or best.ratio() < _ALIKE:
        return f"{OPEN}{line}{CLOSE}"
    parts = []
    for tag, start, end, *_ in best.get_opcodes():
        if start < end:
            text = " ".join(words[start:end])
            parts.append(text if tag == "equal" else f"{OPEN}{text}{CLOSE}")
    return " ".join(parts)


__all__ = ["Told", "expressions", "is_marked", "marked", "shown"]
