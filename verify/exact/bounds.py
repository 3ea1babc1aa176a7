"""left <= C right at all values of the letters: found, and checked from the statement alone.

A proof holds weights and nothing else. What they are weights of, the sides and the constraints in each case, is
derived from the order and from the relations between its letters anew when it is checked, in fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from fedtheory.kinds.order import Order
from verify.exact import cases, domination
from verify.exact.cases import CHARTS
from verify.exact.domination import Weights
from verify.exact.magnitudes import Unknown
from verify.exact.posynomials import Monomial, Posynomial, product
from verify.exact.writing import Sides

#: Characters of an inequality that is still read.
_LONG = 120


@dataclass(frozen=True)
class Bounded:
    """Why left <= C right, or, ``empty``, why a case is none: weights, for each monomial of the left side in a case."""

    weights: tuple[Weights, ...]
    empty: bool = False


@dataclass(frozen=True)
class Proof:
    """A constant with left <= constant * right, and why that is so in each case of a chart.

    ``means``: one of the inequalities of means that the weights say, in words, for a reader.
    """

    constant: Fraction
    chart: int
    cases: tuple[Bounded, ...]
    means: str = ""


def proof(part: Order, relations: Sequence[sympy.Basic]) -> Proof:
    """A proof of one order; ``Unknown`` where none is found."""
    why = ""
    for chart in range(CHARTS):
        try:
            each = cases.sides(part, relations, chart)
            found = tuple(map(_bounded, each))
        except Unknown as error:
            why = why or str(error)
            continue
        shown = _constant(each, found)
        if shown is not None:
            return Proof(shown, chart, found, _means(each, found))
    raise Unknown(why or "nothing meets the hypotheses")


def _bounded(case: Sides) -> Bounded:
    weights = domination.bounding(*compared(case), case.domain)
    if weights is not None:
        return Bounded(weights)
    empty = domination.emptying(case.domain)
    if empty is None:
        raise Unknown("no weights are found that bound the left side by a multiple of the right one")
    return Bounded((empty,), empty=True)


def constant(part: Order, relations: Sequence[sympy.Basic], given: Proof) -> Fraction | None:
    """The constant that the weights of a proof show, in fractions, from the order alone; None where they show none."""
    try:
        return _constant(cases.sides(part, relations, given.chart), given.cases)
    except Unknown:
        return None


def _constant(each: Sequence[Sides], shown: Sequence[Bounded]) -> Fraction | None:
    if len(each) != len(shown):
        return None
    found = []
    for case, bounded in zip(each, shown, strict=True):
        if bounded.empty:
            if len(bounded.weights) != 1 or not domination.is_empty(case.domain, bounded.weights[0]):
                return None
            continue
        share = domination.largest_share(*compared(case), case.domain, bounded.weights)
        if share is None:
            return None
        found.append(share)
    return max(found, default=None)


def compared(case: Sides) -> tuple[Posynomial, Posynomial]:
    """Both sides of an order in a case, multiplied by the denominators."""
    if case.left.bottom == case.right.bottom:
        return case.left.top, case.right.top
    return product(case.left.top, case.right.bottom), product(case.right.top, case.left.bottom)


def _means(each: Sequence[Sides], shown: Sequence[Bounded]) -> str:
    """The inequality with the most terms in words; empty where all speak of numbers that the order has no name for."""
    found: list[tuple[int, str]] = []
    for case, bounded in zip(each, shown, strict=True):
        left, right = compared(case)
        for m, weights in zip(left, bounded.weights, strict=False):
            terms = [(w, r) for w, r in zip(weights.of_monomials, right, strict=False) if w]
            bound = domination.factor(m, list(right), case.domain, weights)
            if bound is not None and terms != [(1, m)]:
                written = [f"{w}*{_written(r, case.names)}".removeprefix("1*") for w, r in terms]
                right_side = " + ".join(written)
                if bound != 1:
                    right_side = f"{rounded_up(bound)}*({right_side})"
                text = f"{_written(m, case.names)} <= {right_side}"
                found += [] if "?" in text or len(text) > _LONG else [(len(terms), text)]
    return max(found, default=(0, ""), key=lambda one: one[0])[1]


def _written(monomial: Monomial, names: Mapping[int, str]) -> str:
    """A monomial with the names of its letters, ? for what has none."""
    powers = [(names.get(number, "?"), power) for number, power in monomial]
    return "*".join(name if power == 1 else f"{name}^({power})" for name, power in powers) or "1"


def rounded_up(value: Fraction) -> str:
    """A number of four significant digits that is at least a positive one, in words."""
    shown = sympy.Rational(value.numerator, value.denominator)
    if shown.is_Integer:
        return str(shown)
    unit = sympy.Rational(10) ** (int(sympy.floor(sympy.log(shown, 10))) - 3)
    return f"{float(sympy.ceiling(shown / unit) * unit):.12g}"
