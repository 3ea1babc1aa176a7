"""Loops that run to a letter, as folds: what a loop leaves is a function of its start, its step and its length alone.

The step is read once, with the arrays that it renews as new quantities. By induction over the steps two loops leave the
same if they start alike, are as long, and their steps have one normal form: so what a loop leaves is one new quantity,
named by these three. No more is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedtheory.numbers.rational import exact
from verify.data import arrays, comparing
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.data.space import COUNTS, Space
from verify.reading.terms import Axis
from verify.reading.values import SymbolicRange

#: The prefix of the names of what a step renews, and the name of the rows that clients draw for it.
RENEWED, DRAWN = "renewed ", "drawn for this step"


@dataclass(frozen=True, eq=False)
class Counter:
    """The number of the step of a loop, from 0 to ``end`` - 1: it names what is drawn for this step."""

    end: Array


@dataclass(frozen=True, eq=False)
class Picks:
    """A row of its own for each client and each of ``steps`` steps."""

    steps: Array

    def at(self, items: Sequence[Any]) -> Rows:
        """Return the rows of one step. Raise ``ValueError`` unless it is the step of a loop as long as these."""
        if len(items) != 2 or items[0] is not Ellipsis or not isinstance(items[1], Counter):
            raise ValueError("of what is drawn only the rows of the step of a loop are taken")
        if items[1].end.number() != self.steps.number():
            raise ValueError("a loop is not as long as what is drawn for it")
        return Rows()


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that the clients draw for the step of a loop that is read, each one of its own."""


def taken(space: Space, values: Array, rows: Rows) -> Array:
    """Return, for each client, the entry of the row that it draws: ``(examples, d) -> (K, d)``."""
    if values.axes != (Axis.EXAMPLES, Axis.COORDINATES) or values.mask:
        raise ValueError("rows are taken of something other than a vector for each example")
    drawn = arrays.leaf(space, DRAWN, (Axis.CLIENTS, Axis.EXAMPLES), True, mask=True)
    space.made_of[DRAWN] = (_rows_at, None)
    entries = arrays.multiply(arrays.as_numbers(arrays.inserted(drawn, 2)), arrays.inserted(values, 0))
    return arrays.total(entries, [1], False)


def _rows_at(_: None, there: There) -> Any:
    rows = there.draw[..., there.step]
    return exact((rows[:, None] == np.arange(there.length(Axis.EXAMPLES))).astype(int))


def range_of(space: Space, *ends: Any) -> range | SymbolicRange:
    """Return a range that ends at a number that is written, or at a letter that is a whole number.

    Raise ``ValueError`` for others.
    """
    if ends and all(type(end) is int for end in ends):
        return range(*ends)
    if len(ends) == 1 and isinstance(ends[0], Array):
        whole = {*space.whole, *COUNTS.values()}
        names = {str(symbol): g for symbol, g in zip(space.field.symbols, space.field.gens, strict=True)}
        if any(names[name] == ends[0].number() for name in whole & names.keys()):
            return SymbolicRange(ends[0])
    raise ValueError("a loop ends at something other than a whole number or a letter for one")


def renewed(space: Space, starts: Sequence[Array]) -> tuple[Array, ...]:
    """Return the quantities that stand for what a step renews, in the order given.

    Raise ``ValueError`` for anything but arrays of numbers.
    """
    found = []
    for k, one in enumerate(starts):
        if one.mask:
            raise ValueError("a loop that runs to a letter renews truth values")
        name = f"{RENEWED}{k}: {', '.join(map(str, one.axes))}"
        space.made_of[name] = (_renewed_at, (k, one))
        found.append(arrays.leaf(space, name, one.axes, True))
    return tuple(found)


def _renewed_at(of: tuple[int, Array], there: There) -> Any:
    place, start = of
    return _long(there.renewed[place], start)


def _long(value: Any, of: Array) -> Any:
    """Return the entries of an array without its axes of length 1."""
    return np.squeeze(value, tuple(k for k, axis in enumerate(of.axes) if axis is Axis.ONE))


@dataclass(frozen=True, eq=False)
class Fold:
    """A loop: ``starts``: what it renews, before; ``steps``: the same after a step, of what stands for it before;
    ``count``: how many steps."""

    count: Array
    starts: tuple[Array, ...]
    steps: tuple[Array, ...]

    def run(self, there: There) -> tuple[Any, ...]:
        """Return what the loop leaves at an instance."""
        values = tuple(comparing.evaluated(one, there) for one in self.starts)
        for step in range(int(comparing.evaluated(self.count, there))):
            here = replace(there, renewed=values, step=step)
            values = tuple(comparing.evaluated(one, here) for one in self.steps)
        return values


def _left_at(of: tuple[int, Fold], there: There) -> Any:
    place, fold = of
    return _long(fold.run(there)[place], fold.starts[place])


def folded(space: Space, of: Fold) -> tuple[Array, ...]:
    """Return what a loop leaves. Raise ``ValueError`` if a step changes the axes of something."""
    for before, after in zip(of.starts, of.steps, strict=True):
        if before.axes != after.axes or after.mask:
            raise ValueError("a step of a loop that runs to a letter changes the axes of what it renews")
    written = "; ".join(map(arrays.text, (of.count, *of.starts, *of.steps)))
    found = []
    for k, one in enumerate(of.starts):
        name = f"left {k} by a loop ({written})"
        space.made_of[name] = (_left_at, (k, of))
        found.append(arrays.leaf(space, name, one.axes, True))
    return tuple(found)
