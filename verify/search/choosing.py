"""The counterexample that is shown: of those that were found and of others near them, the most convincing one.

What is found first is often degenerate: a bound that fails before the first round, a right side of 0, a ratio next to
1. Others are proposed from it, about the paper's own start, after a round, farther out, at larger constants, and each
is evaluated exactly; attempts are counted. Then its numbers are made small, as far as it convinces no less
(:mod:`verify.search.convincing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.instances import Recipe
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons.deciding import arithmetic
from verify.comparisons.exact import ROUNDS, Coordinates, as_row
from verify.evidence.counterexamples import Counterexample
from verify.search import refutation, shrinking, states
from verify.search.convincing import Rank, excess, key, rank
from verify.search.shrinking import Again

#: Attempts at making each counterexample smaller, before the best one is made as small as can be.
ATTEMPTS = 30
#: Counterexamples, the best, near which others are looked for.
IMPROVED = 2
#: Others that are evaluated.
PROPOSED = 200
#: Characters of both sides of a counterexample that can be taken in at a glance.
READABLE = 30
#: Bits of a number from which on it is not written out to see how long it is.
WRITTEN = 10_000
#: The largest coordinates of states in integers that are tried for a worst state.
WHOLE = (1, 10, 100, 1000)
#: The values tried for coordinates that are 0.
NONZERO = tuple(Fraction(v) for v in ("1/10", "-1/10", 1, -1))
#: The factors tried for other coordinates and for constants.
FARTHER = (Fraction(2), Fraction(10), Fraction(100), Fraction(10_000))
#: Rounds after which a bound that fails after one may fail by more.
LATER = (*ROUNDS, 5, 10)
#: The factor by which the excess of a ratio has to grow for a step on the way to a larger one.
CLIMBED = 1.1
#: Integers beyond it are rounded up to one digit.
LONG = 100
#: The best that there is.
_BEST = Rank(False, False, False, 0)


class _Offer(NamedTuple):
    recipe: Recipe
    point: Coordinates
    rounds: int


def refuted(found: Callable[..., Any], example: Counterexample, where: str, *used: str) -> Any:
    """Return the outcome ``found`` for a counterexample that something other than the search found, after simplifying
    it.
    """
    shown = chosen([example])
    worst = min((shown, example), key=refutation.margin)
    note = f"{where}: confirmed {arithmetic(shown.left, shown.right)}"
    details = {"counterexample": shown, "tightest": shown.recipe, "used": (*used, "rational"), "instances": 1}
    return found(Verdict.REFUTED, note, margin=refutation.margin(worst), **details)


def chosen(examples: Iterable[Counterexample], tries: int = 400, again: Again = states.violation) -> Counterexample:
    """The counterexample that is shown: ``examples`` to one claim, made convincing and then small.

    ``tries``, ``again``: as for :func:`verify.search.shrinking.smallest`.
    """
    given = list(examples)
    # Simplifying is greedy: what comes out depends on the start, so each is tried a little, others are looked for near
    # the best of them, and the best of all is simplified fully.
    tried = [shrinking.smallest(c, min(tries, ATTEMPTS), again) for c in given]
    better = map(improved, sorted(tried, key=key)[:IMPROVED])
    return _with_fewer_digits(_plain(shrinking.smallest(min(better, key=key), tries, again), again), again)


def improved(example: Counterexample) -> Counterexample:
    """A counterexample near this one that convinces more, whatever its numbers are, or itself."""
    left = iter(range(PROPOSED))
    best, at = example, _next(example, left)
    while at is not None:
        # A larger ratio of the same order is a step on the way, and worth no longer numbers.
        best = at if rank(at) < rank(best) else best
        at = _next(at, left)
    return best


def _next(example: Counterexample, left: Iterator[int]) -> Counterexample | None:
    """The first of what is proposed near an example that convinces more, or else one whose ratio is larger."""
    bound, largest, farthest = rank(example), CLIMBED * excess(example), None
    if bound == _BEST or not example.part.isdigit() or not example.claim.statement.searched:
        return None
    for offer in _offers(example, bound):
        if next(left, None) is None:
            return None
        try:
            found = shrinking.at_state(Case(example.claim, offer.recipe), offer.point, offer.rounds)
        except (ValueError, ArithmeticError):
            continue
        if found is None:
            continue
        if rank(found) < bound:
            return found
        if rank(found) == bound and excess(found) > largest:
            largest, farthest = excess(found), found
    return farthest


def _plain(example: Counterexample, again: Again) -> Counterexample:
    """The counterexample with long integers rounded up to one digit, and of letters alone with as few different values
    as can be: what convinces no less and is easier to follow."""
    for plainer in (_rounded_up, _alike):
        for recipe in plainer(example):
            case = Case(example.claim, recipe)
            try:
                at = shrinking.at_state(case, example.point, example.rounds)
                found = again(case) if at is None else at
            except (ValueError, ArithmeticError):
                continue
            if found is not None and rank(found) <= rank(example):
                example = found
                break
    return example


def _with_fewer_digits(example: Counterexample, again: Again) -> Counterexample:
    """A counterexample that convinces no less and whose sides, if they take many digits, take fewer."""
    left = iter(range(ATTEMPTS))
    best: Counterexample | None = example
    while best is not None:
        example, best = best, None
        if _digits(example) <= READABLE or not example.part.isdigit():
            return example
        for recipe in example.claim.instances.simpler(example.recipe):
            if next(left, None) is None:
                return example
            try:
                found = _worst(example, recipe, again)
                found = shrinking.simplest_state(found) if found is not None and found.point else found
            except (ValueError, ArithmeticError):
                continue
            if found is not None and rank(found) <= rank(example) and _digits(found) < _digits(example):
                best = found
                break
    return example


def _worst(example: Counterexample, recipe: Recipe, again: Again) -> Counterexample | None:
    """A counterexample at a recipe that convinces as much as the example: at a worst state, or farther out."""
    case = Case(example.claim, recipe)
    found = again(case)
    if found is not None and rank(found) <= rank(example):
        return found
    for finding in (states.examine(case, np.random.default_rng(0)) or [])[:1]:
        largest = abs(finding.theta).max(initial=0) or 1
        for whole in WHOLE:
            point = tuple(Fraction(round(float(v * whole / largest))) for v in finding.theta)
            found = shrinking.at_state(case, point, example.rounds)
            if found is not None and rank(found) <= rank(example):
                return found
    return None


def _digits(example: Counterexample) -> int:
    return sum(_length(side) for side in (example.left, example.right) if isinstance(side, int | Fraction))


def _length(value: int | Fraction) -> int:
    """The number of characters of a number, about, if Python refuses to write it out."""
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    return len(str(value)) if bits < WRITTEN else bits * 3 // 10


def _rounded_up(example: Counterexample) -> Iterator[Recipe]:
    for value, put in shrinking.changes(example.recipe):
        unit = 10 ** (len(str(value)) - 1)
        if not isinstance(value, int) and value == int(value) and value > LONG and value % unit:
            yield put(type(value)(-(-value // unit) * unit))


def _alike(example: Counterexample) -> Iterator[Recipe]:
    sums = any(
        side.has(sympy.Sum, sympy.Product) for c in example.claim.statement.comparisons for side in (c.left, c.right)
    )
    if example.claim.setting.of_constants and not sums:
        recipe = example.recipe
        kinds = {name: type(value) for name, value in recipe.items() if isinstance(value, int | Fraction)}
        for value in sorted({recipe[name] for name in kinds if recipe[name] == int(recipe[name])}, reverse=True):
            yield {**recipe, **{name: of(value) for name, of in kinds.items()}}


def _offers(example: Counterexample, bound: Rank) -> Iterator[_Offer]:
    """Yield candidates that may be more convincing than an example of this rank, the smallest changes first."""
    claim, recipe, point, rounds = example.claim, example.recipe, example.point, example.rounds
    if bound.degenerate:
        yield from (_Offer(recipe, other, rounds) for other in _nonzero(point))
    if bound.elsewhere and (own := _translated(Case(claim, recipe), point)) is not None:
        yield _Offer(own, point, rounds)
    if bound.at_once:
        later = [T for T in ROUNDS if T]
        yield from (_Offer(recipe, point, T) for T in later)
        yield from (_Offer(recipe, other, T) for T in later for other in (*_nonzero(point), *_farther(point)))
        yield from (_Offer(other, point, later[0]) for other in _of_other_size(recipe))
    if bound.narrow:
        yield from (_Offer(recipe, other, rounds) for other in _farther(point))
        if claim.statement.horizon:
            yield from (_Offer(recipe, point, T) for T in LATER if T > rounds > 0)
        yield from (_Offer(other, point, rounds) for other in _of_other_size(recipe))


def _of_other_size(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe with larger constants, of either sign, then with smaller ones."""
    for scales in (FARTHER, tuple(1 / times for times in FARTHER)):
        for value, put in shrinking.changes(recipe):
            # Counts, such as that of clients, cost more the larger they are.
            if value and not isinstance(value, int):
                yield from (put(sign * times * value) for times in scales for sign in (1, -1))


def _nonzero(point: Coordinates) -> Iterator[Coordinates]:
    """States with one more coordinate that is not 0."""
    for i, value in enumerate(point):
        if not value:
            yield from ((*point[:i], other, *point[i + 1 :]) for other in NONZERO)


def _farther(point: Coordinates) -> Iterator[Coordinates]:
    """States farther out: along one coordinate, or all of them."""
    for times in FARTHER if any(point) else ():
        for i, value in enumerate(point):
            if value:
                yield from ((*point[:i], sign * times * value, *point[i + 1 :]) for sign in (1, -1))
        yield tuple(times * value for value in point)


def _translated(case: Case, point: Coordinates) -> Recipe | None:
    """The recipe with functions moved so that a run that begins in these coordinates begins where the paper does.

    Of functions with centres c_i; None where they have none, or runs begin elsewhere.
    """
    recipe = case.recipe
    clients = recipe.get("clients", ())
    problem, state = case.start(as_row(point))
    own = case.statement.algorithm.init(problem, case.params)
    for name in case.setting.drawing.start:
        moved = np.asarray(getattr(state, name) - getattr(own, name))
        moved = moved.reshape(moved.shape[-2:]) if moved.ndim > 2 else moved
        if not all(isinstance(v, int | Fraction) for v in moved.flat):
            # Where the paper begins is enclosed: there are no such fractions.
            continue
        if moved.shape == (len(clients), recipe["d"]) and all(len(c.get("c", ())) == recipe["d"] for c in clients):
            rows = ((c, [Fraction(v) for v in row]) for c, row in zip(clients, moved, strict=True))
            there = tuple({**c, "c": tuple(a - b for a, b in zip(c["c"], row, strict=True))} for c, row in rows)
            return {**recipe, "clients": there}
    return None
