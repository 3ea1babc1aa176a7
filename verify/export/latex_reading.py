"""The formulas of :mod:`verify.export.latex` read again: exactly what is printed there, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.multipliers.ratios import Ratio, from_terms, polynomials, terms


@dataclass(frozen=True)
class Symbols:
    """How letters, vectors and values are written in LaTeX, by their names in an object."""

    letters: Mapping[str, str]
    vectors: Mapping[str, str]
    values: Mapping[str, str]

    def product(self, key: str) -> str:
        """What a coefficient stands before: a value, 1, a vector, or a product of two vectors."""
        if "|" not in key:
            return self.values[key]
        a, b = ("1" if name == "1" else self.vectors[name] for name in key.split("|"))
        return "1" if a == b == "1" else f"\\|{a}\\|^{{2}}" if a == b else f"\\langle {a}, {b}\\rangle"


#: A linear combination: coefficients by what they stand before, the empty text for a number.
_Sum = dict[str, Ratio]


class Reader:
    """Reads formulas in the symbols of one object."""

    def __init__(self, symbols: Symbols) -> None:
        self._names = tuple(symbols.letters)
        self._ring = polynomials(self._names)
        self._one = Ratio(self._ring.constant(1), self._ring.constant(1))
        self._letters = {written: name for name, written in symbols.letters.items()}
        self._vectors = {written: name for name, written in symbols.vectors.items()}
        self._values = {written: name for name, written in symbols.values.items()}
        known = sorted([*self._letters, *self._vectors, *self._values], key=len, reverse=True)
        alone = [r"\frac", r"\langle", r"\rangle", r"\|", "^{2}", "{", "}", "(", ")", "+", "-", ","]
        parts = [*map(re.escape, known), r"\^\{\d+\}", r"\d+", *map(re.escape, alone)]
        self._token = re.compile(r"\s*(" + "|".join(parts) + r")")

    def form(self, name: str, formula: str) -> dict[str, Any]:
        """A form's coefficients."""
        found = self._read(formula)
        if any(key in self._vectors.values() for key in found):
            raise ValueError(f"{name} has a vector that is in no product")
        return {"1|1" if key == "" else key: self._written(c) for key, c in found.items()}

    def vector(self, name: str, formula: str) -> dict[str, Any]:
        """A vector's coefficients."""
        found = self._read(formula)
        if any(key and key not in self._vectors.values() for key in found):
            raise ValueError(f"{name} has more than vectors")
        return {"1" if key == "" else key: self._written(c) for key, c in found.items()}

    def scalar(self, name: str, formula: str) -> Any:
        """A number in the letters."""
        found = self._read(formula)
        if set(found) - {""}:
            raise ValueError(f"{name} is no number")
        return self._written(found.get("", self._one - self._one))

    def _written(self, c: Ratio) -> Any:
        if c.den == 1 and (c.is_zero or c.num.is_constant()):
            return str(terms(c.num)[0][1] if not c.is_zero else Fraction(0))
        count = len(self._names)
        num, den = ([[str(v), list(m[:count])] for m, v in terms(p)] for p in (c.num, c.den))
        return {"num": num, "den": den}

    def _read(self, formula: str) -> _Sum:
        self._left, at = [], 0
        while at < len(formula.rstrip()):
            match = self._token.match(formula, at)
            if match is None:
                raise ValueError(f"{formula[at : at + 20]!r} is not understood")
            self._left.append(match[1])
            at = match.end()
        self._left.reverse()
        found = self._sum()
        if self._left:
            raise ValueError(f"{self._left[-1]!r} is not understood there")
        return {key: c for key, c in found.items() if not c.is_zero}

    def _take(self, token: str) -> None:
        if not self._left or self._left.pop() != token:
            raise ValueError(f"{token!r} was expected")

    def _sum(self) -> _Sum:
        total: _Sum = {}
        sign = self._left.pop() if self._left and self._left[-1] == "-" else "+"
        while True:
            for key, c in self._product().items():
                total[key] = total.get(key, self._one - self._one) + c * (1 if sign == "+" else -1)
            if not self._left or self._left[-1] not in ("+", "-"):
                return total
            sign = self._left.pop()

    def _product(self) -> _Sum:
        found = self._factor()
        while self._left and self._left[-1] not in ("+", "-", ")", "}", ","):
            found = _times(found, self._factor())
        return found

    def _factor(self) -> _Sum:
        if not self._left:
            raise ValueError("a formula ends too early")
        token = self._left.pop()
        if token == r"\frac":
            above, below = self._braced(), self._braced()
            if set(below) != {""}:
                raise ValueError("a denominator is no number")
            return _times(above, {"": self._one / below[""]})
        if token == r"\|":
            name = self._vector()
            self._take(r"\|")
            self._take("^{2}")
            return {f"{name}|{name}": self._one}
        if token == r"\langle":
            a = self._vector()
            self._take(",")
            b = self._vector()
            self._take(r"\rangle")
            return {f"{a}|{b}": self._one}
        if token in self._values:
            return {self._values[token]: self._one}
        if token in self._vectors:
            return {self._vectors[token]: self._one}
        return self._raised(self._number(token))

    def _number(self, token: str) -> _Sum:
        if token == "(":
            found = self._sum()
            self._take(")")
            return found
        if token.isdigit():
            return {"": self._one * int(token)}
        if token in self._letters:
            place = self._names.index(self._letters[token])
            powers = tuple(int(k == place) for k in range(len(self._names)))
            return {"": Ratio(from_terms(self._ring, {powers: Fraction(1)}), self._ring.constant(1))}
        raise ValueError(f"{token!r} is not understood there")

    def _raised(self, base: _Sum) -> _Sum:
        if not self._left or not (match := re.fullmatch(r"\^\{(\d+)\}", self._left[-1])):
            return base
        self._left.pop()
        if set(base) - {""}:
            raise ValueError("only numbers have powers")
        return {key: c ** int(match[1]) for key, c in base.items()}

    def _braced(self) -> _Sum:
        self._take("{")
        found = self._sum()
        self._take("}")
        return found

    def _vector(self) -> str:
        token = self._left.pop() if self._left else ""
        if token == "1":
            return "1"
        if token not in self._vectors:
            raise ValueError(f"{token!r} is no vector")
        return self._vectors[token]


def _times(a: _Sum, b: _Sum) -> _Sum:
    if set(a) - {""} and set(b) - {""}:
        raise ValueError("a product of two things that are no numbers")
    return {key + other: c * d for key, c in a.items() for other, d in b.items()}
