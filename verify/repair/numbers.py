"""Simple numbers: the simplest fraction between two, and numbers with names."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy

#: The largest denominator of a refined number, or numerator below 1.
_LARGEST = 12
#: The ratio below which two numbers are not separated.
_NEAR = 1.03
#: Numbers with names whose small multiples are tried.
_NAMED = (sympy.exp(-1), sympy.E, sympy.sqrt(2), sympy.sqrt(3), sympy.pi)
_MULTIPLES = tuple(sympy.Rational(a, b) for b in range(1, 5) for a in range(1, 9) if sympy.gcd(a, b) == 1)


def between(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr | None:
    """Return the simplest fraction strictly between two positive rationals; None if they are close or if there is no
    simple one. For numbers below 1 the simplicity is that of the inverses.
    """
    if not (a.is_Rational and b.is_Rational and a > 0 and b > 0) or max(a / b, b / a) < _NEAR:
        return None
    below = a <= 1 and b <= 1
    # Exactly: rounding may put an end between the two.
    ends = sorted(Fraction(int(v.q), int(v.p)) if below else Fraction(int(v.p), int(v.q)) for v in (a, b))
    found = _simplest(*ends)
    if found.denominator > _LARGEST:
        return None
    value = sympy.Rational(found.numerator, found.denominator)
    return 1 / value if below else value


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of least denominator strictly between two nonnegative ones."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        # 1/x in (0, high - whole): the least x that fits.
        return whole + Fraction(1, int(1 / (high - whole)) + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def named(a: sympy.Expr, b: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield small multiples of numbers with names between two positive numbers, those nearest to ``a`` first."""
    if not (a.is_positive and b.is_positive):
        return
    low, high = sorted((float(a), float(b)))
    found = [m * n for n in _NAMED for m in _MULTIPLES if low < float(m * n) < high]
    yield from sorted(found, key=lambda v: abs(float(v) - float(a)))
