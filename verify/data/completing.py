"""Squares of sums: products that are no squares by themselves are completed, and reciprocals replaced by their least
values and what is left.

With halves h_0, h_1, ... of products and weights w that are not negative, summed over shared indices, c w h_0^2 + sum_k
c_k w h_0 h_k is c w (h_0 + sum_k c_k h_k/(2c))^2 less w (sum_k c_k h_k)^2/(4c): so products with h_0 are eliminated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.data import arrays, squares, sums
from verify.data.arrays import Array
from verify.data.space import SUMMED, Factor, Leaf, Product, Space
from verify.data.squares import Knowledge, Used

#: The reason why a sum is not negative.
OF_A_SUM = "a sum of squares of sums"
#: Squares that are completed, at most.
STEPS = 40


def added_up(of: Array, known: Knowledge) -> tuple[Used, ...] | None:
    """Return sums that are not negative and add up to the entries of an array; None if none are found, which shows
    nothing."""
    found = squares.added_up(of, known) or _completed(dict(of.of), known, [STEPS])
    if found is not None:
        return found
    less, back = _above_least(of, known)
    if not back:
        return None
    found = _completed(dict(less.of), known, [STEPS])
    if found is None:
        return None
    return tuple(Used(one.how, _restored(of.space, one.of, back), one.times) for one in found)


# Reciprocals


def _above_least(of: Array, known: Knowledge) -> tuple[Array, dict[str, tuple[str, Any]]]:
    """Return an array with its reciprocals written as their least values, where a hypothesis bounds what they are of,
    and something that is not negative; and of the names of the latter, those of the reciprocals, and the values."""
    space, back = of.space, dict[str, tuple[str, Any]]()
    for name in sorted({f.name for made in of.of for f in made if f.name in space.reciprocals}):
        least = _least(space, name, known)
        if least is not None:
            axes = space.leaves[name].axes
            rest = f"{name}, less its least value"
            space.leaves[rest] = Leaf(axes, nonnegative=True)
            back[rest] = name, least
            of = arrays.substituted(_called(of, name, rest), rest, Array(space, axes, {(): least}))
    return of, back


def _least(space: Space, name: str, known: Knowledge) -> Any | None:
    """Return the least value of a reciprocal of a + b q, of which it is known that q is at most a number and b is not
    negative; None if it is not known."""
    of = space.reciprocals[name]
    for bound in known.bounded:
        if bound.of.axes == of.axes and len(bound.of.of) == 1:
            ((part, one),) = bound.of.of.items()
            rest = set(of.of) - {()}
            if rest == {part} and () in of.of and one == space.field.one and known.is_nonnegative(of.of[part]):
                return 1 / (of.of[()] + of.of[part] * space.field(bound.number))
    return None


def _called(of: Array, name: str, other: str) -> Array:
    """Return an array with another name for a quantity."""
    found: dict[Product, Any] = {}
    for made, c in of.of.items():
        for again, b in sums.canonical(of.space, [f._replace(name=other) if f.name == name else f for f in made]):
            found[again] = found.get(again, of.space.field.zero) + b * c
    return Array(of.space, of.axes, {made: c for made, c in found.items() if c}, of.batched)


def _restored(space: Space, of: Mapping[Product, Any], back: Mapping[str, tuple[str, Any]]) -> Mapping[Product, Any]:
    """Return a sum of no free indices with reciprocals in place of what they are above their least values."""
    one = Array(space, (), of)
    for rest, (name, least) in back.items():
        less = Array(space, space.leaves[rest].axes, {(): -least})
        one = arrays.substituted(_called(one, rest, name), name, less)
    return one.of


# Squares


@dataclass(frozen=True)
class _Halves:
    """A square: ``weights``, which are not negative, times a half twice, whose own indices are ``own``."""

    weights: tuple[Factor, ...]
    half: tuple[Factor, ...]
    own: frozenset[int]

    def times(self, space: Space, one: tuple[Factor, ...], other: tuple[Factor, ...]) -> dict[Product, Any]:
        """Return the product of two halves, with the weights."""
        shared = {i for f in (*self.weights, *self.half) for i in f.at} - self.own
        factors = [*self.weights]
        for k, half in enumerate((one, other), 1):
            factors += sums.renamed(
                half, {i: i + 20 * k * SUMMED for f in half for i in f.at if i >= SUMMED and i not in shared}
            )
        return dict(sums.canonical(space, factors))


def _completed(left: dict[Product, Any], known: Knowledge, steps: list[int]) -> tuple[Used, ...] | None:
    """Return sums that are not negative and add up to a sum."""
    space, one = known.space, known.space.field.one
    crosses = [p for p in left if not squares.is_nonnegative(space, p)]
    if not crosses:
        if not all(known.is_nonnegative(c) for c in left.values()):
            return None
        return tuple(Used(squares.SQUARE, {p: one}, c) for p, c in left.items())
    for pivot, c in left.items():
        if pivot in crosses or not known.is_positive(c):
            continue
        for halves in _halves(space, pivot):
            others = {m: b for m in crosses if (b := _other_half(space, halves, m)) is not None}
            if crosses[0] not in others:
                continue
            if any(square not in left for half in others.values() for square in halves.times(space, half, half)):
                # A square that is subtracted would be left alone.
                continue
            steps[0] -= 1
            if steps[0] < 0:
                return None
            square = {pivot: one}
            less: dict[Product, Any] = {}
            for m, half in others.items():
                square = sums.added(square, {m: left[m] / c})
                for m2, half2 in others.items():
                    share = left[m] * left[m2] / (4 * c * c)
                    less = sums.added(less, sums.scaled(halves.times(space, half, half2), share))
            whole = sums.added(square, less)
            used = _completed(sums.added(left, sums.scaled(whole, -c)), known, steps)
            if used is not None:
                return (Used(OF_A_SUM, whole, c), *used)
    return None


def _halves(space: Space, one: Product) -> Iterator[_Halves]:
    """Yield the ways in which a product is a square of halves that are not numbers, times weights."""
    for names in squares.exchanges(space, one):
        first = {i for i in names if i < names[i]}
        fixed = [f for f in one if not any(i in names for i in f.at)]
        weights = tuple(f for f in fixed if space.is_weight(f.name))
        even = [f for f in fixed if f not in weights]
        half = (*(f._replace(power=f.power // 2) for f in even), *(f for f in one if any(i in first for i in f.at)))
        if half:
            yield _Halves(weights, half, frozenset(first))


def _other_half(space: Space, halves: _Halves, one: Product) -> tuple[Factor, ...] | None:
    """Return what a product has beside weights and a half, with the indices that they share; None if it has not
    both."""
    for names, rest in _matched([*halves.weights, *halves.half], list(one), {}, len(halves.weights)):
        back = {there: here for here, there in names.items()}
        if any(names.get(i) == j for f in rest for j in f.at for i in halves.own):
            continue
        fresh = {j: j + 50 * SUMMED for f in rest for j in f.at if j >= SUMMED and j not in back}
        found = tuple(sums.renamed(rest, {**fresh, **{j: i for j, i in back.items() if j >= SUMMED}}))
        if halves.times(space, halves.half, found) == {one: space.field.one}:
            return found
    return None


def _matched(
    pattern: list[Factor], among: list[Factor], names: dict[int, int], whole: int
) -> Iterator[tuple[dict[int, int], list[Factor]]]:
    """Yield the indices of a pattern within a product, and the factors beside it. ``whole``: so many factors of the
    pattern have the power of those that they are."""
    if not pattern:
        yield names, among
        return
    first, *more = pattern
    for k, f in enumerate(among):
        if f.name != first.name or (f.power != first.power if whole > 0 else f.power < first.power):
            continue
        found = dict(names)
        if not all(found.setdefault(i, j) == j for i, j in zip(first.at, f.at, strict=True)):
            continue
        # Free indices and written numbers are what they are, and two indices are not one.
        if any(i != j for i, j in found.items() if min(i, j) < SUMMED) or len(set(found.values())) < len(found):
            continue
        left = [f._replace(power=f.power - first.power)] if f.power > first.power else []
        yield from _matched(more, [*among[:k], *left, *among[k + 1 :]], found, whole - 1)
