"""Sums of squares, and Cauchy and Schwarz's inequality: that a formal sum is not negative, whatever the data.

A product is a square for each value of some indices if exchanging the other ones in pairs leaves it as it is: it is
(sum of halves)^2, times factors that are not negative. If a half is summed over clients k by an index of its own, the
square is at most the number of clients times the sum over k of the squares; or, where each half has a mask, times any
bound of how many clients the mask is 1 of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.data import sums
from verify.data.arrays import Array, AtMost
from verify.data.space import OWNED, SUMMED, Factor, Product, Space, same
from verify.reading.terms import Axis

#: Eliminations of negative products that are tried, at most.
STEPS = 40


@dataclass(frozen=True)
class Fact:
    """The most clients for which a mask is 1, for each feature: ``bound``, an element of the field; ``mask``: the name
    of the mask, whose indices are a client and a feature."""

    bound: Any
    mask: str


@dataclass(frozen=True)
class Knowledge:
    """The facts that signs rest on: ``is_nonnegative(c)``, ``is_positive(c)`` decide the sign of an element of the
    field.

    ``given``: sums that the hypotheses assert to be at least 0; ``bounded``: arrays of which they assert that the
    entries are at most a number.
    """

    space: Space
    is_nonnegative: Callable[[Any], bool]
    is_positive: Callable[[Any], bool]
    facts: tuple[Fact, ...] = ()
    given: tuple[Mapping[Product, Any], ...] = ()
    bounded: tuple[AtMost, ...] = ()


@dataclass(frozen=True)
class Used:
    """A sum that is not negative, ``of``, how that is known, and how often it is added: ``times``, not negative."""

    how: str
    of: Mapping[Product, Any]
    times: Any


#: The reasons why sums are not negative.
SQUARE, HYPOTHESIS, CAUCHY_SCHWARZ = "a sum of squares", "a hypothesis", "the inequality of Cauchy and Schwarz"


def added_up(of: Array, known: Knowledge) -> tuple[Used, ...] | None:
    """Return sums that are not negative and add up to the entries of an array; None if none are found, which shows
    nothing."""
    return _shown(dict(of.of), known, [STEPS])


def _shown(left: dict[Product, Any], known: Knowledge, steps: list[int]) -> tuple[Used, ...] | None:
    negative = next(
        (p for p, c in left.items() if not (known.is_nonnegative(c) and is_nonnegative(known.space, p))), None
    )
    one = known.space.field.one
    if negative is None:
        return tuple(Used(SQUARE, {p: one}, c) for p, c in left.items())
    c = left[negative]
    if not known.is_nonnegative(-c):
        return None
    for fact in known.given:
        b = fact.get(negative, known.space.field.zero)
        if b and known.is_nonnegative(-b):
            used = _shown(sums.added(left, sums.scaled(fact, -c / b)), known, steps)
            if used is not None:
                return (Used(HYPOTHESIS, fact, c / b), *used)
    for more, bound in _larger(negative, known):
        steps[0] -= 1
        if steps[0] < 0:
            return None
        # c p = -c (bound p' - p) + c bound p'.
        rest = {p: b for p, b in left.items() if p != negative}
        total = rest.get(more, known.space.field.zero) + c * bound
        rest = {**rest, more: total} if total else {p: b for p, b in rest.items() if p != more}
        used = _shown(rest, known, steps)
        if used is not None:
            return (Used(CAUCHY_SCHWARZ, sums.added({more: bound}, {negative: -one}), -c), *used)
    return None


def is_nonnegative(space: Space, one: Product) -> bool:
    """Return True if a product is a square, for each value of some indices, times factors that are not negative."""
    summed_over = any(True for _ in sums.indices(one))
    return (not summed_over and _is_weight(space, one)) or any(True for _ in exchanges(space, one))


def _is_weight(space: Space, factors: Iterable[Factor]) -> bool:
    """Return True if factors are not negative."""
    return all(space.is_weight(f.name) or f.power % 2 == 0 for f in factors)


def exchanges(space: Space, one: Product) -> Iterator[dict[int, int]]:
    """Yield the exchanges of summed indices in pairs that show a product to be a square, each both ways."""
    ranges = {i: axis for f in one for i, axis in zip(f.at, space.axes(f.name), strict=True) if i >= SUMMED}
    for names in _pairings(sorted(ranges), ranges):
        fixed = [f for f in one if not any(i in names for i in f.at)]
        apart = [f for f in one if f not in fixed]
        turned = sums.renamed(apart, names)
        if sorted(turned) == sorted(apart) and _apart(apart, names) and _is_weight(space, fixed):
            yield names


def _pairings(places: list[int], ranges: dict[int, Axis]) -> Iterator[dict[int, int]]:
    """Yield all ways to exchange some indices of the same range in pairs."""
    if not places:
        yield {}
        return
    first, *rest = places
    yield from _pairings(rest, ranges)
    for other in (i for i in rest if ranges[i] is ranges[first]):
        for more in _pairings([i for i in rest if i != other], ranges):
            yield {first: other, other: first, **more}


def _apart(factors: list[Factor], names: dict[int, int]) -> bool:
    """Return True if no index stands together with the one that it is exchanged with, in a factor or through others."""
    for i in names:
        joined = {i}
        while True:
            more = {k for f in factors if joined & set(f.at) for k in f.at if k in names}
            if more <= joined:
                break
            joined |= more
        if names[i] in joined:
            return False
    return True


def _larger(one: Product, known: Knowledge) -> Iterator[tuple[Product, Any]]:
    """Yield products, each with a number such that the given square is at most the number times the product."""
    space = known.space
    ranges = {i: axis for f in one for i, axis in zip(f.at, space.axes(f.name), strict=True)}
    for names in exchanges(space, one):
        shared = [j for j, axis in ranges.items() if j not in names and axis is Axis.COORDINATES]
        for parts, k in _by_client(one, names, ranges):
            if (merged := _single(space, [*parts, same(Axis.CLIENTS, k, k + 1)])) is None:
                continue
            for fact in known.facts:
                if any(_single(space, [*parts, Factor(fact.mask, (k, j))]) == _single(space, parts) for j in shared):
                    yield merged, fact.bound
            yield merged, space.count(Axis.CLIENTS)


def _by_client(one: Product, names: dict[int, int], ranges: dict[int, Axis]) -> Iterator[tuple[list[Factor], int]]:
    """Yield the factors of a square, and a client k of one half that belongs to k + 1 of the other: a client that it is
    summed over, or that of an example that it is summed over."""
    owned = {f.at[0]: f.at[1] for f in one if f.name == OWNED}
    k = 9 * SUMMED
    for i in (i for i in names if i < names[i]):
        if ranges[i] is Axis.CLIENTS:
            yield sums.renamed(one, {i: k, names[i]: k + 1}), k
        elif ranges[i] is Axis.EXAMPLES and i not in owned:
            yield [*one, Factor(OWNED, (i, k)), Factor(OWNED, (names[i], k + 1))], k


def _single(space: Space, factors: list[Factor]) -> Product | None:
    """Return the canonical form of a product; None if it is a sum of several."""
    found = sums.canonical(space, factors)
    return found[0][0] if len(found) == 1 and found[0][1] == space.field.one else None
