"""The formulas of :mod:`verify.export.latex` read again: exactly what is printed there, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from verify.multipliers.ratios import Ratio, from_terms, polynomials, terms


@dataclass(frozen=True)
class Symbols:
    """The LaTeX of letters, vectors and values, by their names in an object."""

    letters: Mapping[str, str]
    vectors: Mapping[str, str]
    values: Mapping[str, str]
    #: Vectors of each client, by the row of their mean: their LaTeX, and the row of the deviation from the mean.
    clients: Mapping[str, tuple[str, str]]
    #: Points that are not letters, by their description.
    points: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def named(self) -> Mapping[str, str]:
        """The LaTeX of vectors, by their names without their kinds."""
        return {row.partition(": ")[2] or row: symbol for row, symbol in self.vectors.items()}


#: A linear combination: coefficients by what they stand before, the empty text for a number.
_Sum = dict[str, Ratio]


class FormulaReader:
    """Reads formulas in the symbols of one object."""

    def __init__(self, symbols: Symbols) -> None:
        self._names = tuple(symbols.letters)
        self._ring = polynomials(self._names)
        self._one = Ratio(self._ring.constant(1), self._ring.constant(1))
        self._letters = {written: name for name, written in symbols.letters.items()}
        self._vectors: dict[str, _Sum] = {written: {name: self._one} for name, written in symbols.vectors.items()}
        for mean, (written, deviation) in symbols.clients.items():
            self._vectors[written] = {mean: self._one, deviation: self._one}
        self._rows = {*symbols.vectors, "1"}
        #: Symbols of clients' vectors that have not been defined yet.
        self.unexplained = {written for written, _ in symbols.clients.values()}
        self._shorts: dict[str, Ratio] = {}
        self._values = {written: name for name, written in symbols.values.items()}
        self._squares: dict[str, _Sum] | None = None
        self._prepare()

    def _prepare(self) -> None:
        known = sorted([*self._letters, *self._vectors, *self._values, *self._shorts], key=len, reverse=True)
        alone = [r"\frac", r"\langle", r"\rangle", r"\sum_{i}", r"\|", "^{2}", "{", "}", "(", ")", "+", "-", ","]
        numbers = [r"\^\{-?\d+\}", r"\(\d+/\d+\)", r"\d+"]
        # K may be a letter too, of which nothing has an index.
        parts = [r"K_\{\d+\}", *map(re.escape, known), *numbers, *map(re.escape, alone)]
        self._token = re.compile(r"\s*(" + "|".join(parts) + r")")

    def define(self, name: str, formula: str) -> Ratio | None:
        """A name for a number, which is given back, or for a vector, and so for its mean and deviation."""
        found = self._read(formula)
        known = self._vectors.get(name, {})
        same = set(known) == set(found) and all((c - known[key]).is_zero for key, c in found.items())
        if same and name in self.unexplained:
            self.unexplained.remove(name)
            return None
        if name in {**self._letters, **self._vectors, **self._values, **self._shorts}:
            raise ValueError(f"{name} has another meaning")
        if set(found) == {""}:
            self._shorts[name] = found[""]
        elif found and set(found) <= self._rows:
            self._vectors[name] = found
            if name.endswith("_{i}"):
                base = name.removesuffix("_{i}")
                self._vectors[f"\\overline{{{base}}}"] = {r: c for r, c in found.items() if not is_deviation(r)}
                self._vectors[f"\\widetilde{{{base}}}_{{i}}"] = {r: c for r, c in found.items() if is_deviation(r)}
        else:
            raise ValueError(f"{name} is neither a number nor a vector")
        self._prepare()
        return self._shorts.get(name)

    def form(self, name: str, formula: str) -> dict[str, Any]:
        """A form's coefficients."""
        found = self._read(formula)
        if any(key in self._rows or key.startswith("K_") for key in found):
            raise ValueError(f"{name} has a vector that is in no product")
        return {"1|1" if key == "" else key: self.written(c) for key, c in found.items()}

    def is_same(self, form: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return True if two forms of an object have the same coefficients."""
        sums: dict[str, Ratio] = {}
        for of, sign in ((form, 1), (other, -1)):
            for name, c in of.items():
                key = "|".join(sorted(name.split("|")))
                sums[key] = sums.get(key, self._one - self._one) + ratio_of(self._ring, c) * sign
        return all(c.is_zero for c in sums.values())

    def total(self, formula: str) -> tuple[dict[int, Ratio], list[tuple[Ratio, dict[str, Any]]]]:
        """Weights of what is known by their places, and of squares, each of one block."""
        self._squares = {}
        try:
            found, squares = self._read(formula), self._squares
        finally:
            self._squares = None
        weights: dict[int, Ratio] = {}
        listed: list[tuple[Ratio, dict[str, Any]]] = []
        for key, c in found.items():
            if key.startswith("K_"):
                weights[int(key[3:-1])] = c
            elif key == "":
                listed.append((-c, {"1": "1"}))
            elif key in squares:
                for deviations in (False, True):
                    part = {r: self.written(x) for r, x in squares[key].items() if is_deviation(r) == deviations}
                    times = self._count() if key.startswith("sum") and not deviations else self._one
                    listed += [(-c * times, part)] if part else []
            else:
                raise ValueError(f"{key} is neither known nor a square")
        return weights, listed

    def _count(self) -> Ratio:
        """The number of clients."""
        if "n" not in self._names:
            raise ValueError("there is no number of clients")
        place = self._names.index("n")
        powers = tuple(int(k == place) for k in range(len(self._names)))
        return Ratio(from_terms(self._ring, {powers: Fraction(1)}), self._ring.constant(1))

    def written(self, c: Ratio) -> Any:
        """A number as an object has it."""
        return written(c, len(self._names))

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
        while self._left and self._left[-1] not in ("+", "-", ")", "}", ",", r"\rangle") and not self._closes():
            found = _times(found, self._factor())
        return found

    def _closes(self) -> bool:
        """Return True if the square being read ends here."""
        return self._left[-1] == r"\|" and len(self._left) > 1 and self._left[-2] == "^{2}"

    def _factor(self) -> _Sum:
        if not self._left:
            raise ValueError("a formula ends too early")
        token = self._left.pop()
        if token == r"\frac":
            above, below = self._braced(), self._braced()
            if set(below) != {""}:
                raise ValueError("a denominator is not a number")
            return _times(above, {"": self._one / below[""]})
        if token == r"\sum_{i}":
            return self._inner(self._left.pop() if self._left else "", summed=True)
        if token in (r"\|", r"\langle"):
            return self._inner(token, summed=False)
        if token.startswith("K_"):
            return {token: self._one}
        if token in self._values:
            return {self._values[token]: self._one}
        if token in self._vectors:
            return dict(self._vectors[token])
        return self._raised(self._number(token))

    def _number(self, token: str) -> _Sum:
        if token == "(":
            found = self._sum()
            self._take(")")
            return found
        if token[0].isdigit() or "/" in token:
            if self._left and self._left[-1][0].isdigit():
                raise ValueError("two numbers with nothing between them look like one")
            return {"": self._one * Fraction(token.strip("()"))}
        if token in self._shorts:
            return {"": self._shorts[token]}
        if token in self._letters:
            place = self._names.index(self._letters[token])
            powers = tuple(int(k == place) for k in range(len(self._names)))
            return {"": Ratio(from_terms(self._ring, {powers: Fraction(1)}), self._ring.constant(1))}
        raise ValueError(f"{token!r} is not understood there")

    def _raised(self, base: _Sum) -> _Sum:
        if not self._left or not (match := re.fullmatch(r"\^\{(-?\d+)\}", self._left[-1])):
            return base
        self._left.pop()
        if set(base) - {""}:
            raise ValueError("only numbers have powers")
        power = int(match[1])
        return {key: c**power if power >= 0 else self._one / c**-power for key, c in base.items()}

    def _braced(self) -> _Sum:
        self._take("{")
        found = self._sum()
        self._take("}")
        return found

    def _inner(self, token: str, summed: bool) -> _Sum:
        """A square or a product of vectors; summed over the clients, one of means is counted for each."""
        a = self._vector() if token in (r"\|", r"\langle") else {}
        if token == r"\|":
            self._take(r"\|")
            self._take("^{2}")
            if self._squares is not None:
                name = f"{'sum' if summed else 'one'} {len(self._squares)}"
                self._squares[name] = a
                return {name: self._one}
            b = a
        elif token == r"\langle":
            self._take(",")
            b = self._vector()
            self._take(r"\rangle")
        else:
            raise ValueError(f"{token!r} is not a product")
        found: _Sum = {}
        for x, c in a.items():
            for y, d in b.items():
                # Deviations from a mean sum to 0.
                if summed and is_deviation(x) != is_deviation(y):
                    continue
                key = "|".join(sorted((x or "1", y or "1")))
                times = self._count() if summed and not is_deviation(x) else self._one
                found[key] = found.get(key, self._one - self._one) + c * d * times
        return found

    def _vector(self) -> _Sum:
        found = {key: c for key, c in self._sum().items() if not c.is_zero}
        if not set(found) - {""} <= self._rows:
            raise ValueError("a product of what are no vectors")
        return found


def written(c: Ratio, count: int) -> Any:
    """A number as an object has it, in so many letters."""
    if c.den == 1 and (c.is_zero or c.num.is_constant()):
        return str(terms(c.num)[0][1] if not c.is_zero else Fraction(0))
    num, den = ([[str(v), list(m[:count])] for m, v in terms(p)] for p in (c.num, c.den))
    return {"num": num, "den": den}


def ratio_of(ring: Any, c: Any) -> Ratio:
    """A number of an object."""
    if isinstance(c, str):
        return Ratio(ring.constant(1), ring.constant(1)) * Fraction(c)
    return Ratio.of(polynomial_of(ring, c["num"]), polynomial_of(ring, c["den"]))


def polynomial_of(ring: Any, listed: Any) -> Any:
    """A polynomial of an object, whose terms may be those of several sums."""
    found: dict[tuple[int, ...], Fraction] = {}
    for c, m in listed:
        # Where there are no letters, the ring has one all the same.
        powers = tuple(m) or (0,)
        found[powers] = found.get(powers, Fraction(0)) + Fraction(c)
    return from_terms(ring, found)


def is_deviation(row: str) -> bool:
    """Return True if a row stands for the clients' deviations from the mean."""
    return row.partition(": ")[0].endswith("deviation")


def _times(a: _Sum, b: _Sum) -> _Sum:
    if set(a) - {""} and set(b) - {""}:
        raise ValueError("a product of two things that are no numbers")
    return {key + other: c * d for key, c in a.items() for other, d in b.items()}
