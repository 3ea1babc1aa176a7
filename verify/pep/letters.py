"""Numbers that may be added, multiplied and divided, and never looked at: what code makes of them is a formula.

A proof that speaks of all values of a letter holds of code only where the code does the same whatever the value is. A
:class:`Letter` has a value, so that what is computed can be compared, but refuses every operation of which the result
is no rational function of it: comparisons, truth, rounding, conversions. A :class:`Size` is an integer that may count,
index and take part in arithmetic, and refuses the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np

from fedtheory.numbers.quotients import Quotient
from verify.base.faults import is_ours


class Looked(ValueError):
    """Code that looks at a value of which it should know nothing."""


def _refuses(what: str, name: str) -> Callable[..., Any]:
    def refuse(self: Any, *arguments: Any) -> Any:
        if _checks(sys._getframe(1), isinstance(self, Size)):
            return getattr(self.value, name)(*map(stripped, arguments))
        raise Looked(f"{what} the value of {self.name}")

    return refuse


def _checks(frame: FrameType, size: bool) -> bool:
    """Whether a value is looked at by code that checks its input: of sizes numpy's, or this package's as it stands;
    of letters that of distributions, which ask whether weights are positive."""
    module = str(frame.f_globals.get("__name__", ""))
    if not size:
        return module == "fedtheory.randomness" and is_ours(frame)
    return module.split(".")[0] in ("numpy", "fractions") or is_ours(frame)


_LOOKS = {
    "compares": "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__",
    "branches on": "__bool__",
    "rounds": "__round__ __floor__ __ceil__ __trunc__ __mod__ __rmod__ __floordiv__ __rfloordiv__ __divmod__ "
    "__rdivmod__",
    "converts": "__float__ __complex__",
    "takes the sign of": "__abs__",
    "writes out": "__str__ __repr__ __format__",
    "takes the bits of": "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rlshift__ __rshift__ "
    "__rrshift__ __invert__",
}


class _Unseen:
    """What letters and sizes refuse, and the sums and products that both allow."""

    __slots__ = ()

    def _with(self, other: Any, make: Callable[[Any, Any], Any]) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__


for _what, _names in _LOOKS.items():
    for _name in _names.split():
        setattr(_Unseen, _name, _refuses(_what, _name))


def _value(other: Any) -> Any:
    """The number behind an operand of arithmetic; None where it is no number."""
    if isinstance(other, _WATCHED):
        return other.value
    if isinstance(other, np.integer | np.bool_):
        return int(other)
    return other if isinstance(other, int | Fraction) else None


class Letter(_Unseen):
    """A fraction of which code may only make rational functions; ``name``: what it is the value of."""

    __slots__ = ("name", "value")
    #: It stays what it is among fractions: see :func:`fedtheory.numbers.rational.exact`.
    exact = True

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name

    def _with(self, other: Any, make: Callable[[Any, Any], Any]) -> Any:
        value = _value(other)
        if isinstance(other, float):
            raise Looked(f"makes a float of the value of {self.name}")
        return NotImplemented if value is None else Letter(make(Quotient(self.value), value), self.name)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    def __pow__(self, power: Any) -> Any:
        if not isinstance(power, int | np.integer) or isinstance(power, Size):
            raise Looked(f"takes a power that is no fixed integer of the value of {self.name}")
        return Letter(Fraction(self.value) ** int(power), self.name)

    def __neg__(self) -> Letter:
        return Letter(-self.value, self.name)

    def __pos__(self) -> Letter:
        return self

    def sqrt(self) -> Letter:
        """As numpy's ``sqrt`` and :func:`fedtheory.numbers.rational.square_root` ask it: a rational root."""
        from fedtheory.numbers.rational import square_root

        root = square_root(self.value)
        if not isinstance(root, Fraction):
            raise Looked(f"takes an irrational root of the value of {self.name}")
        return Letter(root, self.name)


class Size(_Unseen, int):
    """An integer that may count and index, and be added and multiplied."""

    name: str

    def __new__(cls, value: int, name: str) -> Size:
        """The integer ``value`` with the ``name`` by which it is told."""
        found = int.__new__(cls, value)
        found.name = name
        return found

    @property
    def value(self) -> int:
        """The integer itself."""
        return int.__index__(self)

    def _made(self, value: Any) -> Any:
        if value is NotImplemented:
            return value
        return Size(value, self.name) if isinstance(value, int) else Letter(value, self.name)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: Fraction(a) / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: Fraction(b) / a)

    def __pow__(self, power: Any, modulus: Any = None) -> Any:
        if isinstance(power, Size) or not isinstance(power, int) or power < 0:
            raise Looked(f"takes a power that is no fixed integer of the value of {self.name}")
        return Size(self.value**power, self.name)

    def __rpow__(self, base: Any, modulus: Any = None) -> Any:
        raise Looked(f"takes a power with the value of {self.name}")

    def __neg__(self) -> Any:
        return Size(-self.value, self.name)

    def _with(self, other: Any, make: Callable[[Any, Any], Any]) -> Any:
        value = _value(other)
        # Arrays, vectors and forms take an integer as it is.
        return NotImplemented if value is None else self._made(make(self.value, value))

    def __index__(self) -> int:
        return int.__index__(self)


#: What code may only compute with.
_WATCHED = (Letter, Size)


def stripped(value: Any) -> Any:
    """The number behind a letter or a size; anything else as it is."""
    return value.value if isinstance(value, _WATCHED) else value
