"""Both sides of an order in cases, in letters that are chosen by the relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import sympy

from fedtheory.kinds.order import Order
from verify.exact import symbolic
from verify.exact.magnitudes import Unknown
from verify.exact.writing import Sides, Writer

#: In how many ways the letters are chosen.
CHARTS = 3


def sides(part: Order, relations: Sequence[sympy.Basic], chart: int) -> list[Sides]:
    """Both sides of an order in each of its cases; they are real and nonnegative wherever the relations hold.

    ``chart``: below ``CHARTS``, in which letters the sides are written. ``Unknown`` where they have no such form.
    """
    both: tuple[sympy.Expr, ...] = (part.left, part.right)
    given = list(relations)
    for s, value in _charts(part, given, chart):
        try:
            both, given = tuple(side.subs(s, value) for side in both), [r.subs(s, value) for r in given]
        except (TypeError, ValueError) as error:
            raise Unknown(f"the sides or a relation are undefined for {s} = {value}") from error
    spoken = sympy.Tuple(*both, *given).free_symbols
    maybe = sorted((s for s in spoken if s.is_nonnegative and not s.is_positive), key=str)
    found: list[Sides] = []
    for vanishing in product((False, True), repeat=len(maybe)):
        # Whether a letter that may vanish does is a case.
        chosen = {
            s: sympy.S.Zero if gone else sympy.Dummy(s.name, positive=True, integer=s.is_integer)
            for s, gone in zip(maybe, vanishing, strict=True)
        }
        try:
            here = [r.subs(chosen) for r in given]
        except (TypeError, ValueError) as error:
            raise Unknown("a relation is undefined where letters vanish") from error
        if any(r is sympy.false for r in here):
            continue
        try:
            # At once: one after the other, u/(u + v) would be 0 where both vanish.
            left, right = (side.xreplace(chosen) for side in both)
        except ValueError as error:
            # What is infinite is no argument of a maximum.
            raise Unknown("a side is undefined where letters vanish") from error
        if any(side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (left, right)):
            raise Unknown(f"the sides are {left} and {right} where letters vanish")
        found += Writer(part, [r for r in here if r is not sympy.true]).sides(left, right)
    return found


def _charts(part: Order, relations: Sequence[sympy.Basic], chart: int) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """Letters that are at least something, and what takes their place: that and what they exceed it by.

    The first chart has none of them, the second those that are at least another letter, the third all.
    """
    spoken = sympy.Tuple(part.left, part.right).free_symbols
    # Given a letter that goes to its limit first, none depends on it.
    done = {part.small, part.large}
    for relation in symbolic.conjuncts(relations) if chart else ():
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
            continue
        low, high = relation.lts, relation.gts
        if high not in spoken - done or low.free_symbols & done or high in low.free_symbols:
            continue
        if (low.is_Symbol and low.is_positive) or (chart == CHARTS - 1 and low.is_Rational and low.is_nonnegative):
            done |= {high} | low.free_symbols
            more = sympy.Dummy(f"({high - low})", nonnegative=True, integer=high.is_integer and low.is_integer)
            yield high, low + more
