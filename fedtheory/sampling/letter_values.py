"""Values for the letters of a claim, drawn so that each hypothesis is met at its boundary, inside it, and nearly not.

Letters are drawn in an order in which each hypothesis can be solved for the last of its letters. Where a maximum of the
statement changes its argument is another place to look. Letters that nothing bounds lie anywhere on a wide scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.instances import generic, pick
from fedtheory.numbers.rational import Array, Undefined, evaluate
from fedtheory.numbers.validation import admits

#: The share of draws with all letters at their bounds.
_CORNERED = 1 / 6
#: The places of a letter in other draws: mostly at a bound.
_PLACES = ("high",) * 6 + ("inside",) * 3 + ("anywhere", "low")
#: Shares of the way from the lower bound to the upper one.
_INSIDE = tuple(Fraction(v) for v in ("1/2", "1/2", "9/10", "1/4", "1/10", "1/100"))
#: Shares of a bound that may not be attained.
_BELOW = tuple(Fraction(v) for v in ("1/2", "3/4", "9/10", "99/100", "999999/1000000"))
#: Scales of letters that nothing bounds.
_WIDE = (Fraction(1, 100), Fraction(100))
#: The largest integer among such letters.
_LARGEST = 6
#: The same scales where extreme values decide, and cost nothing.
_EXTREME = (Fraction(1, 10**6), Fraction(10**8))
#: The largest integer there.
_LARGE = 10**4


class LetterBound(NamedTuple):
    """The bound that a relation places on one letter: at most ``boundary`` if ``slope`` > 0, at least that if ``slope``
    < 0.
    """

    boundary: sympy.Expr
    slope: sympy.Expr
    equal: bool
    strict: bool


class DrawingOrder(NamedTuple):
    """The letters in the order in which they are drawn, with the rules of each and its crossings."""

    order: tuple[sympy.Symbol, ...]
    rules: Mapping[sympy.Symbol, tuple[LetterBound, ...]]
    crossings: Mapping[sympy.Symbol, tuple[sympy.Expr, ...]]


@lru_cache(maxsize=512)
def plan(
    letters: tuple[sympy.Symbol, ...],
    given: frozenset[sympy.Expr],
    relations: tuple[object, ...],
    sides: tuple[object, ...],
) -> DrawingOrder:
    """How to draw ``letters`` when ``given`` are known; ``sides``: of the statement, for its maxima."""
    gaps = [gap for relation in relations for gap in _gaps(relation)]
    order = _order(letters, given, gaps)
    rules: dict[sympy.Symbol, tuple[LetterBound, ...]] = {}
    crossings: dict[sympy.Symbol, tuple[sympy.Expr, ...]] = {}
    known = set(given)
    choices = sorted(sympy.Tuple(*sides).atoms(sympy.Max, sympy.Min), key=sympy.default_sort_key)
    for letter in order:
        known.add(letter)
        ready = [(gap, equal, strict) for gap, equal, strict in gaps if letter in gap.free_symbols <= known]
        rules[letter] = tuple(r for gap, equal, strict in ready if (r := _rule(gap, letter, equal, strict)) is not None)
        meet = (a - b for node in choices for a, b in combinations(node.args, 2))
        crossings[letter] = tuple(e for e in meet if letter in e.free_symbols <= known)
    return DrawingOrder(order, rules, crossings)


def _gaps(relation: sympy.Basic) -> Iterable[tuple[sympy.Expr, bool, bool]]:
    """(gap, whether it must vanish, whether it may not): gap <= 0, for each relation of a conjunction."""
    if isinstance(relation, sympy.And):
        return [gap for part in relation.args for gap in _gaps(part)]
    left, right = (relation.rhs, relation.lhs) if relation.rel_op in (">=", ">") else (relation.lhs, relation.rhs)
    return [(left - right, isinstance(relation, sympy.Eq), relation.rel_op in ("<", ">"))]


def _rule(gap: sympy.Expr, letter: sympy.Symbol, equal: bool, strict: bool) -> LetterBound | None:
    """The rule of a gap that is affine in the letter, perhaps after multiplying by it; None if it is not."""
    for scaled in (gap, sympy.expand(gap * letter)):
        slope = sympy.diff(scaled, letter)
        if not slope.has(letter) and slope != 0:
            return LetterBound((letter - scaled / slope).subs(letter, 0), slope, equal, strict)
    return None


def unsolved(relations: Iterable[object], letters: Iterable[sympy.Symbol], constants: Iterable[sympy.Symbol]) -> bool:
    """Return True if some equality contains constants of the class and cannot be solved for any of the letters."""
    gaps = [gap for relation in relations for gap, equal, _ in _gaps(relation) if equal]
    drawn, given = set(letters), set(constants)
    return any(
        gap.free_symbols & given and all(_rule(gap, letter, True, False) is None for letter in gap.free_symbols & drawn)
        for gap in gaps
    )


def _order(
    letters: Sequence[sympy.Symbol], given: frozenset[sympy.Expr], gaps: Sequence[tuple[sympy.Expr, bool, bool]]
) -> tuple[sympy.Symbol, ...]:
    """Letters for which fewest relations could be solved come first; those that an equality will fix come last, but as
    soon as it does."""
    known, left, order = set(given), list(letters), []

    def score(letter: sympy.Symbol) -> tuple[int, int]:
        mine = [(gap, equal) for gap, equal, _ in gaps if letter in gap.free_symbols]
        solvable = [(gap, equal) for gap, equal in mine if _rule(gap, letter, equal, False) is not None]
        opens = [not (gap.free_symbols - {letter} <= known) for gap, _ in solvable]
        fixed = [not open_ for open_, (_, equal) in zip(opens, solvable, strict=True) if equal]
        return -1 if any(fixed) else sum(opens) + 10 * bool(fixed), left.index(letter)

    while left:
        letter = min(left, key=score)
        order.append(letter)
        known.add(letter)
        left.remove(letter)
    return tuple(order)


def draw(
    of: DrawingOrder,
    known: Mapping[sympy.Expr, Any],
    typical: Mapping[sympy.Symbol, sympy.Expr],
    rng: np.random.Generator,
    wide: bool = False,
    cornered: bool = False,
    crossed: bool = True,
) -> dict[sympy.Symbol, Any] | None:
    """Values of all letters, fractions or integers, or None where the bounds leave nothing.

    ``typical``: expressions for values that are often taken; ``wide``: extreme values now and then; ``cornered``: all
    letters are at their bounds together, as they are now and then in any case: a hypothesis that asks for a little too
    little may fail only there; ``crossed``: letters are now and then where two terms of a maximum are equal instead.
    """
    values = dict(known)
    cornered = cornered or rng.random() < _CORNERED
    for letter in of.order:
        if letter in typical and not cornered and pick(rng, (True, False)):
            usual = evaluate(typical[letter], values)
            if admits(letter, usual):
                values[letter] = usual
                continue
        value = _one(of, letter, values, known, rng, wide, cornered, crossed)
        if value is None:
            return None
        values[letter] = value
    return {letter: values[letter] for letter in of.order}


def tightest(
    of: DrawingOrder, known: Mapping[sympy.Expr, object], typical: Mapping[sympy.Symbol, sympy.Expr]
) -> dict[sympy.Symbol, Any]:
    """Values of all letters: typical ones, or the largest that the hypotheses allow, or 1."""
    values = dict(known)
    for letter in of.order:
        if letter in typical:
            values[letter] = evaluate(typical[letter], values)
            continue
        bounds = _bounds(of, letter, values)
        if isinstance(bounds, _Bounds) and bounds.high is not None:
            room = bounds.high - bounds.low if bounds.low is not None else Fraction(1)
            largest = bounds.high - room / 2 if bounds.open_above else bounds.high
            values[letter] = math.floor(largest) if letter.is_integer else largest
        else:
            values[letter] = 1 if isinstance(bounds, _Bounds) else bounds
    return {letter: values[letter] for letter in of.order}


class _Bounds(NamedTuple):
    """The range of a letter: between ``low`` and ``high`` (None: anywhere beyond), without ends that are open."""

    low: Fraction | None
    open_below: bool
    high: Fraction | None
    open_above: bool


def _bounds(of: DrawingOrder, letter: sympy.Symbol, values: Mapping[sympy.Expr, object]) -> Any:
    """The bounds of a letter, or the only value that an equality leaves."""
    lows: list[tuple[Fraction, bool]] = [(Fraction(0), bool(letter.is_positive))] if letter.is_nonnegative else []
    highs: list[tuple[Fraction, bool]] = []
    for rule in of.rules[letter]:
        try:
            at, slope = evaluate(rule.boundary, values), evaluate(rule.slope, values)
            none, below = bool(slope == 0), bool(slope > 0)
        except (Undefined, ArithmeticError):
            # Also a slope whose sign is not decided.
            continue
        if not isinstance(at, int | Fraction) or none:
            continue
        if rule.equal:
            return at
        (highs if below else lows).append((Fraction(at), rule.strict))
    low, open_below = max(lows) if lows else (None, False)
    high, open_above = min(highs, key=lambda pair: (pair[0], not pair[1])) if highs else (None, False)
    return _Bounds(low, open_below, high, open_above)


def _one(
    of: DrawingOrder,
    letter: sympy.Symbol,
    values: Mapping[sympy.Expr, object],
    known: Mapping[sympy.Expr, object],
    rng: np.random.Generator,
    wide: bool,
    cornered: bool,
    crossed: bool,
) -> Any:
    bounds = _bounds(of, letter, values)
    if not isinstance(bounds, _Bounds):
        fixed = int(bounds) if letter.is_integer and bounds == int(bounds) else bounds
        return fixed if admits(letter, fixed) else None
    low, open_below, high, open_above = bounds
    if low is not None and high is not None and (high < low or (high == low and (open_below or open_above))):
        return None
    if low is None:
        # As far below its bound as one that is positive lies above 0; on either side of 0 where it has none.
        size = _free(known or values, rng, wide)
        cornered = cornered and high is not None
        high, open_above = (size, False) if high is None else (high, open_above)
        low = min(high, Fraction(0)) - size
    if letter.is_integer:
        return _integer(low, open_below, high, open_above, rng, wide)
    # Where two terms of a maximum are equal at a corner is the least room of all.
    if crossed and pick(rng, (True, False, False)):
        crossing = _crossing(of, letter, values, low, high, rng)
        if crossing is not None:
            return crossing
    if high is not None:
        at = "high" if cornered else pick(rng, _PLACES[:-1] if open_below else _PLACES)
        return _bounded(low, high, open_above, at, rng)
    if low != 0 and cornered and not open_below:
        return low
    if low > 0:
        above = 1 + generic(rng, *(_EXTREME if wide else _WIDE))
        return low * (above if open_below else pick(rng, (Fraction(1), Fraction(2), above, above)))
    # The unit of a letter that nothing bounds is that of what is given: those drawn like it would add to its size.
    free = _free(known or values, rng, wide)
    return low + (free if open_below else pick(rng, (free, free, free, Fraction(0))))


def _bounded(low: Fraction, high: Fraction, open_above: bool, at: str, rng: np.random.Generator) -> Fraction:
    span = high - low
    if at == "high":
        return low + span * pick(rng, _BELOW) if open_above else high
    if at == "low":
        return low
    return low + span * (pick(rng, _INSIDE) if at == "inside" else generic(rng, Fraction(1, 100), Fraction(99, 100)))


def _integer(
    low: Fraction, open_below: bool, high: Fraction | None, open_above: bool, rng: np.random.Generator, wide: bool
) -> int | None:
    first = math.floor(low) + 1 if open_below else math.ceil(low)
    largest = first + _LARGEST
    if wide and pick(rng, (True, False, False)):
        largest = first + int(generic(rng, Fraction(_LARGEST), Fraction(_LARGE)))
    last = largest if high is None else math.ceil(high) - 1 if open_above else math.floor(high)
    if last < first:
        return None
    # The bounds may lie beyond 64 bits, which numpy's integers end at; what lies between them does not.
    between = first + int(rng.integers(min(last, largest) - first + 1))
    return between if high is None else int(pick(rng, (first, last, between)))


def _free(values: Mapping[sympy.Expr, object], rng: np.random.Generator, wide: bool) -> Fraction:
    """A value on a wide scale about 1, or about the inverse of a constant that is known: steps have its unit."""
    if wide and pick(rng, (True, False, False)):
        return generic(rng, *_EXTREME)
    sizes = [Fraction(v) for v in values.values() if isinstance(v, Fraction) and v > 0]
    unit = 1 / pick(rng, sizes) if sizes and pick(rng, (True, False)) else Fraction(1)
    return unit * pick(rng, (Fraction(1), generic(rng, Fraction(1, 4), Fraction(4)), generic(rng, *_WIDE)))


@lru_cache(maxsize=2048)
def _compiled(gap: sympy.Expr, names: tuple[sympy.Symbol, ...]) -> Callable[..., Any]:
    return sympy.lambdify(names, gap, modules="numpy")


def _crossing(
    of: DrawingOrder,
    letter: sympy.Symbol,
    values: Mapping[sympy.Expr, Any],
    low: Fraction,
    high: Fraction | None,
    rng: np.random.Generator,
) -> Fraction | None:
    """A value at which two arguments of a maximum in the statement are equal, between the bounds; None if none is.

    Where it cannot be solved for, one that is near.
    """
    if not of.crossings[letter]:
        return None
    gap = pick(rng, of.crossings[letter])
    rule = _rule(gap, letter, True, False)
    if rule is not None:
        try:
            at = evaluate(rule.boundary, values)
        except (Undefined, ArithmeticError):
            at = None
        return at if isinstance(at, Fraction) and low < at and (high is None or at < high) else None
    top = float(high) if high is not None else 1e3 * max(1.0, float(low))
    bottom = max(float(low), top * 1e-6)
    if not bottom < top:
        return None
    names = tuple(sorted(gap.free_symbols, key=str))

    def signs(at: Array) -> Array:
        with np.errstate(all="ignore"):
            found = _compiled(gap, names)(*(at if s == letter else float(values[s]) for s in names))
        return np.sign(np.nan_to_num(np.asarray(found, dtype=float)))

    # A grid within a grid: a thousandth is near enough.
    for _ in range(2):
        grid = np.geomspace(bottom, top, 40)
        seen = signs(grid)
        changes = np.flatnonzero(seen[1:] * seen[:-1] < 0)
        if not len(changes):
            return None
        k = pick(rng, changes)
        bottom, top = grid[k], grid[k + 1]
    middle = (bottom + top) / 2
    found = (
        Fraction(middle).limit_denominator(1000) if middle > 0.1 else 1 / Fraction(1 / middle).limit_denominator(1000)
    )
    return found if low < found and (high is None or found < high) else None
