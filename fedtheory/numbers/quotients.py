"""Fractions whose ``+ - * /`` cost a third of what those of the standard library do.

An audit makes many operations with small fractions, and in them the standard library (Python 3.11) finds out, mostly,
what it was given. A :class:`Quotient` is a :class:`fractions.Fraction`, so it serves wherever one is expected, and an
operation of the two gives a Quotient; the algorithms are those of the standard library (Knuth, The Art of Computer
Programming, vol. 2, 4.5.1), and what is neither a fraction, an ``int`` nor a float is left to it. With a float it makes
an :class:`~fedtheory.numbers.intervals.Interval`: nobody knows which fraction that float was.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isfinite
from typing import Any

from fedtheory.numbers.intervals import FLOAT, Interval, Undecided, is_short

_new = object.__new__


def _of(numerator: int, denominator: int) -> Quotient:
    """The fraction of two coprime integers, the second of them positive."""
    made = _new(Quotient)
    made._numerator = numerator
    made._denominator = denominator
    return made


def _require_distinguishable(a: Quotient, b: object) -> None:
    """Raise ``Undecided`` if a float is so near a fraction that it may stand for it, and is not a short binary number.

    A bound such as 1e-12 is meant as it is.
    """
    if isinstance(b, float) and isfinite(b) and not is_short(b):
        read = Fraction(b)
        if abs(a - read) <= FLOAT * abs(read):
            raise Undecided(f"{a} is too near to the float {b} to be distinguished")


class Quotient(Fraction):
    """A fraction, of anything that :class:`fractions.Fraction` takes; raises what that does.

    The operations are written out in each method, since one more call would cost a third of what they save.
    """

    __slots__ = ()
    # Where the base class keeps its value.
    _numerator: int
    _denominator: int

    def __new__(cls, numerator: Any = 0, denominator: Any = None) -> Quotient:
        """The fraction; ``TypeError``, ``ValueError`` or ``ZeroDivisionError`` where there is none."""
        if denominator is None and type(numerator) is Quotient:
            return numerator
        if denominator is not None or not isinstance(numerator, Fraction):
            numerator = Fraction(numerator, denominator)
        # A fraction of numpy's integers has parts that overflow.
        return _of(int(numerator._numerator), int(numerator._denominator))

    def __repr__(self) -> str:
        return f"Fraction({self._numerator}, {self._denominator})"

    def __add__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            n, m = a._numerator, b._numerator
            # Most numbers that meet in vectors and matrices are 0.
            if not m:
                return a
            if not n and kind is Quotient:
                return b
            d, e = a._denominator, b._denominator
            made = _new(Quotient)
            g = 1 if d == 1 or e == 1 else gcd(d, e)
            if g == 1:
                made._numerator = n * e + d * m
                made._denominator = d * e
                return made
            rest = d // g
            n = n * (e // g) + m * rest
            g = gcd(n, g)
            made._numerator = n // g
            made._denominator = rest * (e // g)
            return made
        if kind is int:
            return _of(a._numerator + b * a._denominator, a._denominator) if b else a
        return Interval.of(a) + b if isinstance(b, float) else Fraction.__add__(a, b)

    def __sub__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            m = b._numerator
            if not m:
                return a
            n, d, e = a._numerator, a._denominator, b._denominator
            made = _new(Quotient)
            g = 1 if d == 1 or e == 1 else gcd(d, e)
            if g == 1:
                made._numerator = n * e - d * m
                made._denominator = d * e
                return made
            rest = d // g
            n = n * (e // g) - m * rest
            g = gcd(n, g)
            made._numerator = n // g
            made._denominator = rest * (e // g)
            return made
        if kind is int:
            return _of(a._numerator - b * a._denominator, a._denominator) if b else a
        return Interval.of(a) - b if isinstance(b, float) else Fraction.__sub__(a, b)

    def __mul__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            n, m, e = a._numerator, b._numerator, b._denominator
        elif kind is int:
            n, m, e = a._numerator, b, 1
        else:
            return Interval.of(a) * b if isinstance(b, float) else Fraction.__mul__(a, b)
        if not n or not m:
            return _ZERO
        d = a._denominator
        if e != 1:
            g = gcd(n, e)
            if g > 1:
                n //= g
                e //= g
        if d != 1:
            g = gcd(m, d)
            if g > 1:
                m //= g
                d //= g
        made = _new(Quotient)
        made._numerator = n * m
        made._denominator = d * e
        return made

    def __truediv__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            m, e = b._numerator, b._denominator
        elif kind is int:
            m, e = b, 1
        else:
            return Interval.of(a) / b if isinstance(b, float) else Fraction.__truediv__(a, b)
        if m == 0:
            return Fraction.__truediv__(a, b)  # which raises
        if not a._numerator:
            return a
        return a * (_of(e, m) if m > 0 else _of(-e, -m))

    def __radd__(a, b: Any) -> Any:
        if isinstance(b, float):
            return b + Interval.of(a)
        return a + b if type(b) is int or type(b) is Fraction else Fraction.__radd__(a, b)

    def __rsub__(a, b: Any) -> Any:
        if isinstance(b, float):
            return b - Interval.of(a)
        return -a + b if type(b) is int or type(b) is Fraction else Fraction.__rsub__(a, b)

    def __rmul__(a, b: Any) -> Any:
        if isinstance(b, float):
            return b * Interval.of(a)
        return a * b if type(b) is int or type(b) is Fraction else Fraction.__rmul__(a, b)

    def __rtruediv__(a, b: Any) -> Any:
        if isinstance(b, float):
            return b / Interval.of(a)
        return Quotient(b) / a if type(b) is int or type(b) is Fraction else Fraction.__rtruediv__(a, b)

    def __pow__(a, b: Any) -> Any:
        if type(b) is int and b >= 0:
            return _of(a._numerator**b, a._denominator**b)
        if isinstance(b, float):
            return Interval.of(a) ** b
        if isinstance(b, Fraction) and b.denominator != 1:
            return a.sqrt() ** b.numerator if b.denominator == 2 else Interval.of(a) ** b
        found = Fraction.__pow__(a, b)
        return Quotient(found) if isinstance(found, Fraction) else found

    def sqrt(a) -> Any:
        """The square root, as ``numpy.sqrt`` asks for it: a fraction, or the interval in which it lies.

        ``Undefined`` for a negative number.
        """
        root = Interval.of(a).sqrt()
        return Quotient(root.low) if root.low == root.high else root

    def exp(a) -> Any:
        """The exponential, as ``numpy.exp`` asks for it."""
        return Interval.of(a).exp() if a else Quotient(1)

    def log(a) -> Any:
        """The natural logarithm, as ``numpy.log`` asks for it; ``Undefined`` of a number that is not positive."""
        return Interval.of(a).log() if a != 1 else Quotient(0)

    def sin(a) -> Any:
        """The sine, as ``numpy.sin`` asks for it."""
        return Interval.of(a).sin() if a else a

    def cos(a) -> Any:
        """The cosine, as ``numpy.cos`` asks for it."""
        return Interval.of(a).cos() if a else Quotient(1)

    def __neg__(a) -> Quotient:
        return _of(-a._numerator, a._denominator)

    def __pos__(a) -> Quotient:
        return a

    def __abs__(a) -> Quotient:
        return _of(abs(a._numerator), a._denominator)

    def __eq__(a, b: object) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            return a._numerator == b._numerator and a._denominator == b._denominator  # type: ignore[attr-defined]
        if kind is int:
            return a._numerator == b and a._denominator == 1
        _require_distinguishable(a, b)
        return Fraction.__eq__(a, b)

    __hash__ = Fraction.__hash__

    def __lt__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            return a._numerator * b._denominator < b._numerator * a._denominator
        if kind is int:
            return a._numerator < b * a._denominator
        _require_distinguishable(a, b)
        return Fraction.__lt__(a, b)

    def __le__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            return a._numerator * b._denominator <= b._numerator * a._denominator
        if kind is int:
            return a._numerator <= b * a._denominator
        _require_distinguishable(a, b)
        return Fraction.__le__(a, b)

    def __gt__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            return a._numerator * b._denominator > b._numerator * a._denominator
        if kind is int:
            return a._numerator > b * a._denominator
        _require_distinguishable(a, b)
        return Fraction.__gt__(a, b)

    def __ge__(a, b: Any) -> Any:
        kind = type(b)
        if kind is Quotient or kind is Fraction:
            return a._numerator * b._denominator >= b._numerator * a._denominator
        if kind is int:
            return a._numerator >= b * a._denominator
        _require_distinguishable(a, b)
        return Fraction.__ge__(a, b)

    def __float__(a) -> float:
        return a._numerator / a._denominator


_ZERO = _of(0, 1)
