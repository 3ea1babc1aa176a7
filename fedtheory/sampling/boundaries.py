"""Values of letters at which the parts of a statement change what they are.

A power differs where its base or its exponent is 0, a sum where it has no terms, a maximum where its arguments are
equal. A statement about constants alone may fail at such a point only, or right beside it, and no draw comes upon it:
each is solved for one of its letters, exactly, and the others are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np
import sympy

from fedtheory.instances import ClaimLike, generic, pick
from fedtheory.numbers.rational import Undefined
from fedtheory.sampling import drawing, letter_values

#: Values of a gap that are tried at one boundary: 0, beside it, and with None any value.
_BESIDE = (0, 0, 0, 1, -1, None, None)
#: The number of draws of the other letters.
_TIMES = 4
#: Boundaries that are tried.
_MOST = 12
#: Pairs of boundaries that are tried.
_PAIRS = 40
#: Operations of a polynomial that is still factored.
_FACTORED = 40
#: Further distances of letters from a boundary: a little or a lot.
_SIZES = ((Fraction(1), Fraction(10)), (Fraction(10), Fraction(10**5)))


def gaps(claim: ClaimLike) -> tuple[sympy.Expr, ...]:
    """Expressions in the letters that vanish where a part of the statement or of its hypotheses changes, the first of
    them ``_MOST``."""
    compared = [side for c in getattr(claim.statement, "comparisons", ()) for side in (c.left, c.right)]
    found: dict[sympy.Expr, None] = {}
    for side in (*compared, *drawing.relations(claim)):
        for gap in _within(side, frozenset()):
            for factor in _factors(gap):
                # A multiple has the same boundary.
                factor = sympy.expand(factor).primitive()[1]
                if -factor not in found:
                    found[factor] = None
    return tuple(islice((gap for gap in found if gap.free_symbols and not gap.is_nonzero), _MOST))


def _factors(e: sympy.Expr) -> Iterator[sympy.Expr]:
    """Expressions of which one vanishes where ``e`` does: a polynomial's factors."""
    if e.is_polynomial() and e.count_ops() <= _FACTORED:
        yield from (factor for factor, _ in sympy.factor_list(e)[1])
    else:
        yield e


def _within(e: sympy.Basic, bound: frozenset[sympy.Basic]) -> Iterator[sympy.Expr]:
    """As :func:`gaps`, of what involves no index of a sum around it."""
    vanishing: list[sympy.Expr] = []
    match e:
        case sympy.Sum() | sympy.Product():
            index, low, high = e.limits[0]
            vanishing = [high - low + 1]
            yield from _within(e.function, bound | {index})
        case sympy.Pow():
            vanishing = [e.base] if e.exp.is_number else [e.base, e.exp, e.base - 1, e.base + 1]
        case sympy.log():
            vanishing = [e.args[0] - 1]
        case sympy.Abs():
            vanishing = [e.args[0]]
        case sympy.floor() | sympy.ceiling():
            vanishing = [e.args[0], e.args[0] - 2]
        case sympy.Max() | sympy.Min():
            vanishing = [a - b for a, b in combinations(e.args, 2)]
        case sympy.Add() if e.as_coeff_Add()[0] != 0:
            vanishing = [e]
    yield from (gap for gap in vanishing if not gap.free_symbols & bound)
    for part in e.limits[0][1:] if isinstance(e, sympy.Sum | sympy.Product) else e.args:
        yield from _within(part, bound)


def values(
    claim: ClaimLike, symbols: tuple[sympy.Symbol, ...], rng: np.random.Generator
) -> Iterator[dict[sympy.Symbol, Any]]:
    """Values of all letters at the boundaries, beside them, and where two of them meet."""
    found, stated = gaps(claim), tuple(drawing.relations(claim))

    def drawn(last: tuple[sympy.Symbol, ...], *pins: sympy.Rel) -> Iterator[dict[sympy.Symbol, Any]]:
        # A boundary is solved for the last of its letters: of integers, not every one leaves room for the others.
        order = (*(x for x in symbols if x not in last), *last)
        plan = letter_values.plan(order, frozenset(), (*stated, *pins), drawing.sides(claim))
        try:
            one = letter_values.draw(plan, {}, {}, rng, wide=pick(rng, (True, False)))
        except (Undefined, ArithmeticError, ValueError):
            return
        if one is not None:
            yield {letter: one[letter] for letter in symbols}

    for gap in found:
        solved = [x for x in symbols if x in gap.free_symbols]
        for beside in _BESIDE if solved else ():
            for trial in range(_TIMES):
                yield from drawn((solved[trial % len(solved)],), _equal(gap, beside, rng))
    pairs = list(combinations(found, 2))
    for index in rng.permutation(len(pairs))[:_PAIRS]:
        pair = pairs[int(index)]
        last = tuple(dict.fromkeys(x for gap in pair for x in symbols if x in gap.free_symbols))
        for besides in ((0, 0), tuple(pick(rng, _BESIDE) for _ in pair)):
            shuffled = tuple(last[int(i)] for i in rng.permutation(len(last)))
            yield from drawn(shuffled, *(_equal(gap, beside, rng) for gap, beside in zip(pair, besides, strict=True)))


def _equal(gap: sympy.Expr, beside: int | None, rng: np.random.Generator) -> sympy.Rel:
    """Return the relation that a gap has a given value, or any value, an integer if it must be one."""
    if beside is None:
        size = generic(rng, *pick(rng, _SIZES)) * pick(rng, (1, -1))
        beside = int(size) if gap.is_integer else sympy.Rational(size.numerator, size.denominator)
    return sympy.Eq(gap, beside, evaluate=False)
