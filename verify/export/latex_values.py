"""Numbers, vectors and points of a proof in LaTeX, as its words have them: in the symbols of its formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.export.latex_names import function_symbol, gradient_of, letter_of, point_letter
from verify.export.latex_reading import Symbols
from verify.export.latex_words import mathematical, plain
from verify.export.objects import in_ascii
from verify.multipliers.reasons import FunctionPoint, as_text, in_words, without_kinds
from verify.reading.worlds import ONE, WorldValue

#: The terms of a polynomial: whether each is negative, and its factors.
_Terms = list[tuple[bool, list[str]]]
_ONE: _Terms = [(False, ["1"])]


def number(value: WorldValue, letters: Mapping[str, str]) -> str:
    """A number that stands among words."""
    if value.is_zero():
        return "0"
    c = value.of.get(ONE)
    parts = None if c is None or len(value.of) > 1 else _quotient(c, letters)
    if parts is None:
        return f"\\text{{{plain(in_words(value))}}}"
    num, den = parts
    simple = all(len(factors) == 1 for of in parts for _, factors in of)
    if den == _ONE:
        # A sum of letters is short among words.
        return (
            _sum(num).replace(" ", "") if simple and not any("\\frac" in f for _, of in num for f in of) else _sum(num)
        )
    return f"{_sum(num)}/{_sum(den)}" if simple and len(num) == len(den) == 1 else _fraction(num, den)


def combination(value: WorldValue, symbols: Symbols) -> str:
    """A sum of multiples of vectors; empty where a name is not known."""
    out = ""
    for (draws, atoms), c in value.of.items():
        of, vectors = size(c, symbols.letters), [vector(atom.name, symbols) for atom in atoms]
        if draws or of is None or not all(vectors):
            return ""
        out = added(out, *of, " ".join(vectors))
    return out or "0"


def added(out: str, negative: bool, factor: str, thing: str) -> str:
    """A sum with one more term, a multiple of a thing, or of 1 if there is none."""
    sign = " - " if negative and out else "-" if negative else " + " if out else ""
    return f"{out}{sign}" + (f"{'' if factor == '1' else factor} {thing}".strip() if thing else factor)


def vector(name: str, symbols: Symbols) -> str:
    """A vector, by its name; empty where it has no symbol."""
    if known := symbols.named.get(in_ascii(name.replace("|", "/"))):
        return known
    if name.endswith("_bar") and (letter := letter_of(name.removesuffix("_bar"))):
        return f"\\overline{{{letter}}}"
    if of := gradient_of(name):
        return f"\\nabla {function_symbol(of[0])}({of[1]})"
    return "" if " " in name else letter_of(name)


def point(of: FunctionPoint, symbols: Symbols) -> str:
    """A point, as its letter where it is one of the method's, or by a formula."""
    formula = point_letter(of) or combination(of.offset, symbols)
    called = symbols.points.get(str(of), "")
    if formula:
        return f"\\({called}={formula}\\)" if called else f"\\({formula}\\)"
    words = mathematical(without_kinds(str(of)))
    return f"\\({called}\\): {words}" if called else words


def in_sentence(value: WorldValue, symbols: Symbols) -> str:
    """A value among words, as a formula where it is one."""
    formula = combination(value, symbols)
    return f"\\({formula}\\)" if formula else mathematical(without_kinds(as_text(value)))


def size(c: Any, letters: Mapping[str, str]) -> tuple[bool, str] | None:
    """Return True if a coefficient is negative, and its size, a sum in brackets; None where a letter has no symbol."""
    parts = _quotient(c, letters)
    if parts is None:
        return None
    num, den = parts
    if len(num) > 1:
        return False, f"({_sum(num)})" if den == _ONE else _fraction(num, den)
    ((negative, factors),) = num
    return negative, " ".join(factors) if den == _ONE else _fraction([(False, factors)], den)


def _quotient(c: Any, letters: Mapping[str, str]) -> tuple[_Terms, _Terms] | None:
    names = [without_kinds(str(s)) for s in c.numer.ring.symbols]
    found = [terms_of(p.terms(), names, letters) for p in (c.numer, c.denom)]
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def terms_of(terms: Iterable[tuple[Any, Any]], names: Sequence[str], letters: Mapping[str, str]) -> _Terms | None:
    """Return exponents and coefficients as terms, each with its sign and its factors; None where a letter has no
    symbol."""
    found: _Terms = []
    for powers, c in terms:
        of = Fraction(int(c.numerator), int(c.denominator))
        factors = [] if abs(of) == 1 and any(powers) else [_written(abs(of))]
        for name, power in zip(names, powers, strict=True):
            if not power:
                continue
            symbol = letters.get(name) or letter_of(name)
            if not symbol:
                return None
            factors.append(symbol if power == 1 else f"{f'{{{symbol}}}' if '^' in symbol else symbol}^{{{power}}}")
        found.append((of < 0, factors))
    return found


def _written(c: Fraction) -> str:
    return str(c) if c.denominator == 1 else f"\\frac{{{c.numerator}}}{{{c.denominator}}}"


def _fraction(num: _Terms, den: _Terms) -> str:
    return f"\\frac{{{_sum(num)}}}{{{_sum(den)}}}"


def _sum(terms: _Terms) -> str:
    """A sum, what is added first."""
    ordered = sorted(terms, key=lambda term: term[0])
    written = " ".join(f"{'-' if negative else '+'} {' '.join(factors)}" for negative, factors in ordered)
    return written.removeprefix("+ ") if len(terms) > 1 else written.removeprefix("+ ").replace("- ", "-", 1)


def in_order(terms: _Terms) -> str:
    """A sum in the order of its terms."""
    out = ""
    for negative, factors in terms:
        out = added(out, negative, " ".join(factors), "")
    return out
