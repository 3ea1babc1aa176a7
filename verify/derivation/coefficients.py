"""Coefficients of inequalities as they stand, in letters: a sign is told where it is the same for all that are allowed.

The rules of :mod:`verify.derivation.rules` ask coefficients for their signs and whether they are equal, and nothing
else. Asked of numbers, that is seen; asked of what depends on letters, it has to follow from what is assumed of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from verify.exact import reals


@dataclass(frozen=True)
class Coefficient:
    """A rational function of letters, cancelled, about which only what follows from the ``assumed`` relations is told.

    Comparisons raise ``ValueError`` where what is asked holds for some of the letters that are allowed, and not for
    others, or where nothing is known of it.
    """

    value: sympy.Expr
    assumed: tuple[sympy.Basic, ...]

    @classmethod
    def of(cls, value: sympy.Expr, assumed: tuple[sympy.Basic, ...]) -> Coefficient:
        """An expression in letters; ``ValueError`` where it is no rational function of them."""
        if not value.is_rational_function():
            raise ValueError(f"the coefficient {value} is no rational function of letters")
        return cls(sympy.cancel(sympy.together(value)), assumed)

    def is_zero(self) -> bool:
        """Whether it is 0 for all letters; ``ValueError`` unless it is so for all or for none of them."""
        if self.value == 0:
            return True
        if any(_implied(sign(self.value, 0, evaluate=False), self.assumed) for sign in (sympy.Gt, sympy.Lt)):
            return False
        raise ValueError(f"it is not known of all letters whether {self.value} is 0")

    def _with(self, value: sympy.Expr) -> Coefficient:
        return Coefficient.of(value, self.assumed)

    def __add__(self, other: Any) -> Coefficient:
        return self._with(self.value + _expression(other))

    def __sub__(self, other: Any) -> Coefficient:
        return self._with(self.value - _expression(other))

    def __rsub__(self, other: Any) -> Coefficient:
        return self._with(_expression(other) - self.value)

    def __mul__(self, other: Any) -> Coefficient:
        return self._with(self.value * _expression(other))

    def __truediv__(self, other: Any) -> Coefficient:
        return self._with(self.value / _expression(other))

    def __rtruediv__(self, other: Any) -> Coefficient:
        return self._with(_expression(other) / self.value)

    def __neg__(self) -> Coefficient:
        return self._with(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: Any) -> bool:
        return self._decided(sympy.Lt, sympy.Ge, other)

    def __le__(self, other: Any) -> bool:
        return self._decided(sympy.Le, sympy.Gt, other)

    def __gt__(self, other: Any) -> bool:
        return self._decided(sympy.Gt, sympy.Le, other)

    def __ge__(self, other: Any) -> bool:
        return self._decided(sympy.Ge, sympy.Lt, other)

    def _decided(self, relation: Any, otherwise: Any, other: Any) -> bool:
        asked = self.value, _expression(other)
        for answer, said in ((True, relation), (False, otherwise)):
            if _implied(said(*asked, evaluate=False), self.assumed):
                return answer
        raise ValueError(f"it is not known of all letters whether {relation(*asked, evaluate=False)}")


@lru_cache(maxsize=4096)
def _implied(relation: sympy.Basic, assumed: tuple[sympy.Basic, ...]) -> bool:
    return reals.implied(relation, assumed)


#: A number, or what depends on letters.
Scalar = Fraction | Coefficient


def is_zero(c: Scalar) -> bool:
    """Whether a coefficient is 0."""
    return c.is_zero() if isinstance(c, Coefficient) else c == 0


def _expression(c: Any) -> sympy.Expr:
    if isinstance(c, Coefficient):
        return c.value
    exact = Fraction(c)
    return sympy.Rational(exact.numerator, exact.denominator)
