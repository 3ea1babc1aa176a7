"""Formulas within paragraphs: how wide they are, and where a line may end in them.

TeX ends lines at signs outside of braces only. A product that is too wide for that may also end one at a factor, which
then has a multiplication sign, and a long number after any ten digits. Both are layout: :func:`bare` takes it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: The widest fraction, in points of a font of 10 points. The columns of papers are 230 points wide, or a little more.
WIDEST = 150.0
#: The widest part of a line that is not to be broken, likewise.
_UNBROKEN = 90.0
#: The most digits of a number that is not broken.
DIGITS = 30
#: Digits between the places where a longer one is broken.
_GROUP = 10
#: TeX ends a line at a factor or within a word only where it would be too long otherwise; fractions of one line keep
#: their distance from those of the next.
PARAGRAPHS = r"\binoppenalty=0 \relpenalty=0 \hyphenpenalty=2000 \lineskiplimit=2pt \lineskip=4pt "

_BREAK, _WITHIN = r"\* ", r"\allowbreak "
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[\^_]|[{}]|\d|[a-zA-Z]|\s+|.", re.DOTALL)
#: The size of smaller letters, relative to those of the text.
_SMALLER = 0.8
_WIDTHS = {"(": 3.9, ")": 3.9, ",": 4.5, "/": 5.0, r"\|": 5.0, r"\nabla": 8.4, r"\Delta": 8.4, r"\sum": 12.0}
_SIGNS, _DIGIT, _LETTER = 12.3, 5.0, 6.0


def width(formula: str) -> float:
    """Return about how wide a formula is on one line, in points."""
    tokens = [token for token in _TOKEN.findall(formula) if not token.isspace()][::-1]
    return _width(tokens)


def _width(tokens: list[str]) -> float:
    total = 0.0
    while tokens and tokens[-1] != "}":
        token = tokens.pop()
        if token == r"\frac":
            total += _SMALLER * max(_group(tokens), _group(tokens)) + 3
        elif token in ("^", "_"):
            total += _SMALLER * _group(tokens)
        elif token == "{":
            tokens.append(token)
            total += _group(tokens)
        elif token in (r"\overline", r"\widetilde", r"\hat", r"\mathrm", r"\text"):
            total += _group(tokens)
        elif token in ("+", "-"):
            total += _SIGNS
        else:
            total += _WIDTHS.get(token, _DIGIT if token.isdigit() else _LETTER)
    return total


def _group(tokens: list[str]) -> float:
    """Return the width of what stands in braces, or of the one token."""
    if not tokens:
        return 0.0
    token = tokens.pop()
    if token != "{":
        return _WIDTHS.get(token, _LETTER)
    found = _width(tokens)
    if tokens:
        tokens.pop()
    return found


def broken(formula: str) -> str:
    """A formula in which a line may end wherever it has to."""
    out = ""
    for part in _between_signs(formula):
        if width(part) <= _UNBROKEN:
            out += part
            continue
        out += "".join(_numbers(piece) + (_BREAK if ends else "") for piece, ends in _factors(part))
    return out


def listed(formula: str) -> str:
    """A formula, in which a line may end after the commas outside of braces if it is a long one."""
    if width(formula) <= _UNBROKEN:
        return formula
    out, start = "", 0
    for k, _ in _outside(formula):
        if formula[:k].endswith(","):
            out, start = f"{out}{formula[start:k]} {_WITHIN}", k + 1
    return out + formula[start:]


def bare(formula: str) -> str:
    """A formula as it was before it was :func:`broken`."""
    return formula.replace(_BREAK, " ").replace(_WITHIN, "")


def _outside(formula: str) -> Iterator[tuple[int, str]]:
    """Yield the places of spaces outside of braces."""
    depth = 0
    for k, letter in enumerate(formula):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0 and letter == " ":
            yield k, formula[k + 1 : k + 3]


def _between_signs(formula: str) -> Iterator[str]:
    start = 0
    for k, ahead in _outside(formula):
        if ahead in ("+ ", "- "):
            yield formula[start:k]
            start = k
    yield formula[start:]


def _factors(part: str) -> Iterator[tuple[str, bool]]:
    """Yield the factors of a product, each with True if a line may end after it."""
    start = 0
    for k, ahead in _outside(part):
        before = part[:k]
        if before.endswith(("}", ")")) and not before.endswith(r"\sum_{i}") and ahead != r"\r":
            yield part[start:k], True
            start = k + 1
    yield part[start:], False


def _numbers(piece: str) -> str:
    """A factor with its long numbers in groups, those outside of braces."""
    if "{" in piece and not re.match(r"\W*\d", piece):
        return piece
    return re.sub(
        rf"(?<!\d)\d{{{DIGITS + 1},}}",
        lambda number: _WITHIN.join(re.findall(rf"\d{{1,{_GROUP}}}", number[0])),
        piece,
    )
