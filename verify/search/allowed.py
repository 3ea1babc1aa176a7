"""What a claim may be made of that is certified at points: what it does between and beyond them shows at them, or where
its sums vanish.

A list of what is allowed: numbers and letters; sums and products; maxima, minima and sizes; powers by numbers, or by
what is linear in whole letters, as T rounds; ceilings and floors of quotients of whole letters. Powers and numbers are
small, for a narrow bump takes a large one: those of the code too, which is read (:mod:`verify.reading.whole`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, prod
from typing import NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.sampling import drawing
from verify.reading import whole
from verify.reading.whole import Code

#: The largest product of numbers.
NUMBERS = 1000


class _Size(NamedTuple):
    """The largest product of numbers in an expression, and in which powers it has its letters, all at most."""

    number: Fraction
    powers: Mapping[sympy.Basic, Fraction]


def refused(claim: Claim, code: Code) -> str:
    """What stands in the sides, the hypotheses or the code of a claim and is not on the list, in words; empty if
    nothing does."""
    if code.largest_number() > NUMBERS:
        return f"its code has numbers beyond {NUMBERS}, for which a letter may stand"
    for e in (*drawing.sides(claim), *drawing.relations(claim)):
        try:
            size = _size(e)
        except ValueError as error:
            return str(error)
        if size.number > NUMBERS:
            return f"{e} has numbers beyond {NUMBERS}, for which a letter may stand"
        if high := [letter for letter, power in size.powers.items() if power > whole.POWERS]:
            return f"{e} has powers of {high[0]} beyond the {whole.POWERS}th"
    return ""


def _size(e: sympy.Basic) -> _Size:
    """``ValueError`` names what is not on the list."""
    if isinstance(e, sympy.Rational):
        return _Size(Fraction(max(abs(int(e.p)), int(e.q))), {})
    if isinstance(e, sympy.Symbol):
        return _Size(Fraction(1), {e: Fraction(1)})
    if isinstance(e, sympy.Pow):
        return _of_power(_size(e.base), e.exp)
    of = [_size(part) for part in e.args if not isinstance(part, sympy.Tuple)]
    if isinstance(e, sympy.Mul):
        return _Size(prod((size.number for size in of), start=Fraction(1)), _joined(of, sum))
    if isinstance(e, sympy.ceiling | sympy.floor) and not all(s.is_integer for s in e.free_symbols):
        raise ValueError(f"{e} is a whole number made of letters that are none")
    if isinstance(e, _OF_PARTS):
        return _largest(of)
    raise ValueError(f"{e} is no sum, product, maximum, or power by a number or by what is linear in whole letters")


#: What has no larger numbers, and no higher powers, than its parts.
_OF_PARTS = (
    sympy.Add,
    sympy.Max,
    sympy.Min,
    sympy.Abs,
    sympy.ceiling,
    sympy.floor,
    sympy.Sum,
    sympy.Product,
    sympy.And,
    sympy.Rel,
    sympy.logic.boolalg.BooleanAtom,
)


def _of_power(base: _Size, exponent: sympy.Expr) -> _Size:
    if isinstance(exponent, sympy.Rational):
        power = abs(Fraction(int(exponent.p), int(exponent.q)))
        # A number that is too large is not made larger.
        number = base.number ** ceil(power) if max(base.number, power) <= NUMBERS else base.number * NUMBERS + 1
        return _Size(number, {letter: power * of for letter, of in base.powers.items()})
    letters = exponent.free_symbols
    whole_ones = all(s.is_integer for s in letters) and exponent.is_polynomial(*letters)
    if whole_ones and sympy.Poly(exponent, *letters).total_degree() <= 1:
        return _largest([base, _size(exponent)])
    raise ValueError(f"{exponent} is an exponent that is not linear in whole letters")


def _largest(of: Sequence[_Size]) -> _Size:
    return _Size(max((size.number for size in of), default=Fraction(1)), _joined(of, max))


def _joined(of: Sequence[_Size], by: Callable[[Iterable[Fraction]], Fraction | int]) -> Mapping[sympy.Basic, Fraction]:
    letters = {letter for size in of for letter in size.powers}
    return {x: Fraction(by([size.powers.get(x, Fraction(0)) for size in of])) for x in sorted(letters, key=str)}
