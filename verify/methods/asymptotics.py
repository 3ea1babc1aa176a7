"""Orders of growth: left = O(right), by the supremum of the ratio over boxes that grow.

The ratio is evaluated with fifty digits on a grid of all symbols, first in a small box, then in larger ones. An order
holds as far as this shows when the supremum stops growing; it fails when the supremum keeps growing with the box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import mpmath
import sympy

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.rational import DIGITS, holds
from fedtheory.statements import Order
from verify.evidence import Counterexample, Verdict
from verify.outcome import Outcome

if TYPE_CHECKING:
    from verify.methods.base import Method

#: Powers of ten that the boxes reach.
BOXES = (4, 8, 16, 32)
#: Growth of the supremum, from one box to the next, that still counts as none, and that counts as unbounded.
STEADY, GROWING = 1.05, 2.0
#: How far a ratio exceeds what it is for moderate values when an order counts as refuted at a point.
EXCESS = 10


def suprema(part: Order, claim: Claim, boxes: tuple[int, ...] = BOXES) -> list[tuple[Any, dict[sympy.Symbol, Any]]]:
    """The largest left/right in each box, with the point where it is attained."""
    symbols, applicable = _symbols(part), _applicable(part, claim)
    ratio = sympy.lambdify(symbols, part.left / part.right, "mpmath")
    found: list[tuple[Any, dict[sympy.Symbol, Any]]] = []
    with mpmath.workdps(DIGITS):
        for box in boxes:
            met = [p for p in _points(part, symbols, box) if all(holds(r, p) for r in applicable)]
            found.append(max(((_value(ratio, p), p) for p in met), key=lambda pair: pair[0], default=(None, {})))
    return found


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
        return left, EXCESS * suprema(part, claim, BOXES[:1])[0][0]


def _counterexample(claim: Claim, index: int, point: dict[sympy.Symbol, Any]) -> tuple[Counterexample, float]:
    """The counterexample at a point, and its margin."""
    recipe = {str(s): v for s, v in point.items()}
    left, right = sides_at(claim, recipe, index)
    values = ", ".join(f"{name}={float(v):g}" for name, v in recipe.items())
    text = f"{values}: left/right against {EXCESS} times the most it is while all values are within 10^{BOXES[0]}"
    found = Counterexample(claim, recipe, (), 0, f"order {index}", 0, left, right, "<=", text)
    return found, round(float(1 - left / right), 9)


def _value(ratio: Callable[..., Any], point: dict[sympy.Symbol, Any]) -> Any:
    try:
        return mpmath.mpf(ratio(*(mpmath.mpf(v.numerator) / v.denominator for v in point.values())))
    except ZeroDivisionError:
        # A rate of 0 takes one iteration, for which 1/log(1/rate) has no value.
        return mpmath.mpf(0)


def _points(part: Order, symbols: list[sympy.Symbol], box: int) -> Iterator[dict[sympy.Symbol, Any]]:
    choices = []
    for s in symbols:
        if s == part.small:
            choices.append([Fraction(1, 10 ** (10 * box**2))])
        elif s == part.large:
            choices.append([Fraction(10 ** (4 * box))])
        elif s.is_integer:
            choices.append([Fraction(v) for v in (1, 2, 3, 10 ** (box // 2), 10**box)])
        else:
            reals = [Fraction(10) ** j for j in (-box, -box // 2, 0, box // 2, box)]
            choices.append(reals if s.is_positive else [Fraction(0), *reals])
    for values in product(*choices):
        yield dict(zip(symbols, values, strict=True))


def outcome(method: Method, claim: Claim) -> Outcome:
    """Supported when every supremum is steady over the last boxes, refuted when one grows in each, else not tested."""
    assert isinstance(claim.statement, Order)
    parts = claim.statement.parts
    steady, tested = [], 0
    for index, part in enumerate(parts):
        found = suprema(part, claim)
        values = [v for v, _ in found if v is not None]
        if len(values) < len(BOXES):
            return method.found(Verdict.NOT_TESTED, "no instance met the hypotheses")
        tested += len(values)
        growth = [b / a if a else mpmath.inf for a, b in pairwise(values)]
        if growth[-1] > STEADY:
            seen = ", ".join(mpmath.nstr(v, 4) for v in values)
            note = f"({part.left})/({part.right}) grows with the values: at most {seen}"
            if all(g >= GROWING for g in growth[1:]):
                example, margin = _counterexample(claim, index, found[-1][1])
                details = {"margin": margin, "counterexample": example}
                return method.found(Verdict.REFUTED, note, instances=tested, used=("search",), **details)
            return method.found(Verdict.NOT_TESTED, note, instances=tested, used=("search",))
        steady.append(values[-1])
    note = f"left/right stays below {mpmath.nstr(max(steady), 6)} up to 10^{BOXES[-1]}"
    if len(parts) > 1:
        note += f", over {len(parts)} orders"
    return method.found(Verdict.SUPPORTED, note, instances=tested, used=("search",))
