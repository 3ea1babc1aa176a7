"""Certificates of the signs of numbers that are read, from those of an object for the same factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from verify.export.latex_reading import FormulaReader, polynomial_of
from verify.multipliers.ratios import Ratio, key, polynomials, terms


class Certificates:
    """The sign certificates of an object's factors: the sign of each, and the chart that shows it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._count = len(data["letters"])
        self._ring = polynomials(tuple(data["letters"]))
        self._shown: dict[str, tuple[int, Any]] = {}
        self._factors: dict[str, Any] = {}
        self._strict: dict[str, tuple[int, Any]] = {}
        items = [item for p in data["programs"] for item in (*p["known"], *p["squares"])]
        for by in (item["by"] for item in data["nonzero"]):
            self._take(by, self._strict)
        self._shown.update(self._strict)
        for by in (item["by"] for item in items if "by" in item):
            self._take(by, self._shown)

    def _take(self, by: Mapping[str, Any], into: dict[str, tuple[int, Any]]) -> None:
        for factor in by["factors"]:
            of = self.polynomial(factor["of"])
            self._factors[key(of)] = of
            # An even power needs no sign, unless it is not to be 0, and has none.
            if factor["power"] % 2 or into is self._strict:
                into.setdefault(key(of), (factor["sign"], factor["chart"]))

    def polynomial(self, listed: Any) -> Any:
        """A polynomial of the object."""
        return polynomial_of(self._ring, listed)

    def sides(self) -> Iterator[tuple[Any, int]]:
        """Factors, each with 1 where it is nonnegative, -1 where minus it is."""
        for name, of in self._factors.items():
            yield of, self._shown[name][0] if name in self._shown else 1

    def weight(self, c: Ratio, reader: FormulaReader) -> dict[str, Any]:
        """A weight as an object has it; without a certificate where none is known."""
        by = self._by(c.num * c.den, self._shown)
        return {"weight": reader.written(c), **({"by": by} if by is not None else {})}

    def shows(self, c: Ratio) -> bool:
        """Return True if a certificate of a weight is known."""
        return self._by(c.num * c.den, self._shown) is not None

    def divides(self, c: Ratio) -> bool:
        """Return True if a certificate is known that the denominator of a number is never 0."""
        return c.den == 1 or self._by(c.den, self._strict) is not None

    def _by(self, p: Any, known: Mapping[str, tuple[int, Any]]) -> dict[str, Any] | None:
        if p == 0:
            return {"constant": "0", "factors": []}
        constant, factors = p.factor()
        size, listed = Fraction(int(constant.p), int(constant.q)), []
        for factor, power in factors:
            found = next(((s, known[key(factor * s)]) for s in (1, -1) if key(factor * s) in known), None)
            needed = int(power) % 2 or known is self._strict
            if found is None and needed and any(c < 0 for _, c in terms(factor)):
                return None
            side, (sign, chart) = found or (1, (1, []))
            if side < 0 and int(power) % 2:
                size = -size
            listed.append({"of": self._listed(factor * side), "power": int(power), "sign": sign, "chart": chart})
        return {"constant": str(size), "factors": listed}

    def _listed(self, p: Any) -> list[Any]:
        return [[str(c), list(m[: self._count])] for m, c in terms(p)]

    def complete(self, data: dict[str, Any]) -> None:
        """Denominators of which the object does not say yet that they are never 0."""
        known = {key(self.polynomial(item["of"])) for item in data["nonzero"]}
        for program in data["programs"]:
            numbers = [*program["target"].values(), *(i["weight"] for i in (*program["known"], *program["squares"]))]
            numbers += [c for item in program["known"] for c in item["form"].values()]
            numbers += [c for item in program["squares"] for c in item["vector"].values()]
            for c in numbers:
                den = self.polynomial(c["den"]) if isinstance(c, dict) else None
                if den is None or den == 1 or key(den) in known:
                    continue
                if (by := self._by(den, self._strict)) is not None:
                    known.add(key(den))
                    data["nonzero"].append({"of": self._listed(den), "by": by})
