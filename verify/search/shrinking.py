"""Smaller counterexamples: fewer clients, smaller dimensions, simpler numbers, then simpler states.

None of them convinces less than the one that it is made from (:mod:`verify.search.convincing`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.rational import to_float
from verify.base.case import Case
from verify.base.evaluate import has_rounds, hypotheses_hold, sides
from verify.base.faults import attributed
from verify.comparisons.exact import ROUNDS, Coordinates
from verify.evidence.counterexamples import Counterexample
from verify.search import refutation
from verify.search.convincing import EXCESS, complexity, length, rank, size, values
from verify.search.states import too_many, violation

#: Numbers beyond it, and their inverses, are bisected.
MODERATE = 10
#: Attempts at a simpler state, and how much farther out than a known one others are tried.
STATES, OUTWARDS = 200, (1, 10, 1000)
#: Denominators of the numbers near a coordinate that are tried for it, at most.
DENOMINATORS = (1, 2, 3, 4, 6, 10)

#: States of which floats are asked at once, and how far apart sides are, relative to both, where floats are believed.
BATCH, NEAR = 32, 1e-6

#: Fractions of this length are rounded to simple ones near them too.
LONG = 100

#: A function that finds the counterexample at a recipe, if there is one.
Again = Callable[[Case], Counterexample | None]


def smallest(
    counterexample: Counterexample,
    tries: int = 400,
    again: Again = violation,
) -> Counterexample:
    """A simpler counterexample to the same claim: fewer clients, smaller dimension, simpler rationals.

    Greedy: a simplification is kept when it still violates the claim exactly; where none does, large numbers and small
    ones are bisected. ``tries`` bounds the attempts. ``again(case)``: the counterexample at a recipe, if there
    is one. Unless it is given the state that was found is tried as well where no worst state is found, and is made
    simple in the end.
    """
    left = iter(range(tries))
    if again is not violation or counterexample.rounds > ROUNDS[-1]:
        return _simplest_instance(counterexample, left, lambda like: again)
    while True:
        found = _simplest_instance(counterexample, left, lambda like: partial(_found, like=like))
        counterexample = simplest_state(found, min(tries, STATES)) if found.point else found
        if counterexample is found:
            return counterexample


def _simplest_instance(
    counterexample: Counterexample, left: Iterator[int], at: Callable[[Counterexample], Again]
) -> Counterexample:
    """``at(example)``: what finds the next counterexample at a simpler recipe than that of the example."""
    best: Counterexample | None = counterexample
    while best is not None:
        counterexample = best
        offers = chain(best.claim.instances.simpler(best.recipe), _simpler(best.recipe))
        best = _first(best, offers, left, at(best)) or _bisected(best, left, at(best))
    return counterexample


def _found(case: Case, like: Counterexample) -> Counterexample | None:
    """The counterexample at a worst state of a recipe, or at that of a known one, or farther out, if there is one.

    A worst state takes longest to find, and is looked for where any ratio will do. Where the recipe has fewer
    coordinates, as without one of the clients, the state is that of the others.
    """
    least = rank(like)
    points = list(_of_others(like.point, case.dimension))
    outwards = (tuple(scale * v for v in point) for point in points for scale in (OUTWARDS if any(point) else (1,)))
    at = (at_state(case, point, like.rounds) for point in outwards)
    worst = (violation(case) for _ in range(not points or least.narrow == len(EXCESS)))
    return next((found for found in chain(worst, at) if found is not None and rank(found) <= least), None)


def _of_others(point: Coordinates, size: int) -> Iterator[Coordinates]:
    """The points of so many coordinates that are left where those of one client, one block of as many, are gone."""
    gone = len(point) - size
    if gone == 0:
        yield point
    elif gone > 0:
        yield from dict.fromkeys(point[:i] + point[i + gone :] for i in range(0, size + 1, gone))


def at_state(case: Case, point: Coordinates, rounds: int) -> Counterexample | None:
    """The counterexample at a state of an instance that meets the hypotheses, if it is one."""
    case = case.anew()
    if case.dimension != len(point) or not hypotheses_hold(case):
        return None
    if too_many(case) or not has_rounds(case, max(1, rounds)):
        return None
    return refutation.refute(case, point, rounds)


def simplest_state(counterexample: Counterexample, tries: int = STATES) -> Counterexample:
    """The counterexample of the same instance with a state of more zeros and simpler numbers: greedy, as before."""
    left = iter(range(tries))
    best: Counterexample | None = counterexample
    while best is not None:
        counterexample = best
        best = _first_state(best, _simpler_states(best.point), left) or _bisected_state(best, left)
    return counterexample


def _first_state(best: Counterexample, offers: Iterable[Coordinates], left: Iterator[int]) -> Counterexample | None:
    bound, least = size(best.point), rank(best)
    simpler = (point for point in offers if size(point) < bound)
    while batch := list(islice(simpler, BATCH)):
        for point, suspect in zip(batch, _suspects(best, batch), strict=True):
            if next(left, None) is None:
                return None
            try:
                found = at_state(best.case, point, best.rounds) if suspect else None
            except (ValueError, ArithmeticError):
                continue
            # A state that is solved for need not be as simple as that from which it is.
            if found is not None and found.part == best.part and size(found.point) < bound and rank(found) <= least:
                return found
    return None


def _suspects(best: Counterexample, points: list[Coordinates]) -> list[bool]:
    """The states at which the inequality may fail: floats leave out those at which it holds by far, all at once."""
    everywhere = [True] * len(points)
    if not best.part.isdigit() or best.relation == "==" or len({len(point) for point in points}) != 1:
        return everywhere
    claim = best.claim
    try:
        with np.errstate(all="ignore"):
            found = sides(Case(claim, best.recipe, exact=False), np.array(points, dtype=float), best.rounds)
            left, right = (to_float(np.asarray(side)) for side in found[int(best.part)])
    except (ValueError, ArithmeticError, TypeError, AttributeError, LookupError):
        # Cases that floats do not decide are evaluated in fractions.
        return everywhere
    if left.shape != (len(points),) or right.shape != left.shape:
        return everywhere
    holds = left < right - NEAR * (abs(left) + abs(right))
    return [not sure for sure in holds.tolist()]


def _bisected_state(best: Counterexample, left: Iterator[int]) -> Counterexample | None:
    """As :func:`_bisected`, of the coordinates of the state."""
    for index, value in enumerate(best.point):
        found, (low, high, number) = None, _scale(value)
        while high - low > 1:
            middle = (low + high) // 2
            point = (*best.point[:index], number(middle), *best.point[index + 1 :])
            smaller = _first_state(found or best, [point], left)
            low, high, found = (middle, high, found) if smaller is None else (low, middle, smaller)
        if found is not None:
            return found
    return None


def _simpler_states(point: Coordinates) -> Iterator[Coordinates]:
    """Simplifications of a state, boldest first: fewer coordinates, integers, simpler numbers."""
    zero = Fraction(0)
    if len(point) > 1:
        for i, value in enumerate(point):
            yield tuple(value if j == i else zero for j in range(len(point)))
    for i in range(len(point)):
        yield (*point[:i], zero, *point[i + 1 :])
    whole = math.lcm(*(v.denominator for v in point))
    common = math.gcd(*(int(v * whole) for v in point)) or 1
    yield tuple(v * whole / common for v in point)
    yield tuple(Fraction((v > 0) - (v < 0)) for v in point)
    yield tuple(Fraction(round(v)) for v in point)
    for i, value in enumerate(point):
        sign = -1 if value < 0 else 1
        near = (abs(value).limit_denominator(most) for most in DENOMINATORS)
        for simple in (*_simpler_numbers(abs(value)), *near):
            yield (*point[:i], sign * simple, *point[i + 1 :])
        if value < 0:
            yield (*point[:i], -value, *point[i + 1 :])


def _first(
    best: Counterexample,
    offers: Iterable[Recipe],
    left: Iterator[int],
    again: Again,
) -> Counterexample | None:
    """The first counterexample among the offers that are simpler than the best one, while attempts are left."""
    bound, least = complexity(best.recipe), rank(best)
    for candidate in offers:
        if complexity(candidate) < bound:
            if next(left, None) is None:
                return None
            found = _attempt(best.claim, candidate, again)
            if found is not None and rank(found) <= least:
                return found
    return None


#: Halvings of an interval at most, and integers from which on it is their numbers of digits that are halved.
_HALVINGS, _VAST = 100, 2**60


def _bisected(best: Counterexample, left: Iterator[int], again: Again) -> Counterexample | None:
    """A counterexample in which a large number is smaller, or a small one larger; None where bisection finds none.

    Nothing says that what lies between two counterexamples is one: each that is kept was tried.
    """
    for value, put in changes(best.recipe):
        found, (low, high, number) = None, _scale(value)
        for _ in range(_HALVINGS):
            if high - low <= 1:
                break
            middle = max(low + 1, math.isqrt(low * high)) if high >= _VAST else (low + high) // 2
            smaller = _first(found or best, [put(number(middle))], left, again)
            low, high, found = (middle, high, found) if smaller is None else (low, middle, smaller)
        if found is not None:
            return found
    return None


def _scale(value: Any) -> tuple[int, int, Callable[[int], Any]]:
    """(low, high, number): the value is number(high) or nearly so, and the integers between are simpler ones."""
    sign, size = (-1 if value < 0 else 1), abs(value)
    if size > MODERATE:
        return MODERATE, math.ceil(size), lambda m: type(value)(sign * m)
    if 0 < size * MODERATE < 1:
        return MODERATE, math.ceil(1 / size), lambda m: Fraction(sign, m)
    return 0, 0, Fraction


def _attempt(claim: Claim, candidate: Recipe, again: Again) -> Counterexample | None:
    try:
        with attributed(claim, candidate):
            return again(Case(claim, candidate))
    except (ValueError, ArithmeticError):
        # The method does not run at these numbers, which no hypothesis excludes.
        return None


def _simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Simplifications of a recipe, boldest first."""
    clients = recipe.get("clients", ())
    for i in range(len(clients)):
        yield {**recipe, "clients": clients[:i] + clients[i + 1 :]}
    if (d := _dimension(recipe)) is not None and d > 1:
        yield _shorter(recipe, d)
    for value, put in changes(recipe):
        for simple in _simpler_numbers(value):
            yield put(simple)


def changes(recipe: Recipe) -> Iterator[tuple[Any, Callable[[Any], Recipe]]]:
    """The numbers of a recipe, with what puts others in their places: in those of all equal ones, then one by one."""
    # The dimension goes with the lengths of the vectors.
    free = {key: value for key, value in recipe.items() if key != "d" or _dimension(recipe) is None}
    numbers = {(type(v), v) for v in values(free) if isinstance(v, int | Fraction)}
    for _, value in sorted(numbers, key=lambda pair: (-length(pair[1]), pair[1], pair[0] is int)):
        yield value, partial(_everywhere, recipe, free, value)
    for path in _paths(free):
        if isinstance(value := _at(recipe, path), int | Fraction):
            yield value, partial(_put, recipe, path)


def _everywhere(recipe: Recipe, free: Recipe, old: Any, new: Any) -> Recipe:
    return {**recipe, **_replace(free, old, new)}


def _dimension(recipe: Recipe) -> int | None:
    """The dimension of the recipe's vectors; None where it has none, and d is a letter like others."""
    d = recipe.get("d")
    return d if isinstance(d, int) and ("clients" in recipe or _has_length(recipe, d)) else None


def _has_length(value: Any, d: int) -> bool:
    if isinstance(value, dict):
        return any(_has_length(v, d) for v in value.values())
    return isinstance(value, tuple) and (len(value) == d or any(_has_length(v, d) for v in value))


def _simpler_numbers(value: Any) -> Iterator[Any]:
    options: tuple[Any, ...]
    if isinstance(value, int):
        options = (0, 1, 2, 3, 4, 10, value // 2, value - 1)
    else:
        options = (
            *(Fraction(v) for v in (0, 1, 2, 3, 4, 10)),
            Fraction(1, 2),
            Fraction(round(value)),
            Fraction(value) / 10,
            *(_rounded(value) if length(value) > LONG else ()),
        )
    for option in options:
        if length(option) < length(value):
            yield option


def _rounded(value: Fraction) -> Iterator[Fraction]:
    """Numbers on either side of a long one, as a bound may have it on one side only."""
    for denominator in DENOMINATORS:
        yield Fraction(math.floor(value * denominator), denominator)
        yield Fraction(math.ceil(value * denominator), denominator)


def _shorter(value: Any, d: int) -> Any:
    """The recipe in dimension d - 1: every vector of length d loses its last entry."""
    if isinstance(value, dict):
        return {
            key: d - 1 if key == "d" else _shorter(v, d) if key != "clients" else tuple(_shorter(c, d) for c in v)
            for key, v in value.items()
        }
    if isinstance(value, tuple) and len(value) == d:
        return value[:-1]
    return value


def _replace(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace(v, old, new) for key, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_replace(v, old, new) for v in value)
    return new if type(value) is type(old) and value == old else value


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, v in value.items():
            yield from _paths(v, (*path, key))
    elif isinstance(value, tuple):
        for i, v in enumerate(value):
            yield from _paths(v, (*path, i))
    else:
        yield path


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: _put(value[key], rest, new)}
    return (*value[:key], _put(value[key], rest, new), *value[key + 1 :])
