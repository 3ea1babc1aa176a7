"""Posynomials, sums of positive coefficients times rational powers of positive letters, and their quotients.

A monomial is the sorted pairs of a letter, by its number, and its exponent; a posynomial has the coefficient of each of
its monomials. All are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from typing import NamedTuple

import sympy

Monomial = tuple[tuple[int, Fraction], ...]
Posynomial = Mapping[Monomial, Fraction]

UNIT: Monomial = ()
ONE: Posynomial = {UNIT: Fraction(1)}
#: Bits to which a root is enclosed, and the largest denominator of an exponent that is raised to as it is.
_BITS, _DENOMINATOR = 24, 1000


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    powers = dict(a)
    for letter, power in b:
        powers[letter] = powers.get(letter, Fraction(0)) + power
    return tuple(sorted((letter, power) for letter, power in powers.items() if power))


def raised(a: Monomial, exponent: Fraction) -> Monomial:
    """A power of a monomial."""
    return tuple((letter, power * exponent) for letter, power in a) if exponent else UNIT


def difference(a: Posynomial, b: Posynomial) -> tuple[Posynomial, Posynomial]:
    """The posynomials p and m with a - b = p - m that have no monomial in common."""
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) - c
    plus = {monomial: c for monomial, c in total.items() if c > 0}
    return plus, {monomial: -c for monomial, c in total.items() if c < 0}


def product(a: Posynomial, b: Posynomial) -> Posynomial:
    """The product of two posynomials."""
    total: dict[Monomial, Fraction] = {}
    for x, c in a.items():
        for y, k in b.items():
            monomial = times(x, y)
            total[monomial] = total.get(monomial, Fraction(0)) + c * k
    return total


class PosynomialRatio(NamedTuple):
    """A quotient of posynomials; 0 where the one on top has no terms."""

    top: Posynomial
    bottom: Posynomial = ONE

    @property
    def is_zero(self) -> bool:
        """True if it is 0."""
        return not self.top

    def __add__(self, other: object) -> PosynomialRatio:
        assert isinstance(other, PosynomialRatio)
        if self.bottom == other.bottom:
            return _made(_sum(self.top, other.top), self.bottom)
        return _made(
            _sum(product(self.top, other.bottom), product(other.top, self.bottom)), product(self.bottom, other.bottom)
        )

    def __mul__(self, other: object) -> PosynomialRatio:
        assert isinstance(other, PosynomialRatio)
        # Terms that cancel at sight need not be expanded.
        if self.top == other.bottom:
            return _made(other.top, self.bottom)
        if self.bottom == other.top:
            return _made(self.top, other.bottom)
        return _made(product(self.top, other.top), product(self.bottom, other.bottom))

    def inverse(self) -> PosynomialRatio:
        """Its reciprocal, of what is not 0."""
        return PosynomialRatio(self.bottom, self.top)

    def power(self, exponent: int) -> PosynomialRatio:
        """A positive whole power."""
        return reduce(PosynomialRatio.__mul__, [self] * exponent)


def _sum(a: Posynomial, b: Posynomial) -> Posynomial:
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + c
    return total


def _made(top: Posynomial, bottom: Posynomial) -> PosynomialRatio:
    if top == bottom:
        return PosynomialRatio(ONE)
    if len(bottom) == 1:
        ((monomial, c),) = bottom.items()
        return PosynomialRatio({times(m, raised(monomial, Fraction(-1))): k / c for m, k in top.items()})
    return PosynomialRatio(top, bottom)


def constant(value: Fraction) -> PosynomialRatio:
    """A nonnegative number."""
    return PosynomialRatio({UNIT: value}) if value else PosynomialRatio({})


def letter(number: int) -> PosynomialRatio:
    """A letter."""
    return PosynomialRatio({((number, Fraction(1)),): Fraction(1)})


def enclosed(base: Fraction, exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals between which a power of a positive rational lies; equal to it where it is rational."""
    p, q = exponent.numerator, exponent.denominator
    value = base**p
    roots = [sympy.integer_nthroot(part, q) for part in (value.numerator, value.denominator)]
    if all(exact for _, exact in roots):
        found = Fraction(int(roots[0][0]), int(roots[1][0]))
        return found, found
    # So many bits that small roots are enclosed as narrowly as large ones, relative to them.
    bits = _BITS + max(0, value.denominator.bit_length() - value.numerator.bit_length()) // q
    whole = int(sympy.integer_nthroot(floor(value * 2 ** (bits * q)), q)[0])
    return Fraction(whole, 2**bits), Fraction(whole + 1, 2**bits)


def at_most_power(base: Fraction, exponent: Fraction) -> Fraction:
    """A rational that is at least a nonnegative power of a positive rational, and near it."""
    return enclosed(base, raised_to(base, exponent))[1]


def raised_to(base: Fraction, exponent: Fraction) -> Fraction:
    """Return a nonnegative exponent of small denominator whose power is at least as large, and nearly equal."""
    if exponent.denominator <= _DENOMINATOR:
        return exponent
    scaled = exponent * _DENOMINATOR
    return Fraction(ceil(scaled) if base >= 1 else floor(scaled), _DENOMINATOR)
