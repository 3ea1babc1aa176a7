"""Orders of growth, left = O(right), along a curve on which every letter is a number plus a power of N.

A recipe gives each letter three numbers, (offset, coefficient, exponent), for offset + coefficient * N^exponent; what
tends to its limit before all others is not part of it. Whether left/right is bounded along the curve is decided by its
leading term, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.order import Order
from verify.base.case import Case
from verify.comparisons import curves
from verify.comparisons.curves import FIRST, LAST, SECOND, Curve

#: The name of the parts of a statement on orders, before their numbers.
PREFIX = "order "


def relations(claim: Claim, part: Order) -> list[sympy.Basic]:
    """Return the relations that restrict the letters of an order."""
    required = (h.relation for h in claim.requires if h.relation is not None)
    return [*part.when, *claim.setting.domain, *required]


def letters(claim: Claim, part: Order) -> list[sympy.Symbol]:
    """The letters that a curve gives values, of the sides and of what limits them."""
    expressions = [part.left, part.right, *relations(claim, part)]
    return sorted(set().union(*(e.free_symbols for e in expressions)) - {part.small, part.large}, key=str)


def along(case: Case, part: Order) -> Curve:
    """The curve of a recipe. Raise ``ValueError`` if that is not one of values that the claim covers."""
    if any(h.met is not None for h in case.claim.requires):
        raise ValueError(f"a hypothesis of {case.claim.id} is code, which decides nothing along a curve")
    curve = {}
    for s in letters(case.claim, part):
        try:
            offset, coefficient, exponent = map(Fraction, case.recipe[str(s)])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"three numbers were expected for {s}: offset, coefficient and exponent") from error
        if s.is_integer and (offset.denominator, coefficient.denominator, exponent.denominator) != (1, 1, 1):
            raise ValueError(f"the values of {s} are no integers")
        if s.is_integer and coefficient and exponent < 0:
            raise ValueError(f"the values of {s} are no integers")
        curve[s] = curves.power_of(LAST, exponent, coefficient, offset)
        sign = curve[s].sign()
        if (s.is_positive and sign <= 0) or (s.is_nonnegative and sign < 0) or (s.is_nonzero and not sign):
            raise ValueError(f"the values of {s} are not those of the letter")
    if part.small is not None:
        curve[part.small] = curves.power_of(FIRST, Fraction(-1), Fraction(1))
    if part.large is not None:
        curve[part.large] = curves.power_of(SECOND, Fraction(1), Fraction(1))
    if not all(curves.holds(r, curve) for r in relations(case.claim, part)):
        raise ValueError(f"the values do not meet the hypotheses of {case.claim.id}")
    return curve


def sides_at(case: Case, index: int) -> tuple[Any, Any]:
    """The leading power of left/right of one order of the claim along the curve of a recipe, and 0, which it may not
    exceed.

    ``ValueError`` for values that the claim does not cover, and where the leading term is not decided.
    """
    assert isinstance(case.statement, Order)
    part = case.statement.parts[index]
    return curves.growth(part.left, part.right, along(case, part))[0], Fraction(0)


def describe_growth(case: Case, part: Order) -> str:
    """The curve and how left/right grows along it, in words."""
    curve = along(case, part)
    power, place = curves.growth(part.left, part.right, curve)
    what = "left/right grows as" if curves.expands(part.left / part.right, curve) else "log(left/right) grows as"
    first = f"1/{part.small}", f"log(1/{part.small})", f"log(log(1/{part.small}))"
    second = f"{part.large}", f"log({part.large})", f"log(log({part.large}))"
    scale = (*first, *second, "N", "log(N)", "log(log(N))")[place]
    shown = scale if power == 1 else f"{scale}^{power}" if power.denominator == 1 else f"{scale}^({power})"
    values = [f"{s} = {_written(*map(Fraction, case.recipe[str(s)]))}" for s in letters(case.claim, part)]
    limits = [f"{part.small} -> 0"] if part.small is not None else []
    limits += [f"{part.large} -> oo"] if part.large is not None else []
    return f"{', '.join([*limits, *values])}: {what} {shown}, up to terms of lower order"


def _written(offset: Fraction, coefficient: Fraction, exponent: Fraction) -> str:
    shown = sympy.Rational(offset.numerator, offset.denominator)
    power = sympy.Symbol("N", positive=True) ** sympy.Rational(exponent.numerator, exponent.denominator)
    return str(shown + sympy.Rational(coefficient.numerator, coefficient.denominator) * power).replace("**", "^")


__all__ = ["along", "describe_growth", "letters", "relations", "sides_at"]
