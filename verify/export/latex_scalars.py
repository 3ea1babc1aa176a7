"""Quotients of polynomials in LaTeX, as short as they are found: factors, collected terms, names for what recurs.

A sum is written by its factors, or around a letter, or around a name (a polynomial that is printed once, as a bound of
the domain) of which it holds a multiple. What is shortest is taken; that it is the same number is for the reader of
:mod:`verify.export.latex_reading` to see.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from verify.export.latex_layout import DIGITS, WIDEST, width
from verify.multipliers.ratios import Ratio, from_terms, key, terms

#: The cost of a minus sign where a weight has to be visibly nonnegative.
_MINUS = 12
#: A fraction on a line.
QUOTIENT = re.compile(r"\(\d+/\d+\)")
#: Sums of more terms than this are only factored: shorter writings are looked for among all parts of the others.
_MOST = 24


class Scalars:
    """Writes quotients in given letters."""

    def __init__(self, names: Sequence[str], letters: Mapping[str, str], ring: Any) -> None:
        self._names, self._letters, self._ring = names, letters, ring
        self._called: list[tuple[str, Any]] = []
        self._known: dict[tuple[str, bool], str] = {}
        self._sides: dict[str, int] = {}

    def turn(self, p: Any, side: int) -> None:
        """From now on, a factor is written as it is, or as minus another: on the side on which it is nonnegative."""
        self._sides[key(p)], self._sides[key(-p)] = side, -side

    def call(self, symbol: str, p: Any) -> None:
        """From now on, a polynomial may be written by this name."""
        self._called.append((symbol, p))
        self._known.clear()

    def polynomial(self, p: Any, signed: bool = False) -> str:
        """A sum, or a product; ``signed`` where few minus signs are worth some length."""
        here = (key(p), signed)
        if here not in self._known:
            self._known[here] = min(self._writings(p, signed), key=lambda text: (_cost(text, signed), text))
        return self._known[here]

    def ratio(self, c: Ratio, signed: bool = False) -> str:
        """A product, perhaps with a minus sign before it, or a sum in brackets."""
        return min(self._quotients(c, signed), key=lambda text: (_cost(text, signed), text))

    def _writings(self, p: Any, signed: bool) -> Iterator[str]:
        if len(p) <= 1:
            yield self._expanded(p)
            return
        for symbol, of in self._called:
            if p in (of, -of):
                yield symbol if p == of else f"-{symbol}"
                return
        constant, factors = p.factor()
        if len(factors) > 1 or factors[0][1] > 1 or abs(Fraction(int(constant.p), int(constant.q))) != 1:
            yield self._product(Fraction(int(constant.p), int(constant.q)), factors, signed)
            return
        yield self._expanded(p)
        if len(p) > _MOST:
            return
        for symbol, of in self._called:
            times, rest = divided(p, of)
            if times != 0 and len(times) + len(rest) < len(p):
                yield _joined([_before(self.polynomial(times, signed), symbol), self.polynomial(rest, signed)])
        for i in range(len(self._names)):
            within = from_terms(self._ring, {m: c for m, c in terms(p) if m[i]})
            rest = p - within
            if within != 0 and rest != 0:
                yield _joined([self.polynomial(within, signed), self.polynomial(rest, signed)])

    def _expanded(self, p: Any) -> str:
        ordered = sorted(terms(p), key=lambda term: term[1] < 0)
        return _joined([self._monomial(c, m) for m, c in ordered])

    def _monomial(self, c: Fraction, m: Sequence[int]) -> str:
        powers = [
            self._letters[name] + (f"^{{{k}}}" if k > 1 else "") for name, k in zip(self._names, m, strict=False) if k
        ]
        size = "" if abs(c) == 1 and powers else number(abs(c))
        return ("-" if c < 0 else "") + " ".join(filter(None, [size, *powers]))

    def _product(self, constant: Fraction, factors: Iterable[tuple[Any, Any]], signed: bool) -> str:
        """Factors, each turned to the side on which it is known to be nonnegative, or has fewer minus signs."""
        negative = constant < 0
        plain: list[tuple[str, str]] = []
        sums: list[tuple[str, str]] = []
        for factor, power in factors:
            text = self.polynomial(factor, signed)
            if len(factor) > 1:
                turned = self.polynomial(-factor, signed)
                side = self._sides.get(key(factor), 1 if _awkward(text) <= _awkward(turned) else -1)
                text, negative = (text, negative) if side > 0 else (turned, negative != (int(power) % 2 == 1))
            raised = f"^{{{int(power)}}}" if int(power) > 1 else ""
            whole = re.fullmatch(r"\\?[a-zA-Z]+(_\{\w+\})?", text)
            (sums if _is_sum(text) or text.startswith("-") or (raised and not whole) else plain).append((text, raised))
        parts = [text + raised for text, raised in plain] + [f"({text}){raised}" for text, raised in sums]
        size = [] if abs(constant) == 1 and parts else [number(abs(constant))]
        return ("-" if negative else "") + " ".join([*size, *parts])

    def _quotients(self, c: Ratio, signed: bool) -> Iterator[str]:
        if c.is_zero:
            yield "0"
            return
        (top, above), (bottom, below) = c.num.factor(), c.den.factor()
        size = Fraction(int(top.p), int(top.q)) / Fraction(int(bottom.p), int(bottom.q))
        yield self._fraction(size, above, below, signed)
        for k, (factor, power) in enumerate(above):
            if power != 1 or len(factor) <= 1 or len(factor) > _MOST:
                continue
            for divisor, others in _parts(below):
                times, rest = divided(factor, divisor)
                if times == 0:
                    continue
                whole = self.polynomial(times, signed)
                part = self.ratio(Ratio.of(rest, divisor), signed)
                text = f"({_joined([whole, part])})"
                outer = self._fraction(size, [f for j, f in enumerate(above) if j != k], others, signed)
                yield _before(outer, text)

    def _fraction(self, size: Fraction, above: Any, below: Any, signed: bool) -> str:
        over = self._product(size.numerator * Fraction(1), above, signed)
        under = self._product(Fraction(size.denominator), below, signed)
        negative = over.startswith("-") != under.startswith("-")
        over, under = over.removeprefix("-"), under.removeprefix("-")
        sign = "-" if negative else ""
        if under == "1":
            return f"{sign}{over}"
        whole = f"\\frac{{{bare(over)}}}{{{bare(under)}}}"
        return sign + (whole if width(whole) <= WIDEST else self._spread(abs(size), above, below, signed))

    def _spread(self, size: Fraction, above: Any, below: Any, signed: bool) -> str:
        """The size of a fraction that is too wide for a line, as a product of what TeX breaks: a narrow fraction for
        each few factors of the denominator, those of the numerator, and powers below 0 of wide ones.
        """
        wide = max(map(_digits, (size.numerator, size.denominator))) > DIGITS
        parts = [number(size)] if wide else []
        top, bottom = (1, "") if wide else (size.numerator, "" if size.denominator == 1 else str(size.denominator))
        powers = []
        for factor, power in below:
            text = self._product(Fraction(1), [(factor, power)], signed).removeprefix("-")
            joined = f"{bottom} {text}".strip()
            if width(f"\\frac{{1}}{{{text}}}") > WIDEST:
                base = self._product(Fraction(1), [(factor, 1)], signed).removeprefix("-")
                powers.append(f"{base}^{{-{int(power)}}}")
            elif bottom and width(f"\\frac{{{top}}}{{{joined}}}") > WIDEST:
                parts.append(f"\\frac{{{top}}}{{{bare(bottom)}}}")
                top, bottom = 1, text
            else:
                bottom = joined
        if bottom:
            parts.append(f"\\frac{{{top}}}{{{bare(bottom)}}}")
        elif top != 1:
            parts.append(str(top))
        over = self._product(Fraction(1), above, signed).removeprefix("-")
        return " ".join([*parts, *([] if over == "1" else [over]), *powers])


def divided(p: Any, by: Any) -> tuple[Any, Any]:
    """A multiple and what is left, such that both together have few terms: terms are taken while that makes less."""
    times, rest = p * 0, p
    while rest != 0:
        best = None
        for m, c in terms(rest):
            for n, d in terms(by):
                if all(a >= b for a, b in zip(m, n, strict=True)):
                    step = from_terms(p.context(), {tuple(a - b for a, b in zip(m, n, strict=True)): c / d})
                    left = rest - step * by
                    if len(left) < len(rest) and (best is None or len(left) < len(best[1])):
                        best = step, left
        if best is None:
            break
        times, rest = times + best[0], best[1]
    return times, rest


def _parts(below: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, list[tuple[Any, Any]]]]:
    """Divisors of a denominator, each with the factors that are left."""
    whole = None
    for factor, power in below:
        full = factor ** int(power)
        whole = full if whole is None else whole * full
        yield full, [f for f in below if f[0] != factor]
    if whole is not None and len(below) > 1:
        yield whole, []
        plain = [f for f in below if len(f[0]) == 1]
        if 1 < len(plain) < len(below):
            product = plain[0][0] ** int(plain[0][1])
            for factor, power in plain[1:]:
                product = product * factor ** int(power)
            yield product, [f for f in below if len(f[0]) > 1]


def number(c: Fraction) -> str:
    """A fraction; one of many digits on a line, which may end within it."""
    sign = "-" if c < 0 else ""
    if c.denominator > 1 and max(map(_digits, (c.numerator, c.denominator))) > DIGITS:
        return f"{sign}({abs(c.numerator)}/{c.denominator})"
    return f"{sign}\\frac{{{abs(c.numerator)}}}{{{c.denominator}}}" if c.denominator > 1 else str(c.numerator)


def _digits(n: int) -> int:
    return len(str(abs(n)))


def bare(text: str) -> str:
    """Without brackets round all of it."""
    if not (text.startswith("(") and text.endswith(")")) or QUOTIENT.fullmatch(text):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1]


def _before(coefficient: str, thing: str) -> str:
    """Return the LaTeX of a coefficient before a factor that is not a sum."""
    if _is_sum(coefficient):
        coefficient = f"({coefficient})"
    negative, size = coefficient.startswith("-"), coefficient.removeprefix("-")
    return ("-" if negative else "") + (thing if size == "1" else f"{size} {thing}")


def _joined(parts: Sequence[str]) -> str:
    """A sum, what is positive first."""
    out = ""
    for part in sorted((bare(part) for part in parts if part not in ("0", "")), key=lambda part: part.startswith("-")):
        negative, size = part.startswith("-"), part.removeprefix("-")
        out += (" - " if negative and out else "-" if negative else " + " if out else "") + size
    return out or "0"


def _is_sum(text: str) -> bool:
    """Return True if the text needs brackets before it is multiplied."""
    depth = 0
    for k, letter in enumerate(text):
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(letter, 0)
        if depth == 0 and k and text[k : k + 3] in (" + ", " - "):
            return True
    return False


def _awkward(text: str) -> int:
    """Minus signs, of which one before all of it is worst."""
    return text.count(" - ") + (10 if text.startswith("-") else 0)


def _cost(text: str, signed: bool) -> int:
    """Signs that are read, with what minus signs cost."""
    read = len(re.findall(r"\\(?!left|right)[a-zA-Z]+|\d+|[a-zA-Z]|[-+(]", text))
    return read + (_MINUS * (text.count("-") + 5 * text.startswith("-")) if signed else 0)
