"""The order of two numbers, decided beyond doubt or left open; and the arithmetic that decided it, in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import mpmath
import numpy as np

from fedtheory.numbers.intervals import DIGITS, MORE, Interval, Undecided, precision

_Found = TypeVar("_Found")


def finite(value: Any) -> bool:
    """Return True if a side, or an entry of one, is neither infinite nor NaN."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int | np.integer | Fraction | Interval) or bool(mpmath.isfinite(value))


def violated(left: Any, right: Any, relation: str) -> bool:
    """Return True if the numbers provably contradict the relation.

    Fractions are compared exactly, all other numbers by the intervals that contain them. A float may have any error, so
    it contradicts nothing.
    """
    if not (finite(left) and finite(right)):
        return True
    if relation != "<" and isinstance(left, float) and isinstance(right, float) and left == right:
        # As the intervals would say, of the zeros by the hundred thousand that are compared with zeros.
        return False
    low, high = _gap(left, right)
    if relation == "==":
        return low > 0 or high < 0
    return low >= 0 if relation == "<" else low > 0


def is_open(left: Any, right: Any, relation: str) -> bool:
    """Return True if the intervals do not decide whether the numbers contradict the relation, but
    narrower ones might.
    """
    if not (_refinable(left) or _refinable(right)) or not (finite(left) and finite(right)):
        return False
    low, high = _gap(left, right)
    if relation == "==":
        return low <= 0 <= high
    return low < 0 <= high if relation == "<" else low <= 0 < high


def may_agree(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Return True unless two assignments of values surely differ: numbers that intervals cannot tell apart may be
    equal.
    """
    return one.keys() == other.keys() and not any(_differ(value, other[key]) for key, value in one.items())


def _differ(one: Any, other: Any) -> bool:
    try:
        return one is not other and bool(one != other)
    except Undecided:
        return False


def certainly(compute: Callable[[], _Found], doubtful: Callable[[_Found], bool]) -> _Found:
    """Return the result computed with the fewest digits that leave no doubt, or with the largest number of digits
    allowed.
    """
    for digits in (DIGITS, *MORE):
        with precision(digits):
            try:
                found = compute()
                if not doubtful(found) or digits == MORE[-1]:
                    return found
            except Undecided:
                if digits == MORE[-1]:
                    raise
    raise AssertionError("unreachable")


def arithmetic(*sides: Any) -> str:
    """The arithmetic in which numbers were found, in words that follow "confirmed"."""
    of_floats = [v.where for v in sides if isinstance(v, Interval) and v.where]
    if of_floats:
        return f"beyond rounding, and not in fractions: {floats_in(of_floats[0])}"
    if any(isinstance(v, float) for v in sides):
        return "beyond rounding, and not in fractions: a side is a float"
    if any(isinstance(v, mpmath.mpf) for v in sides):
        return f"with {DIGITS} digits, of which half are relied on"
    intervals = [v for v in sides if isinstance(v, Interval)]
    if not intervals:
        return "in fractions"
    return f"by intervals, the sides enclosed to {min(map(_digits, intervals))} digits"


def certain(*sides: Any) -> bool:
    """Return True if all numbers are fractions, or intervals that involve no float."""
    return all(isinstance(v, int | Fraction) or (isinstance(v, Interval) and not v.where) for v in sides)


def floats_in(where: str) -> str:
    """Return the remark that code computes with floats of unknown error."""
    return f"floats take part in {where}, and nothing says how far they are off"


def plain(value: Any) -> Any:
    """An integer as a fraction, all else as it is."""
    return Fraction(int(value)) if isinstance(value, int | np.integer) else value


def _gap(left: Any, right: Any) -> tuple[Fraction, Fraction]:
    """Between which two rationals left - right lies."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        gap = left - right
        return gap, gap
    found: Interval = Interval.of(left) - Interval.of(right)
    return found.low, found.high


def _refinable(value: Any) -> bool:
    return isinstance(value, Interval) and not value.where and value.low != value.high


def _digits(value: Interval) -> int:
    size, width = max(abs(value.low), abs(value.high)), value.high - value.low
    if not width or not size:
        return MORE[-1]
    return max(0, (size.numerator * width.denominator // (size.denominator * width.numerator)).bit_length() * 3 // 10)
