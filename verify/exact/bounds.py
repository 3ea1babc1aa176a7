"""left <= C right at all values of the letters: found, and checked from the statement alone.

A proof holds weights and nothing else. What they are weights of, the sides and the constraints in each case, is
derived from the order and from the relations between its letters anew when it is checked, in fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy

from fedtheory.kinds.order import Order
from verify.exact import domination, symbolic
from verify.exact.domination import DominationWeights
from verify.exact.magnitudes import NoMagnitude
from verify.exact.posynomials import Monomial, Posynomial, product
from verify.exact.writing import OrderSides, Writer

# Both sides of an order in cases, in letters that are chosen by the relations between them.

#: In how many ways the letters are chosen.
CHARTS = 3


def in_cases(part: Order, relations: Sequence[sympy.Basic], chart: int) -> list[OrderSides]:
    """Both sides of an order in each of its cases; they are real and nonnegative wherever the relations hold.

    ``chart``: below ``CHARTS``, in which letters the sides are written. Raise ``NoMagnitude`` if they have no such
    form.
    """
    both: tuple[sympy.Expr, ...] = (part.left, part.right)
    given = list(relations)
    for s, value in _charts(part, given, chart):
        try:
            both, given = tuple(side.subs(s, value) for side in both), [r.subs(s, value) for r in given]
        except (TypeError, ValueError) as error:
            raise NoMagnitude(f"the sides or a relation are undefined for {s} = {value}") from error
    symbols = sympy.Tuple(*both, *given).free_symbols
    maybe = sorted((s for s in symbols if s.is_nonnegative and not s.is_positive), key=str)
    found: list[OrderSides] = []
    for vanishing in itertools.product((False, True), repeat=len(maybe)):
        # A letter that may vanish makes two cases.
        chosen = {
            s: sympy.S.Zero if gone else sympy.Dummy(s.name, positive=True, integer=s.is_integer)
            for s, gone in zip(maybe, vanishing, strict=True)
        }
        try:
            here = [r.subs(chosen) for r in given]
        except (TypeError, ValueError) as error:
            raise NoMagnitude("a relation is undefined where letters vanish") from error
        if any(r is sympy.false for r in here):
            continue
        try:
            # At once: one after the other, u/(u + v) would be 0 where both vanish.
            left, right = (side.xreplace(chosen) for side in both)
        except ValueError as error:
            # An infinite value cannot be an argument of a maximum.
            raise NoMagnitude("a side is undefined where letters vanish") from error
        if any(side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (left, right)):
            raise NoMagnitude(f"the sides are {left} and {right} where letters vanish")
        found += Writer(part, [r for r in here if r is not sympy.true]).sides(left, right)
    return found


def _charts(part: Order, relations: Sequence[sympy.Basic], chart: int) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """Letters that are at least something, and what takes their place: that and what they exceed it by.

    The first chart has none of them, the second those that are at least another letter, the third all.
    """
    symbols = sympy.Tuple(part.left, part.right).free_symbols
    # Given a letter that goes to its limit first, none depends on it.
    done = {part.small, part.large}
    for relation in symbolic.conjuncts(relations) if chart else ():
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
            continue
        low, high = relation.lts, relation.gts
        if high not in symbols - done or low.free_symbols & done or high in low.free_symbols:
            continue
        if (low.is_Symbol and low.is_positive) or (chart == CHARTS - 1 and low.is_Rational and low.is_nonnegative):
            done |= {high} | low.free_symbols
            more = sympy.Dummy(f"({high - low})", nonnegative=True, integer=high.is_integer and low.is_integer)
            yield high, low + more


#: Characters of an inequality that is still read.
_LONG = 120


@dataclass(frozen=True)
class CaseBound:
    """Why left <= C right, or, ``empty``, why a case is none: weights, for each monomial of the left side in a case."""

    weights: tuple[DominationWeights, ...]
    empty: bool = False


@dataclass(frozen=True)
class OrderProof:
    """A constant with left <= constant * right, and why that is so in each case of a chart.

    ``means``: one of the inequalities of means that the weights say, in words, for a reader.
    """

    constant: Fraction
    chart: int
    cases: tuple[CaseBound, ...]
    means: str = ""


def proof(part: Order, relations: Sequence[sympy.Basic]) -> OrderProof:
    """A proof of one order. Raise ``NoMagnitude`` if none is found."""
    why = ""
    for chart in range(CHARTS):
        try:
            each = in_cases(part, relations, chart)
            found = tuple(map(_bounded, each))
        except NoMagnitude as error:
            why = why or str(error)
            continue
        shown = _constant(each, found)
        if shown is not None:
            return OrderProof(shown, chart, found, _means(each, found))
    raise NoMagnitude(why or "nothing meets the hypotheses")


def _bounded(case: OrderSides) -> CaseBound:
    weights = domination.bounding(*compared(case), case.domain)
    if weights is not None:
        return CaseBound(weights)
    empty = domination.emptying(case.domain)
    if empty is None:
        raise NoMagnitude("no weights are found that bound the left side by a multiple of the right one")
    return CaseBound((empty,), empty=True)


def constant(part: Order, relations: Sequence[sympy.Basic], given: OrderProof) -> Fraction | None:
    """The constant that the weights of a proof show, in fractions, from the order alone; None where they show none."""
    try:
        return _constant(in_cases(part, relations, given.chart), given.cases)
    except NoMagnitude:
        return None


def _constant(each: Sequence[OrderSides], shown: Sequence[CaseBound]) -> Fraction | None:
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


def compared(case: OrderSides) -> tuple[Posynomial, Posynomial]:
    """Both sides of an order in a case, multiplied by the denominators."""
    if case.left.bottom == case.right.bottom:
        return case.left.top, case.right.top
    return product(case.left.top, case.right.bottom), product(case.right.top, case.left.bottom)


def _means(each: Sequence[OrderSides], shown: Sequence[CaseBound]) -> str:
    """The inequality with the most terms in words; empty where all involve numbers that the order has no name for."""
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
