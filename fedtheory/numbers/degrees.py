"""Degrees of numbers that are not known, as polynomials: what code computes with them shows how it depends on them.

Code that compares such a number, takes its root or divides by it computes no polynomial, and is refused. So is what
joins it with something else than numbers, such as vectors that are known by their inner products alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.polynomials import Unknown
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array


@dataclass(frozen=True, slots=True, eq=False)
class Degree(Unknown):
    """A polynomial of which only a bound of its degree is known; of degree 0 it is a number that is not known."""

    degree: int

    def _with(self, other: object, join: Callable[..., int]) -> object:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, _NUMBERS):
            return self._refuse()
        return Degree(join((self.degree, other.degree if isinstance(other, Degree) else 0)))

    def _larger(self, other: object) -> object:
        return self._with(other, max)

    def _summed(self, other: object) -> object:
        return self._with(other, sum)

    def __truediv__(self, other: object) -> object:
        return self._refuse() if isinstance(other, Degree) and other.degree else self._with(other, sum)

    def __rtruediv__(self, other: object) -> object:
        return self._refuse() if self.degree else self._with(other, sum)

    def __pow__(self, exponent: object) -> object:
        if not isinstance(exponent, int | np.integer) or (exponent < 0 and self.degree):
            return self._refuse()
        return Degree(abs(int(exponent)) * self.degree)

    def __neg__(self) -> Degree:
        return self

    __pos__ = __neg__
    __add__ = __radd__ = __sub__ = __rsub__ = _larger
    __mul__ = __rmul__ = _summed


_NUMBERS = (Degree, Real, Quotient, Interval, np.bool_)


def unknowns(shape: tuple[int, ...], degree: int) -> Array:
    """Return an array of numbers that are not known, each a polynomial of this degree."""
    found: Array = np.empty(shape, dtype=object)
    found[...] = Degree(degree)
    return found


def largest_degree(values: object) -> int:
    """Return the largest degree of the entries of an array, 0 for known numbers."""
    return max((v.degree for v in np.asarray(values, dtype=object).flat if isinstance(v, Degree)), default=0)
