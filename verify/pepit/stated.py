"""The value that a function of a file states beside PEPit's, compared with both ends of the worst case."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from verify.pepit import exactly
from verify.pepit.algebraic import Algebraic
from verify.pepit.certifying import Bounds, Number

# More than the relative error of any float that was computed with care, in ways that are not known.
_FLOAT = Fraction(1, 10**9)


class Stated(NamedTuple):
    """A value that is stated: in words, if it is a bound, None where that is not decided, and why."""

    text: str
    is_bound: bool | None
    outcome: str


def compared(answer: Any, found: Bounds[Number]) -> Stated | None:
    """Return the last number that a function returns beside PEPit's, compared with the worst case; None if there is
    none. What is only near is decided where its errors leave no doubt."""
    last = answer[-1] if isinstance(answer, tuple | list) and len(answer) > 1 else None
    number = exactly.of(last)
    if number is None:
        return None
    is_float = isinstance(last, float) and not isinstance(last, exactly.Exact)
    known: Fraction | Algebraic | None = None if is_float else number.known
    error = max(number.error, abs(number.exact) * _FLOAT if is_float else Fraction(0))
    low, high = (known, known) if known is not None else (number.exact - error, number.exact + error)
    text = str(known) if known is not None else repr(float(number))
    upper = None if found.upper is None else found.upper.bound
    lower = None if found.lower is None or found.rounded else found.lower.bound
    if lower is not None and lower > high:
        return Stated(text, False, "false: an exact point of the model does worse")
    if known is not None and found.exact is not None and known == found.exact:
        return Stated(text, True, "true: it is the worst case")
    if upper is not None and upper <= low:
        return Stated(text, True, f"true: the worst case is {'less' if upper < low else 'not larger'}")
    if found.exact is not None and known is None:
        return Stated(text, None, "not decided: it agrees with the worst case to the digits that it has")
    return Stated(text, None, "not decided: it lies between both ends, or one of them is missing")
