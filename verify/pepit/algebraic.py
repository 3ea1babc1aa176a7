"""Real numbers with square roots, exactly: elements of towers of quadratic fields over the rational numbers.

A field is given by its roots, each the positive square root of an element before it that has none there. Then an
element is zero only if all its coordinates are, its sign follows from those of its parts, and nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
from flint.utils.flint_exceptions import DomainError

from verify.exact.elimination import ExactNumber

#: Coordinates in the products of roots: 1, r1, r2, r1 r2, r3, ...
Coordinates = tuple[flint.fmpq, ...]
#: Primes up to which square factors are taken out of roots.
_DIVISORS = 1000
#: The largest degree of a field.
DEGREE = 8


class TooLarge(ValueError):
    """The field would have more than :data:`DEGREE` dimensions."""


@dataclass(frozen=True)
class Field:
    """The rational numbers with square roots: root k is that of ``squares[k]``, of 2 ** k coordinates."""

    squares: tuple[Coordinates, ...] = ()

    @property
    def degree(self) -> int:
        """The number of coordinates."""
        return 1 << len(self.squares)

    def product(self, a: Coordinates, b: Coordinates) -> Coordinates:
        """The product of two elements of the field or of one below it."""
        if len(a) == 1:
            return (a[0] * b[0],)
        half = len(a) // 2
        a0, a1, b0, b1 = a[:half], a[half:], b[:half], b[half:]
        if not any(b1):
            return self.product(a0, b0) + self.product(a1, b0)
        if not any(a1):
            return self.product(a0, b0) + self.product(a0, b1)
        squared = self.product(self.product(a1, b1), self._square(half))
        return _sum(self.product(a0, b0), squared) + _sum(self.product(a0, b1), self.product(a1, b0))

    def _square(self, half: int) -> Coordinates:
        return self.squares[half.bit_length() - 1]

    def norm(self, a: Coordinates) -> Coordinates:
        """The element times its conjugate, in the field below."""
        half = len(a) // 2
        a0, a1 = a[:half], a[half:]
        return _difference(self.product(a0, a0), self.product(self.product(a1, a1), self._square(half)))

    def inverse(self, a: Coordinates) -> Coordinates:
        """``ZeroDivisionError`` for zero."""
        if len(a) == 1:
            return (1 / a[0],)
        below = self.inverse(self.norm(a))
        half = len(a) // 2
        return self.product(a[:half], below) + self.product(tuple(-c for c in a[half:]), below)

    def sign(self, a: Coordinates) -> int:
        """-1, 0 or 1."""
        if len(a) == 1:
            return (a[0] > 0) - (a[0] < 0)
        half = len(a) // 2
        first, second = self.sign(a[:half]), self.sign(a[half:])
        if first == second or not second:
            return first
        return first * self.sign(self.norm(a)) if first else second

    def root(self, a: Coordinates) -> Coordinates | None:
        """A square root in the field, of either sign; None if there is none."""
        if len(a) == 1:
            above, below = int(a[0].p), int(a[0].q)
            if above < 0 or math.isqrt(above) ** 2 != above or math.isqrt(below) ** 2 != below:
                return None
            return (flint.fmpq(math.isqrt(above), math.isqrt(below)),)
        half = len(a) // 2
        a0, a1 = a[:half], a[half:]
        zero = (flint.fmpq(0),) * half
        if not any(a1):
            found = self.root(a0)
            if found is not None:
                return found + zero
            found = self.root(self.product(a0, self.inverse(self._square(half))))
            return None if found is None else zero + found
        # (p + q r)^2 = p^2 + q^2 r^2 + 2 p q r has the norm (p^2 - q^2 r^2)^2.
        of_norm = self.root(self.norm(a))
        if of_norm is None:
            return None
        for one in (_sum(a0, of_norm), _difference(a0, of_norm)):
            p = self.root(tuple(c / 2 for c in one))
            if p is not None and any(p):
                return p + self.product(tuple(c / 2 for c in a1), self.inverse(p))
        return None

    @lru_cache(maxsize=64)  # noqa: B019 - fields are few, and are compared by what they are
    def fixed(self, bits: int) -> tuple[int, ...]:
        """The products of roots, times 2 ** bits, in integers, to the last few digits."""
        basis = [1 << bits]
        for square in self.squares:
            value = sum((int(c.p) * v) // int(c.q) for c, v in zip(square, basis, strict=True))
            root = math.isqrt(max(value, 0) << bits)
            basis += [v * root >> bits for v in basis]
        return tuple(basis)

    @lru_cache(maxsize=64)  # noqa: B019
    def modulo(self, prime: int) -> tuple[int, ...] | None:
        """The products of roots modulo a prime; None if a root is none there."""
        basis = [1]
        for square in self.squares:
            value = sum(_residue(c, prime) * v for c, v in zip(square, basis, strict=True)) % prime
            try:
                root = int(flint.nmod(value, prime).sqrt())
            except DomainError:
                return None
            basis += [v * root % prime for v in basis]
        return tuple(basis)

    @lru_cache(maxsize=64)  # noqa: B019
    def prime(self, below: int) -> int:
        """The largest odd prime up to ``below`` modulo which every root is one."""
        candidate = below | 1
        while not (flint.fmpz(candidate).is_prime() and self.modulo(candidate) is not None):
            candidate -= 2
        return candidate

    def element(self, coordinates: Sequence[Any]) -> Algebraic:
        """The element of the first coordinates; others are zero."""
        given = tuple(rational(c) for c in coordinates)
        return Algebraic(self, given + (flint.fmpq(0),) * (self.degree - len(given)))

    def with_root(self, of: Algebraic) -> tuple[Field, Algebraic]:
        """A field that has the positive square root of an element, which is not negative, and that root.

        :class:`TooLarge` beyond the largest degree.
        """
        assert of.field == self
        found = self.root(of.coordinates)
        if found is not None:
            root = Algebraic(self, found)
            return self, -root if root < 0 else root
        if 2 * self.degree > DEGREE:
            raise TooLarge(f"more than {DEGREE} dimensions")
        factor, rest = _without_squares(of.coordinates)
        larger = Field((*self.squares, rest))
        return larger, larger.element([*(0,) * self.degree, factor])

    def image(self, of: Algebraic) -> tuple[Field, Algebraic]:
        """An element of another field in this one, with as many roots as it needs."""
        if of.field == self:
            return self, of
        if of.field.squares == self.squares[: len(of.field.squares)]:
            return self, self.element(of.coordinates)
        into, basis = self, [self.element([1])]
        for square in of.field.squares:
            value = sum((c * b for c, b in zip(square, basis, strict=True)), into.element([0]))
            larger, root = into.with_root(value)
            basis = [larger.element(b.coordinates) for b in basis]
            basis, into = basis + [b * root for b in basis], larger
        return into, sum((c * b for c, b in zip(of.coordinates, basis, strict=True)), into.element([0]))


def _sum(a: Coordinates, b: Coordinates) -> Coordinates:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _difference(a: Coordinates, b: Coordinates) -> Coordinates:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _residue(value: flint.fmpq, prime: int) -> int:
    return int(value.p) * pow(int(value.q), -1, prime) % prime


def _without_squares(of: Coordinates) -> tuple[flint.fmpq, Coordinates]:
    """A rational factor, and a number without small square factors in its place, with factor^2 * rest = number."""
    below = math.lcm(*(int(c.q) for c in of))
    whole = [int(c * below * below) for c in of]
    common, factor = math.gcd(*whole), 1
    for p in range(2, _DIVISORS):
        while common % (p * p) == 0:
            common, factor = common // (p * p), factor * p
    whole_root = math.isqrt(common)
    if whole_root**2 == common:
        factor *= whole_root
    return flint.fmpq(factor, below), tuple(flint.fmpq(c // factor**2) for c in whole)


def rational(value: Any) -> flint.fmpq:
    """Flint's rational number of an integer or a fraction."""
    return value if isinstance(value, flint.fmpq) else flint.fmpq(value.numerator, value.denominator)


class Algebraic(ExactNumber):
    """A number of a field; those of fields of which one begins with the other are computed with."""

    __slots__ = ("coordinates", "field")

    def __init__(self, field: Field, coordinates: Coordinates) -> None:
        self.field, self.coordinates = field, coordinates

    def simplified(self) -> Algebraic | flint.fmpq:
        """The rational number, if it is one."""
        return self if any(self.coordinates[1:]) else self.coordinates[0]

    def sqrt(self) -> Algebraic:
        """The positive square root; ``ValueError`` of a negative number, :class:`TooLarge` of one too far up."""
        if self < 0:
            raise ValueError("the number is negative")
        return self.field.with_root(self)[1]

    def fixed(self, bits: int) -> int:
        """The number times 2 ** bits, to the last few digits."""
        more = bits + 64
        basis = self.field.fixed(more)
        return sum(int(c.p) * v // int(c.q) for c, v in zip(self.coordinates, basis, strict=True)) >> 64

    def between(self, bits: int) -> tuple[Fraction, Fraction]:
        """Fractions of the denominator 2 ** bits, a unit or two apart, between which the number lies."""
        low = high = self.fixed(bits)
        step = 1
        while self < Fraction(low, 1 << bits):
            low, step = low - step, 2 * step
        while self > Fraction(high, 1 << bits):
            high, step = high + step, 2 * step
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def residue(self, prime: int) -> int:
        """The number modulo a prime that the field has."""
        basis = self.field.modulo(prime)
        assert basis is not None
        return sum(_residue(c, prime) * v for c, v in zip(self.coordinates, basis, strict=True)) % prime

    def _with(self, other: Any) -> tuple[Field, Coordinates, Coordinates] | None:
        if isinstance(other, Algebraic):
            if other.field is self.field:
                return self.field, self.coordinates, other.coordinates
            field, image = self.field.image(other)
            return field, field.element(self.coordinates).coordinates, image.coordinates
        if isinstance(other, int | Fraction | flint.fmpq | flint.fmpz):
            value = flint.fmpq(other) if isinstance(other, flint.fmpz) else rational(other)
            return self.field, self.coordinates, self.field.element([value]).coordinates
        return None

    def __add__(self, other: Any) -> Any:
        both = self._with(other)
        return NotImplemented if both is None else Algebraic(both[0], _sum(both[1], both[2]))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        both = self._with(other)
        return NotImplemented if both is None else Algebraic(both[0], _difference(both[1], both[2]))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        both = self._with(other)
        return NotImplemented if both is None else Algebraic(both[0], both[0].product(both[1], both[2]))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        both = self._with(other)
        if both is None:
            return NotImplemented
        field, one, two = both
        return Algebraic(field, field.product(one, field.inverse(two)))

    def __rtruediv__(self, other: Any) -> Any:
        return Algebraic(self.field, self.field.inverse(self.coordinates)) * other

    def __pow__(self, exponent: int) -> Algebraic:
        if exponent < 0:
            return 1 / self**-exponent
        found = self.field.element([1])
        for digit in f"{exponent:b}":
            found = found * found * self if digit == "1" else found * found
        return found

    def __neg__(self) -> Algebraic:
        return Algebraic(self.field, tuple(-c for c in self.coordinates))

    def __abs__(self) -> Algebraic:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return any(self.coordinates)

    def _compared(self, other: Any) -> int | None:
        both = self._with(other)
        return None if both is None else both[0].sign(_difference(both[1], both[2]))

    def __eq__(self, other: object) -> bool:
        sign = self._compared(other)
        return sign == 0

    def __lt__(self, other: Any) -> Any:
        sign = self._compared(other)
        return NotImplemented if sign is None else sign < 0

    def __le__(self, other: Any) -> Any:
        sign = self._compared(other)
        return NotImplemented if sign is None else sign <= 0

    def __gt__(self, other: Any) -> Any:
        sign = self._compared(other)
        return NotImplemented if sign is None else sign > 0

    def __ge__(self, other: Any) -> Any:
        sign = self._compared(other)
        return NotImplemented if sign is None else sign >= 0

    def __hash__(self) -> int:
        # Equal numbers of different fields have the same digits.
        return hash(float(self))

    def __float__(self) -> float:
        bits = 256
        return float(Fraction(self.fixed(bits), 1 << bits))

    def __reduce__(self) -> tuple[Any, ...]:
        squares = [[(int(c.p), int(c.q)) for c in square] for square in self.field.squares]
        return _restored, (squares, [(int(c.p), int(c.q)) for c in self.coordinates])

    def __str__(self) -> str:
        return _text(self.field, self.coordinates)

    def __repr__(self) -> str:
        return f"Algebraic({self})"


def _restored(squares: Sequence[Sequence[tuple[int, int]]], coordinates: Sequence[tuple[int, int]]) -> Algebraic:
    field = Field(tuple(tuple(flint.fmpq(*c) for c in square) for square in squares))
    return Algebraic(field, tuple(flint.fmpq(*c) for c in coordinates))


def _text(field: Field, coordinates: Coordinates) -> str:
    """As Python writes it, over one denominator."""
    below = math.lcm(*(int(c.q) for c in coordinates))
    terms = []
    for k, c in enumerate(coordinates):
        if c:
            roots = [_text(field, field.squares[r]) for r in range(k.bit_length()) if k >> r & 1]
            whole = int(c * below)
            factors = [f"sqrt({of})" for of in roots]
            if abs(whole) != 1 or not factors:
                factors = [str(abs(whole)), *factors]
            terms.append(("-" if whole < 0 else "+", "*".join(factors)))
    if not terms:
        return "0"
    text = ("-" if terms[0][0] == "-" else "") + terms[0][1] + "".join(f" {sign} {of}" for sign, of in terms[1:])
    if below == 1:
        return text
    return f"({text})/{below}" if len(terms) > 1 else f"{text}/{below}"


class AlgebraicMatrix:
    """A matrix of elements of a field and of rational numbers, as flint's matrices are used."""

    def __init__(self, field: Field, rows: int, columns: int, entries: Sequence[Any]) -> None:
        self.field, self.rows, self.columns = field, rows, columns
        zero = field.element([0])
        self.entries = [(zero + e).coordinates for e in entries]

    def __getitem__(self, place: tuple[int, int]) -> Any:
        found = Algebraic(self.field, self.entries[place[0] * self.columns + place[1]])
        return found.simplified()

    def solve(self, right: AlgebraicMatrix) -> AlgebraicMatrix:
        """The solution of one linear system; ``ZeroDivisionError`` if the matrix is singular.

        Each coordinate of an unknown is one of a system in rational numbers.
        """
        d, n = self.field.degree, self.rows
        units = [self.field.element([0] * k + [1]).coordinates for k in range(d)]
        table = flint.fmpq_mat(n * d, n * d)
        for r in range(n):
            for c in range(n):
                entry = self.entries[r * n + c]
                if any(entry):
                    for k, unit in enumerate(units):
                        for i, v in enumerate(self.field.product(entry, unit)):
                            if v:
                                table[r * d + i, c * d + k] = v
        given = flint.fmpq_mat(n * d, 1, [v for entry in right.entries for v in entry])
        solved = table.solve(given)
        found = [Algebraic(self.field, tuple(solved[c * d + k, 0] for k in range(d))) for c in range(n)]
        return AlgebraicMatrix(self.field, n, 1, found)
