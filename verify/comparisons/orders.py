"""Orders of growth, left = O(right): the ratio at a point, and its supremum over boxes that grow.

The ratio is evaluated with fifty digits along curves on which every symbol is a power of the size of the box: those of
a grid of exponents, and those to which a climb from the best of them leads, such as d = n^3 where two terms balance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from typing import Any

import mpmath
import sympy

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.rational import DIGITS, holds
from fedtheory.statements import Order

#: Powers of ten that the boxes reach.
BOXES = (4, 8, 16, 32)
#: How far a ratio exceeds what it is for moderate values when an order counts as refuted at a point.
EXCESS = 10
#: The box in which curves are sought, from how many of a grid, by which steps of the exponents, and how many of each.
CLIMBED, STARTS, SWEEPS = 16, 2, 6
STEPS = tuple(Fraction(1, v) for v in (4, 12, 48))

#: To which powers of the size of a box the symbols grow along a curve.
Exponents = tuple[Fraction, ...]


#: The values of the symbols at a point.
Values = dict[sympy.Symbol, Any]


def suprema(part: Order, claim: Claim, boxes: tuple[int, ...] = BOXES) -> list[tuple[Any, Values]]:
    """The largest left/right in each box, with the point where it is attained."""
    symbols, applicable = _symbols(part), _applicable(part, claim)
    ratio = sympy.lambdify(symbols, part.left / part.right, "mpmath")

    def value(point: Values) -> Any:
        """None where the claim does not speak of the point."""
        return _value(ratio, point) if all(holds(r, point) for r in applicable) else None

    def largest(points: Iterable[Values]) -> tuple[Any, Values]:
        met = [(found, point) for point in points if (found := value(point)) is not None]
        return max(met, key=lambda pair: pair[0], default=(None, {}))

    with mpmath.workdps(DIGITS):
        curves = _climbed(symbols, lambda exponents: value(_at(part, symbols, exponents, CLIMBED)))
        return [
            largest(chain(_points(part, symbols, box), (_at(part, symbols, curve, box) for curve in curves)))
            for box in boxes
        ]


def _climbed(symbols: list[sympy.Symbol], value: Callable[[Exponents], Any]) -> list[Exponents]:
    """Exponents of curves along which the ratio is locally largest, from the best of a grid."""
    grid = product(*([Fraction(j, 2) for j in range(0 if s.is_integer else -2, 3)] for s in symbols))
    met = [(found, exponents) for exponents in grid if (found := value(exponents)) is not None]
    moves = [move for move in product((-1, 0, 1), repeat=len(symbols)) if 0 < sum(map(abs, move)) <= 2]
    found = []
    for best, at in sorted(met, key=lambda pair: pair[0], reverse=True)[:STARTS]:
        for step in STEPS:
            # In a box of powers of ten each sweep gains what is left of it, or nothing.
            for _ in range(SWEEPS):
                tried = [_moved(symbols, at, move, step) for move in moves]
                better = [(v, e) for e in tried if (v := value(e)) is not None and v > best]
                if not better:
                    break
                best, at = max(better, key=lambda pair: pair[0])
        found.append(at)
    return found


def _moved(symbols: list[sympy.Symbol], at: Exponents, move: tuple[int, ...], step: Fraction) -> Exponents:
    moved = (e + step * direction for e, direction in zip(at, move, strict=True))
    return tuple(
        min(max(e, Fraction(0 if s.is_integer else -1)), Fraction(1)) for s, e in zip(symbols, moved, strict=True)
    )


def _at(part: Order, symbols: list[sympy.Symbol], exponents: Exponents, box: int) -> Values:
    """The point of a curve in a box: every symbol is 10^box to its exponent, or what ``part`` says of it."""
    point = {}
    for s, exponent in zip(symbols, exponents, strict=True):
        power = mpmath.mpf(10) ** (box * mpmath.mpf(exponent.numerator) / exponent.denominator)
        value = Fraction(int(power)) if s.is_integer else Fraction(int(power * 10**DIGITS), 10**DIGITS)
        point[s] = limit if (limit := _limiting(part, s, box)) is not None else value
    return point


def _limiting(part: Order, s: sympy.Symbol, box: int) -> Fraction | None:
    """The value of a symbol that tends to 0 or infinity before all others."""
    if s == part.small:
        return Fraction(1, 10 ** (10 * box**2))
    return Fraction(10 ** (4 * box)) if s == part.large else None


def _applicable(part: Order, claim: Claim) -> list[sympy.Basic]:
    """What the values of the letters of an order must satisfy."""
    relations = [*part.when, *(h.relation for h in claim.requires if h.relation is not None)]
    return [r for r in relations if r.free_symbols <= set(_symbols(part))]


def _symbols(part: Order) -> list[sympy.Symbol]:
    found = part.left.free_symbols | part.right.free_symbols
    return sorted(found.union(*(r.free_symbols for r in part.when)), key=str)


def sides_at(claim: Claim, recipe: Recipe, index: int) -> tuple[Any, Any]:
    """left/right of one order of the claim at the values of a recipe; EXCESS times its supremum in the smallest box.

    ``ValueError`` for values of which the claim does not speak.
    """
    assert isinstance(claim.statement, Order)
    part = claim.statement.parts[index]
    symbols = _symbols(part)
    ratio = sympy.lambdify(symbols, part.left / part.right, "mpmath")
    values = {s: Fraction(recipe[str(s)]) for s in symbols}
    if any((s.is_positive and v <= 0) or v < 0 or (s.is_integer and v.denominator > 1) for s, v in values.items()):
        raise ValueError("the values are not those of the letters")
    if not all(holds(r, values) for r in _applicable(part, claim)):
        raise ValueError(f"the values do not meet the hypotheses of {claim.id}")
    with mpmath.workdps(DIGITS):
        left = _value(ratio, values)
        return left, EXCESS * _moderate(part, claim)


@lru_cache(maxsize=64)
def _moderate(part: Order, claim: Claim) -> Any:
    """The largest left/right in the smallest box."""
    return suprema(part, claim, BOXES[:1])[0][0]


def _value(ratio: Callable[..., Any], point: Values) -> Any:
    try:
        return mpmath.mpf(ratio(*(mpmath.mpf(v.numerator) / v.denominator for v in point.values())))
    except ZeroDivisionError:
        # A rate of 0 takes one iteration, for which 1/log(1/rate) has no value.
        return mpmath.mpf(0)


def _points(part: Order, symbols: list[sympy.Symbol], box: int) -> Iterator[Values]:
    choices = []
    for s in symbols:
        if (limit := _limiting(part, s, box)) is not None:
            choices.append([limit])
        elif s.is_integer:
            choices.append([Fraction(v) for v in (1, 2, 3, 10 ** (box // 2), 10**box)])
        else:
            reals = [Fraction(10) ** j for j in (-box, -box // 2, 0, box // 2, box)]
            choices.append(reals if s.is_positive else [Fraction(0), *reals])
    for values in product(*choices):
        yield dict(zip(symbols, values, strict=True))
