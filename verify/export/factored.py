"""Polynomials in integers as products of factors whose signs charts show, for Rocq to compute with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any, NamedTuple

import flint

from verify.multipliers.charts import has_no_negative
from verify.multipliers.ratios import coefficients, from_terms, key, polynomials, replaced, terms


class Factored(NamedTuple):
    """A fraction times powers, which may be negative, of factors by their places in a table."""

    constant: Fraction
    powers: Mapping[int, int]

    def __mul__(self, other: Any) -> Factored:
        powers = {j: self.powers.get(j, 0) + other.powers.get(j, 0) for j in {*self.powers, *other.powers}}
        return Factored(self.constant * other.constant, {j: k for j, k in powers.items() if k})

    def inverse(self) -> Factored:
        """One over it."""
        return Factored(1 / self.constant, {j: -k for j, k in self.powers.items()})


#: The empty product.
ONE = Factored(Fraction(1), {})


def multiple(of: Iterable[Factored]) -> Factored:
    """The smallest of which each of these times it is a product of integers and nonnegative powers."""
    of = [x for x in of if x.constant]
    places = {j for x in of for j in x.powers}
    down = reduce(gcd, (x.constant.numerator for x in of), 0)
    up = lcm(*(x.constant.denominator for x in of))
    powers = {j: max(-x.powers.get(j, 0) for x in of) for j in places}
    return Factored(Fraction(up, down or 1), {j: k for j, k in powers.items() if k})


class Quotient(NamedTuple):
    """Polynomials with integers, without common factors; the denominator also as a product."""

    num: Any
    den: Any
    of_den: Factored


class Solve(NamedTuple):
    """A letter that is replaced, by a quotient, as of the constraint at a place, times * (slope * letter + rest)."""

    letter: int
    place: int
    times: Any
    slope: Any
    rest: Any
    num: Any
    den: Any

    def image(self, p: Any) -> Any:
        """A positive multiple of a polynomial, in the slack."""
        return replaced(p, self.letter, self.num, self.den)


class Take(NamedTuple):
    """Nonnegative multiples of what a constraint at a place is times * left, less which a positive multiple is."""

    place: int
    times: Any
    left: Any
    by: Any
    more: Any

    def image(self, p: Any) -> Any:
        """Return a lower bound of a positive multiple of a polynomial."""
        return self.by * p - self.more * self.left


class Chart(NamedTuple):
    """Steps, and the letters and slacks that are never 0 then."""

    steps: tuple[Solve | Take, ...]
    positive: frozenset[int]


class Factor(NamedTuple):
    """A polynomial with integers, whether it is negative (None: no sign is shown) and never 0, and by which chart."""

    of: Any
    negative: bool | None
    strict: bool
    chart: Chart


class Table:
    """The factors that were met in an object, each with the chart that shows its sign."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.ring = polynomials(tuple(data["letters"]))
        self.positive = frozenset(i for i, sign in enumerate(data["letters"].values()) if sign == "> 0")
        self.domain = {name: _whole(self.read(c["is"])) for name, c in data["domain"].items()}
        self.strict = {name: c["sign"] == "> 0" for name, c in data["domain"].items()}
        self.factors: list[Factor] = []
        self._places: dict[str, int] = {}
        charts: dict[str, tuple[list[Any], Any]] = {"[]": ([], 1)}
        certificates = [item.get("by") for p in data["programs"] for item in (*p["known"], *p["squares"])]
        for by in [*certificates, *(item["by"] for item in data["nonzero"])]:
            for factor in by["factors"] if by else []:
                # Multiples are subtracted from the polynomial as given; the factor has no content.
                size = content([self.read(factor["of"])]) if factor["of"] else 1
                charts.setdefault(f"{size}: {factor['chart']}", (factor["chart"], size))
        self._letters = list(data["letters"])
        self._charts = [self._follow(*chart) for chart in charts.values()]
        self._nonzero = [q for item in data["nonzero"] for q in self._listed_factors(item["by"])]

    def read(self, listed: Iterable[Any]) -> Any:
        """A polynomial of an object."""
        found: dict[tuple[int, ...], Fraction] = {}
        for c, m in listed:
            # Where there are no letters, the ring has one all the same.
            powers = tuple(m) or (0,)
            found[powers] = found.get(powers, Fraction(0)) + Fraction(c)
        return from_terms(self.ring, found)

    def quotient(self, c: Any) -> Quotient:
        """A coefficient of an object: a fraction as text, or a quotient of polynomials."""
        if isinstance(c, str):
            x = Fraction(c)
            down = Factored(Fraction(x.denominator), {})
            return Quotient(self.ring.constant(x.numerator), self.ring.constant(x.denominator), down)
        num, den = self.read(c["num"]), self.read(c["den"])
        common = num.gcd(den)
        size = content([num / common, den / common])
        of_den = self._factored(den / common / size, self._nonzero, strict=True)
        if self._is_strict(of_den):
            return Quotient(num / common / size, den / common / size, of_den)
        size = content([num, den])
        return Quotient(num / size, den / size, self._factored(den / size, self._nonzero, strict=True))

    def product(self, c: Any, by: Mapping[str, Any] | None = None) -> Factored:
        """A coefficient of an object as a product; ``by``: the certificate that it is nonnegative."""
        num, _, of_den = self.quotient(c)
        found = self._factored(num, self._listed_factors(by)) * of_den.inverse()
        if self._is_signed(found) or isinstance(c, str):
            return found
        # A sign may be known only of the numerator times the denominator, as the object has them.
        num, den = self.read(c["num"]), self.read(c["den"])
        down = self._factored(den, self._nonzero, strict=True).inverse()
        return self._factored(num * den, self._listed_factors(by)) * down * down

    def _listed_factors(self, by: Mapping[str, Any] | None) -> list[Any]:
        """The polynomials, with integers, of which a certificate makes a product."""
        listed = [self.read(factor["of"]) for factor in by["factors"]] if by else []
        return [p / content([p]) for p in listed if not p.is_constant()]

    def _factored(self, p: Any, listed: list[Any], strict: bool = False) -> Factored:
        """Factor a polynomial into irreducible factors, or else into factors with known signs: itself, or those
        ``listed``.
        """
        if p.is_constant():
            return Factored(Fraction(0) if p == 0 else terms(p)[0][1], {})
        ways = (self._divided(p, parts) for parts in ([], [p / content([p])], listed))
        right = self._is_strict if strict else self._is_signed
        return next(filter(right, ways), None) or self._divided(p, [])

    def _divided(self, p: Any, parts: list[Any]) -> Factored:
        """Divided by some as often as they divide it, and what is left by irreducible factors."""
        powers: Counter[int] = Counter()
        for q in parts:
            whole, rest = divmod(p, q)
            while rest == 0:
                powers[self._place(q)] += 1
                p = whole
                whole, rest = divmod(p, q)
        c, factors = p.factor()
        constant = Fraction(int(c.p), int(c.q))
        for q, power in factors:
            size = content([q])
            constant *= Fraction(int(size.p), int(size.q)) ** int(power)
            powers[self._place(q / size)] += int(power)
        return Factored(constant, dict(powers))

    def expanded(self, x: Factored) -> Any:
        """The polynomial that a product is, without negative powers."""
        p = self.ring.constant(x.constant.numerator)
        for j, k in x.powers.items():
            p = p * self.factors[j].of ** k
        return p

    def is_positive(self, x: Factored) -> bool:
        """Return True if a product is shown to be positive."""
        return x.constant != 0 and self._is_strict(x) and not self._is_negative(x)

    def positive_one(self, x: Factored) -> Factored:
        """The one of a product and its negative that is positive. Raise ``ValueError`` if no sign is shown."""
        if not self._is_strict(x):
            raise ValueError("a denominator may be 0 for some of the letters, which is not written for Rocq")
        return Factored(-x.constant, x.powers) if self._is_negative(x) else x

    def _is_strict(self, x: Factored) -> bool:
        return all(self.factors[j].strict for j in x.powers)

    def _is_signed(self, x: Factored) -> bool:
        return all(k % 2 == 0 or self.factors[j].negative is not None for j, k in x.powers.items())

    def _is_negative(self, x: Factored) -> bool:
        return (x.constant < 0) ^ bool(sum(k for j, k in x.powers.items() if self.factors[j].negative) % 2)

    def _place(self, q: Any) -> int:
        name = key(q)
        if name not in self._places:
            self._places[name] = len(self.factors)
            self.factors.append(self._shown(q))
        return self._places[name]

    def _shown(self, q: Any) -> Factor:
        """A factor with the first chart in which it is never 0, or else is nowhere negative, or nowhere positive."""
        weak = Factor(q, None, False, self._charts[0])
        for chart in self._charts:
            for negative in (False, True):
                image = -q if negative else q
                for step in chart.steps:
                    image = step.image(image)
                if _above_zero(image, chart.positive):
                    return Factor(q, negative, True, chart)
                if has_no_negative(image):
                    weak = Factor(q, negative, False, chart)
                    break
        return weak

    def _follow(self, listed: Iterable[Any], scale: Any) -> Chart:
        """A chart of an object, as the library of Rocq follows it: constraints with integers, solved for letters.

        ``scale``: that of which the object takes multiples off is this times as large.
        """
        places, domain, strict = list(self.domain), dict(self.domain), dict(self.strict)
        positive, steps = self.positive, list[Solve | Take]()
        for letter, name, _, left, *by in listed:
            size = content([self.read(left)])
            whole = self.read(left) / size
            times = domain[name] / whole
            if not isinstance(letter, str):
                up, more = scale * (self.read(by[0]) if by else self.ring.constant(1)), self.read(letter) * size
                common = content([up, more])
                steps.append(Take(places.index(name), times, whole, up / common, more / common))
                scale = common
                continue
            i = self._letters.index(letter)
            parts = coefficients(whole, i)
            slope, rest = parts[1], parts.get(0, self.ring.constant(0))
            after = positive | {i} if strict[name] else positive - {i}
            if _above_zero(slope, positive):
                num, den = slope * self.ring.gen(i) - rest, slope
                del domain[name]
            else:
                num, den = rest, -slope * (1 + self.ring.gen(i))
                domain[name], strict[name] = rest, True
            positive = after
            steps.append(Solve(i, places.index(name), times, slope, rest, num, den))
            domain = {name: replaced(q, i, num, den) for name, q in domain.items()}
        return Chart(tuple(steps), positive)


def content(of: list[Any]) -> Any:
    """The positive number by which polynomials are to be divided to have integers without a common factor."""
    listed = [c for p in of for _, c in terms(p)]
    return flint.fmpq(gcd(*(c.numerator for c in listed)), 1) / lcm(*(c.denominator for c in listed))


def _whole(p: Any) -> Any:
    return p / content([p])


def _above_zero(p: Any, positive: frozenset[int]) -> bool:
    """Return True if no coefficient is negative, and some term has only letters that are never 0."""
    return has_no_negative(p) and any(all(i in positive for i, k in enumerate(m) if k) for m in p.monoms())
