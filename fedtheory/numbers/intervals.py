"""Real numbers that are no fractions: each is known to lie between two rationals.

Roots and exponentials are enclosed as narrowly as :func:`precision` says, so that every decision about them is
decided beyond doubt, or not at all. A float that meets fractions is one of these numbers too. What its author means by
it is not known: it was rounded when it was computed, perhaps often, and what is left where floats cancel may have been
multiplied by any number since. So nothing bounds it, and no comparison that depends on it is decided; the number, with
all that is computed from it, remembers where that was, and a guess: what the float says.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import mpmath
import numpy as np
from mpmath.ctx_iv import MPIntervalContext

#: How near a fraction may be to a float, relative to it, without being distinguished; and how far a number that was
#: computed in floats step by step may be from what it stands for, relative to itself or to 1.
FLOAT = Fraction(1, 10**9)
#: The denominator of a short binary number, at most.
_SHORT = 2**20
#: Beyond whatever a float may stand for.
_ENDLESS = Fraction(10) ** 8000
#: The largest distance of a float that code writes or is given from its number, relative to it or to 1.
_ENTERED = Fraction(1, 10**12)
#: The largest relative error of one operation of floats: several times their rounding.
_STEP = Fraction(1, 2**50)
#: The largest relative error of a number of mpmath, which is computed with fifty digits.
REAL = Fraction(1, 10**25)
#: Digits to which numbers are enclosed, and more of them, where these leave it open which number is the larger.
DIGITS, MORE = 50, (100, 200, 400)

#: The largest exponent of an exponential, and what those of less than its negative are at most.
_LARGEST, _TINY = 20_000, Fraction(1, 10**8000)

#: The interval arithmetic of mpmath. To make another one sets attributes of its class.
_CONTEXT = MPIntervalContext()
_rounds: ContextVar[bool] = ContextVar("rounds", default=False)
_digits: ContextVar[int] = ContextVar("digits", default=DIGITS)
#: Packages whose code only passes numbers on.
_PASSING = frozenset({"fedtheory", "numpy", "fractions", "functools", "sympy"})


class Undefined(ValueError):
    """An expression that has no real value at the numbers given."""


def as_fraction(value: mpmath.mpf) -> Fraction:
    """The rational that a finite number of mpmath is."""
    return Fraction(*map(int, mpmath.libmp.to_rational(value._mpf_)))


class Undecided(ArithmeticError):
    """The order of two numbers is not known: both lie in intervals that overlap."""


@contextmanager
def precision(digits: int) -> Iterator[None]:
    """Numbers that are computed inside are enclosed to so many digits."""
    token = _digits.set(digits)
    try:
        yield
    finally:
        _digits.reset(token)


@contextmanager
def rounding() -> Iterator[None]:
    """Inside, intervals enclose what floats may make of the same operations: each is widened by their rounding."""
    token = _rounds.set(True)
    try:
        yield
    finally:
        _rounds.reset(token)


def is_rounding() -> bool:
    """Return True if this is within :func:`rounding`."""
    return _rounds.get()


def rounded(value: object) -> Any:
    """A number that code writes or is given, or an array of some; within :func:`rounding` as an interval about it."""
    if not _rounds.get():
        return value
    if isinstance(value, np.ndarray):
        found = np.empty(value.shape, dtype=object)
        found.flat[:] = [rounded(entry) for entry in value.flat]
        return found
    kept = isinstance(value, Interval) and value.where
    return Interval.about(value, _ENTERED) if isinstance(value, Fraction | Interval) and not kept else value


def current() -> int:
    """The digits to which numbers are enclosed."""
    return _digits.get()


def is_short(value: float) -> bool:
    """Return True if a finite float is a short binary number, such as 0.5, and so hardly the result of rounding."""
    return value.as_integer_ratio()[1] <= _SHORT


class Interval:
    """A number between two rationals ``low`` and ``high``.

    ``where``: the place in code where a float took part, "" if none did; ``guess``: what floats say the number is,
    where nothing bounds it, else None. Comparisons raise :class:`Undecided` where the intervals overlap.
    """

    __slots__ = ("guess", "high", "low", "where")

    def __init__(self, low: Any, high: Any, where: str = "", guess: Fraction | None = None) -> None:
        if guess is None:
            self.low = _rounded(low if type(low) is Fraction else Fraction(low), False)
            self.high = _rounded(high if type(high) is Fraction else Fraction(high), True)
        else:
            # Numbers of this length are not computed with.
            self.low, self.high = -_ENDLESS, _ENDLESS
        self.where = where
        self.guess = guess

    @staticmethod
    def about(value: object, off: Fraction = FLOAT) -> Interval:
        """An interval about a number that floats would have: within ``off`` of itself, or of 1."""
        known = Interval.of(Fraction(value) if isinstance(value, float) else value)
        room = max(abs(known.low), abs(known.high), Fraction(1)) * off
        return Interval(known.low - room, known.high + room, known.where)

    @staticmethod
    def of(value: Any) -> Any:
        """The interval of a number; a float that is not finite stays as it is. Raise ``TypeError`` for anything
        else.
        """
        if isinstance(value, Interval):
            return value
        if isinstance(value, float):
            if not math.isfinite(value):
                return value
            return Interval(-_ENDLESS, _ENDLESS, _place(), Fraction(value))
        if isinstance(value, mpmath.mpf):
            if not mpmath.isfinite(value):
                return float(value)
            middle = as_fraction(value)
            return Interval(middle - abs(middle) * REAL, middle + abs(middle) * REAL)
        if hasattr(value, "dtype") and not getattr(value, "shape", ()):
            return Interval.of(value.item())
        if isinstance(value, int | Fraction):
            return Interval(value, value)
        raise TypeError(f"a number was expected, got an object of type {type(value).__name__}")

    @property
    def middle(self) -> Fraction:
        """The rational in the middle, or the guess."""
        return (self.low + self.high) / 2 if self.guess is None else self.guess

    def __repr__(self) -> str:
        if self.guess is not None:
            return f"Interval(about {float(self.guess)!r}, of {self.where})"
        return f"Interval({float(self.low)!r}, {float(self.high)!r})"

    def __float__(self) -> float:
        return float(self.middle)

    def __add__(self, other: object) -> Any:
        return _with(self, other, lambda a, b: (a.low + b.low, a.high + b.high))

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return _with(self, other, lambda a, b: (a.low - b.high, a.high - b.low))

    def __rsub__(self, other: object) -> Any:
        return _with(self, other, lambda a, b: (b.low - a.high, b.high - a.low))

    def __mul__(self, other: object) -> Any:
        return _with(self, other, _products)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return _with(self, other, lambda a, b: _products(a, _inverse(b)))

    def __rtruediv__(self, other: object) -> Any:
        return _with(self, other, lambda a, b: _products(b, _inverse(a)))

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.where, None if self.guess is None else -self.guess)

    def __pos__(self) -> Interval:
        return self

    def __abs__(self) -> Interval:
        if self.low >= 0:
            return self
        if self.guess is not None:
            return self._guessed(abs)
        return -self if self.high <= 0 else Interval(0, max(-self.low, self.high), self.where)

    def __pow__(self, power: object) -> Any:
        if isinstance(power, Interval) and power.low == power.high:
            power = power.low
        if isinstance(power, float) and power == int(power):
            power = Fraction(power)
        if isinstance(power, int | Fraction) and power == int(power):
            whole = int(power)
            if whole < 0:
                return 1 / self**-whole
            if self.guess is not None:
                return self._guessed(lambda value: value**whole)
            base = abs(self) if whole % 2 == 0 else self
            return _stepped(Interval(_power(base.low, whole, False), _power(base.high, whole, True), self.where))
        if power == Fraction(1, 2):
            return self.sqrt()
        if self.low == 0 and isinstance(power, int | Fraction) and power > 0:
            # Nothing has a root, and no logarithm.
            end = self.high and (Interval(self.high, self.high, self.where) ** power).high
            return Interval(0, end, self.where)
        return (self.log() * power).exp()

    def __rpow__(self, base: object) -> Any:
        return Interval.of(base) ** self

    def sqrt(self) -> Interval:
        """The square root; ``Undefined`` of a negative number, ``Undecided`` where the number may be negative."""
        if self.guess is not None:
            return self._guessed(lambda value: math.sqrt(max(value, 0.0)))
        if self.high < 0:
            raise Undefined(f"the square root of {float(self):g} is not real")
        if self.low < 0 and self.where:
            # A number rounded to slightly below zero.
            return Interval(0, _root(self.high, True), self.where)
        if self.low < 0:
            raise Undecided("the square root of what may be negative")
        return _stepped(Interval(_root(self.low, False), _root(self.high, True), self.where))

    def exp(self) -> Interval:
        """The exponential. Raise ``Undecided`` if it is too large to be written out."""
        if self.guess is not None:
            return self._guessed(math.exp)
        if self.high > _LARGEST:
            raise Undecided("an exponential that is too large")
        if self.low < -_LARGEST:
            return Interval(
                0, Interval(self.high, self.high).exp().high if self.high > -_LARGEST else _TINY, self.where
            )
        return self._increasing(mpmath.exp)

    def log(self) -> Interval:
        """The natural logarithm; ``Undefined`` of a number that is not positive, ``Undecided`` where it may not be."""
        if self.guess is not None:
            return self._guessed(math.log)
        if self.high <= 0:
            raise Undefined(f"the logarithm of {float(self):g} is not real")
        if self.low <= 0:
            raise Undecided("the logarithm of what may not be positive")
        return self._increasing(mpmath.log)

    def sin(self) -> Interval:
        """The sine."""
        return self._enclosed("sin")

    def cos(self) -> Interval:
        """The cosine."""
        return self._enclosed("cos")

    def _enclosed(self, name: str) -> Interval:
        """A function of the interval arithmetic of mpmath."""
        if self.guess is not None:
            return self._guessed(getattr(math, name))
        return _stepped(_of_mpmath(lambda context: getattr(context, name)(_to_mpmath(context, self)), self.where))

    def _guessed(self, function: Callable[[float], float]) -> Interval:
        """A function of a number that nothing bounds, and about which nothing else is known. Raise ``Undecided`` if
        the guess has no value."""
        try:
            return Interval(-_ENDLESS, _ENDLESS, self.where, Fraction(function(float(self.guess or 0))))
        except (ValueError, ArithmeticError) as error:
            raise Undecided("a function of a number that nothing bounds") from error

    def __floor__(self) -> int:
        if math.floor(self.low) != math.floor(self.high):
            raise Undecided("rounding what lies on both sides of an integer")
        return math.floor(self.low)

    def __ceil__(self) -> int:
        return -math.floor(-self)

    def __floordiv__(self, other: object) -> int:
        return math.floor(self / other)

    def __rfloordiv__(self, other: object) -> int:
        return math.floor(other / self)

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __rmod__(self, other: object) -> Any:
        return other - self * (other // self)

    def _increasing(self, function: Any) -> Interval:
        with mpmath.workdps(current() + 10):
            low, high = (function(mpmath.mpf(v.numerator) / v.denominator) for v in (self.low, self.high))
            ends = [as_fraction(v) for v in (low, high)]
        room = Fraction(1, 10 ** current()) * max(map(abs, ends))
        return _stepped(Interval(ends[0] - room, ends[1] + room, self.where))

    def __lt__(self, other: object) -> bool:
        return _compared(self, other, lambda gap: gap.high < 0, lambda gap: gap.low >= 0)

    def __le__(self, other: object) -> bool:
        return _compared(self, other, lambda gap: gap.high <= 0, lambda gap: gap.low > 0)

    def __gt__(self, other: object) -> bool:
        return _compared(self, other, lambda gap: gap.low > 0, lambda gap: gap.high <= 0)

    def __ge__(self, other: object) -> bool:
        return _compared(self, other, lambda gap: gap.low >= 0, lambda gap: gap.high < 0)

    def __eq__(self, other: object) -> bool:
        try:
            gap = self - _bound(other)
        except TypeError:
            return NotImplemented
        return _compared(gap, 0, lambda gap: gap.low == gap.high == 0, lambda gap: gap.low > 0 or gap.high < 0)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash((self.low, self.high))


def largest(values: list[Any]) -> Any:
    """The maximum of numbers, some of which may be intervals."""
    if not any(isinstance(v, Interval) for v in values):
        return max(values)
    found = [Interval.of(v) for v in values]
    where = next((v.where for v in found if v.where), "")
    guess = max(v.middle for v in found) if any(v.guess is not None for v in found) else None
    return Interval(max(v.low for v in found), max(v.high for v in found), where, guess)


def least(values: list[Any]) -> Any:
    """The minimum of numbers, some of which may be intervals."""
    return -largest([-v for v in values]) if any(isinstance(v, Interval) for v in values) else min(values)


def _with(one: Interval, other: object, ends: Any) -> Any:
    try:
        second = Interval.of(other)
    except TypeError:
        return NotImplemented
    if isinstance(second, float):
        # Not finite: so is what is computed of it.
        return second * 0
    where = one.where or second.where
    if one.guess is None and second.guess is None:
        low, high = ends(one, second)
        return _stepped(Interval(low, high, where))
    if ends is _products and any(v.low == v.high == 0 for v in (one, second)):
        return Interval(0, 0, where)
    try:
        guess = ends(Interval(one.middle, one.middle), Interval(second.middle, second.middle))[0]
    except ZeroDivisionError as error:
        raise Undecided("division by what may be zero") from error
    return Interval(-_ENDLESS, _ENDLESS, where, _rounded(guess, True))


def _stepped(found: Interval) -> Interval:
    """The result of one operation; within :func:`rounding` as floats may have it."""
    if not _rounds.get() or found.guess is not None:
        return found
    room = max(abs(found.low), abs(found.high)) * _STEP
    return Interval(found.low - room, found.high + room, found.where)


def _of_mpmath(compute: Callable[[Any], Any], where: str = "") -> Interval:
    """Return the result of a computation in mpmath's interval arithmetic, with the current digits."""
    _CONTEXT.dps = current() + 10
    found = compute(_CONTEXT)
    low, high = (Fraction(*map(int, mpmath.libmp.to_rational(end))) for end in found._mpi_)
    return Interval(low, high, where)


def _to_mpmath(context: Any, value: Interval) -> Any:
    low, high = (context.mpf(end.numerator) / end.denominator for end in (value.low, value.high))
    return context.mpf([low.a, high.b])


def pi() -> Interval:
    """The number pi."""
    return _stepped(_of_mpmath(lambda context: +context.pi))


def _bound(value: object) -> Any:
    """Return the bound with which code compares a number; a finite float stands for the number that it approximates,
    and a bound such as 1e-12 for itself.
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    read = Fraction(value)
    room = 0 if is_short(value) else abs(read) * FLOAT
    return Interval(read - room, read + room)


def _compared(one: object, other: Any, surely: Any, surely_not: Any) -> bool:
    gap = one - _bound(other)
    if gap is NotImplemented or not isinstance(gap, Interval):
        raise Undecided(f"{one!r} is not compared with {other!r}")
    if surely(gap):
        return True
    if surely_not(gap):
        return False
    raise Undecided("two numbers are too near to each other to be distinguished")


def _products(a: Any, b: Any) -> tuple[Fraction, Fraction]:
    low, high = (b.low, b.high) if isinstance(b, Interval) else b
    if a.low.numerator >= 0:
        # The sign of most numbers is known.
        if low.numerator >= 0:
            return a.low * low, a.high * high
        if high.numerator <= 0:
            return a.high * low, a.low * high
    found = (a.low * low, a.low * high, a.high * low, a.high * high)
    return min(found), max(found)


def _inverse(b: Interval) -> tuple[Fraction, Fraction]:
    if b.low == b.high == 0:
        raise ZeroDivisionError("division by zero")
    if b.low <= 0 <= b.high:
        raise Undecided("division by what may be zero")
    return 1 / b.high, 1 / b.low


def _bits() -> int:
    return 16 + 10 * current() // 3


def _rounded(value: Fraction, up: bool) -> Fraction:
    """A rational next to it that is no longer than is needed, above or below."""
    above, below, bits = value.numerator.bit_length(), value.denominator.bit_length(), _bits()
    if max(above, below) <= 2 * bits:
        return value
    size = above - below - bits
    unit = Fraction(2) ** size
    scaled = value / unit
    return (math.ceil(scaled) if up else math.floor(scaled)) * unit


def _power(base: Fraction, whole: int, up: bool) -> Fraction:
    """A rational next to a power, above or below; the power itself where that is short."""
    if base < 0:
        sign = -1 if whole % 2 else 1
        return sign * _power(-base, whole, up == (sign > 0))
    found = Fraction(1)
    while whole:
        if whole % 2:
            found = _rounded(found * base, up)
        base, whole = _rounded(base * base, up), whole // 2
    return found


def _root(value: Fraction, up: bool) -> Fraction:
    """A rational next to a square root, above or below; the root itself where that is rational."""
    whole = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if whole * whole == value:
        return whole
    shift = max(0, 2 * _bits() - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    below = math.isqrt((value.numerator << shift) // value.denominator)
    return Fraction(below + up, 1 << (shift // 2))


def _place() -> str:
    """The function, file and line in which the user's code is running; of this package, in words."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        root = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if root == "verify":
            break
        if root and root not in _PASSING:
            code = frame.f_code
            return f"{code.co_name} ({Path(code.co_filename).name}, line {frame.f_lineno})"
        frame = frame.f_back
    return "the numbers that its code gives"
