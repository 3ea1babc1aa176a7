"""Quotients of polynomials in letters, with rational coefficients."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import sympy

_FACTOR = re.compile(r" \[([^\]]+)\](?:\^([0-9]+))?")
_TERM = re.compile(r"(-?[0-9]+(?:/[1-9][0-9]*)?)(?: \[[^\]]+\](?:\^[0-9]+)?)*")


def polynomials(names: Sequence[str]) -> Any:
    """The ring of polynomials in these letters."""
    return flint.fmpq_mpoly_ctx.get(tuple(names) or ("none",), "lex")


def terms(p: Any) -> list[tuple[tuple[int, ...], Fraction]]:
    """Exponents and coefficients of a polynomial."""
    return [(tuple(map(int, m)), Fraction(int(c.p), int(c.q))) for m, c in p.to_dict().items()]


def from_terms(ring: Any, of: Mapping[tuple[int, ...], Fraction]) -> Any:
    """The polynomial with these coefficients."""
    return ring.from_dict({m: flint.fmpq(c.numerator, c.denominator) for m, c in of.items() if c})


def key(p: Any) -> str:
    """A text that another polynomial of the ring has only if it is the same."""
    return str(p)


def degree(p: Any, i: int) -> int:
    """The degree in a letter; of zero it is 0."""
    # A polynomial is not listed term by term here: signs are asked for of thousands, of thousands of terms.
    return max(int(p.degrees()[i]), 0)


def coefficients(p: Any, i: int) -> dict[int, Any]:
    """The coefficients of the powers of a letter."""
    found: dict[int, Any] = {}
    letter = p.context().gen(i)
    for power in range(degree(p, i) + 1):
        rest = p.subs({i: 0})
        if rest != 0:
            found[power] = rest
        p = (p - rest) / letter
    return found


def replaced(p: Any, i: int, numerator: Any, denominator: Any) -> Any:
    """``denominator ** degree`` times the polynomial with ``numerator / denominator`` for a letter."""
    parts = coefficients(p, i)
    top = max(parts, default=0)
    if top == 0:
        return p
    ups, downs = [p.context().constant(1)], [p.context().constant(1)]
    for _ in range(top):
        ups.append(ups[-1] * numerator)
        downs.append(downs[-1] * denominator)
    total = p.context().constant(0)
    for power, c in parts.items():
        total += c * ups[power] * downs[top - power]
    return total


@dataclass(frozen=True, eq=False)
class Ratio:
    """A quotient of polynomials without common factors, the first coefficient of whose denominator is 1."""

    num: Any
    den: Any

    @classmethod
    def of(cls, num: Any, den: Any) -> Ratio:
        """The quotient in lowest terms. ``ZeroDivisionError`` where the denominator is zero."""
        if den == 0:
            raise ZeroDivisionError("a quotient by zero")
        if num == 0:
            return cls(num, den.context().constant(1))
        common = num.gcd(den)
        if common != 1:
            num, den = num / common, den / common
        first = den.leading_coefficient()
        return cls(num, den) if first == 1 else cls(num / first, den / first)

    def _other(self, other: Any) -> Ratio | None:
        if isinstance(other, Ratio):
            return other
        if isinstance(other, int | Fraction):
            ring = self.num.context()
            return Ratio(ring.constant(flint.fmpq(other.numerator, other.denominator)), ring.constant(1))
        return None

    def __add__(self, other: Any) -> Any:
        b = self._other(other)
        if b is None:
            return NotImplemented
        if self.den == b.den:
            return Ratio.of(self.num + b.num, self.den)
        return Ratio.of(self.num * b.den + b.num * self.den, self.den * b.den)

    def __mul__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else Ratio.of(self.num * b.num, self.den * b.den)

    def __truediv__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else Ratio.of(self.num * b.den, self.den * b.num)

    def __rtruediv__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else b / self

    def __sub__(self, other: Any) -> Any:
        b = self._other(other)
        return NotImplemented if b is None else self + -b

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Ratio:
        return Ratio(-self.num, self.den)

    def __pow__(self, exponent: int) -> Ratio:
        if exponent < 0:
            return Ratio.of(self.den ** (-exponent), self.num ** (-exponent))
        return Ratio(self.num**exponent, self.den**exponent)

    __radd__, __rmul__ = __add__, __mul__

    @property
    def is_zero(self) -> bool:
        """True if the quotient is zero for all letters."""
        return bool(self.num == 0)

    @property
    def key(self) -> str:
        """A text that another quotient has only if it is the same."""
        return f"({key(self.num)})/({key(self.den)})"

    @property
    def length(self) -> int:
        """The number of terms."""
        return len(self.num) + len(self.den)

    def __repr__(self) -> str:
        return self.key if self.den != 1 else key(self.num)

    def letters(self) -> set[int]:
        """The places of the letters that it depends on."""
        return {i for p in (self.num, self.den) for i, power in enumerate(p.degrees()) if power > 0}


def in_letters(ratio: Ratio, names: Mapping[int, sympy.Expr]) -> sympy.Expr:
    """A quotient in letters of sympy, by their places."""

    def polynomial(p: Any) -> sympy.Expr:
        return sympy.Add(
            *(
                sympy.Rational(c.numerator, c.denominator) * sympy.Mul(*(names[i] ** e for i, e in enumerate(m) if e))
                for m, c in terms(p)
            )
        )

    return polynomial(ratio.num) / polynomial(ratio.den)


def substituted(ratio: Ratio, known: Mapping[int, Ratio]) -> Ratio:
    """Return the quotient with some of its letters substituted."""
    return _evaluated(ratio.num, known) / _evaluated(ratio.den, known)


def _evaluated(p: Any, known: Mapping[int, Ratio]) -> Ratio:
    ring = p.context()
    num, den = p, ring.constant(1)
    for i, value in known.items():
        others = [j for j in known if j != i]
        if any(j in value.letters() for j in (i, *others)):
            raise ValueError("letters are written in terms of letters that are themselves rewritten")
        top = degree(num, i)
        num, den = replaced(num, i, value.num, value.den), den * value.den**top
    return Ratio.of(num, den)


# In files: sums of terms, each "coefficient exponents"


def text(ratio: Ratio, names: Sequence[str]) -> str:
    """A quotient as text, read again by :func:`parsed`."""
    return f"{_text(ratio.num, names)} / {_text(ratio.den, names)}" if ratio.den != 1 else _text(ratio.num, names)


def _text(p: Any, names: Sequence[str]) -> str:
    parts = []
    for m, c in terms(p):
        powers = [f"[{name}]^{k}" if k > 1 else f"[{name}]" for name, k in zip(names, m, strict=True) if k]
        parts.append(" ".join([str(c), *powers]))
    return " + ".join(parts) or "0"


def parsed(written: str, names: Sequence[str]) -> Ratio:
    """The quotient that was written by :func:`text`. ``ValueError`` for anything else."""
    num, _, den = written.partition(" / ")
    ring = polynomials(names)
    return Ratio.of(_polynomial(num, names, ring), _polynomial(den or "1", names, ring))


def _polynomial(written: str, names: Sequence[str], ring: Any) -> Any:
    places = {name: i for i, name in enumerate(names)}
    found: dict[tuple[int, ...], Fraction] = {}
    for part in written.split(" + "):
        whole = _TERM.fullmatch(part)
        factors = _FACTOR.findall(part)
        if whole is None or not all(name in places for name, _ in factors):
            raise ValueError(f"{part[:40]!r} is not a term in the letters of the claim")
        exponents = [0] * max(1, len(names))
        for name, power in factors:
            exponents[places[name]] += int(power or 1)
        monomial = tuple(exponents)
        found[monomial] = found.get(monomial, Fraction(0)) + Fraction(whole[1])
    return from_terms(ring, found)
