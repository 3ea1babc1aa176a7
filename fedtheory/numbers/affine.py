"""Affine functions of indeterminates, as numbers that refuse every other operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from fedtheory.numbers.rational import Array


@dataclass(frozen=True, eq=False)
class Affine:
    """of[0] + sum_k of[k] t_k: ``of (indeterminates + 1,)``, an array of fractions.

    ``TypeError`` for a product of two, a quotient by one, a comparison, and all else that is not affine.
    """

    of: Array

    def __add__(self, other: Any) -> Affine:
        if isinstance(other, Affine):
            return Affine(self.of + other.of)
        moved = self.of.copy()
        moved[0] = moved[0] + other
        return Affine(moved)

    def __mul__(self, other: Any) -> Affine:
        if isinstance(other, Affine):
            raise TypeError("two entries of it are multiplied")
        return Affine(self.of * other)

    def __truediv__(self, other: Any) -> Affine:
        if isinstance(other, Affine):
            raise TypeError("it divides by an entry of it")
        return Affine(self.of / other)

    def __neg__(self) -> Affine:
        return Affine(-self.of)

    def __sub__(self, other: Any) -> Affine:
        return self + -other

    def __rsub__(self, other: Any) -> Affine:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def _refuse(self, *others: Any) -> NoReturn:
        raise TypeError("entries of it are compared, or taken to a power")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = __pow__ = _refuse
