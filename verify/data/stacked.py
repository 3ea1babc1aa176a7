"""Arrays side by side on one of their axes: what is done entry by entry is done to each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from verify.data import arrays
from verify.data.arrays import Array
from verify.data.space import Space
from verify.reading.terms import Axis


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Arrays side by side; ``axis``: on which of their axes, counted from the last."""

    parts: tuple[Array, ...]
    axis: int

    def lengths(self) -> list[Any]:
        """Return the lengths of the parts along their axis, as elements of the field."""
        space = self.parts[0].space
        along = [part.axes[self.axis] for part in self.parts]
        return [space.field.one if axis is Axis.ONE else space.count(axis) for axis in along]


@dataclass(frozen=True)
class Sizes:
    """The shape of arrays side by side."""

    of: SideBySide

    def length(self, place: Any) -> Array:
        """Return the length of the axis of the parts."""
        if type(place) is not int or place != self.of.axis:
            raise ValueError("of arrays side by side the length of another axis is asked for")
        return arrays.letter(self.of.parts[0].space, sum(self.of.lengths()))


def concatenated(space: Space, parts: Any, axis: Any = 0) -> SideBySide:
    """Put arrays side by side, as numpy's ``concatenate`` does."""
    given = parts if type(parts) is tuple else ()
    if any(isinstance(part, SideBySide) and part.axis != axis for part in given):
        raise ValueError("arrays side by side are put beside others along another axis")
    flat = [one for part in given for one in (part.parts if isinstance(part, SideBySide) else (part,))]
    made = tuple(arrays.of(space, part) for part in flat)
    if not made or type(axis) is not int or axis not in (-1, -2, -3) or any(len(a.axes) < -axis for a in made):
        raise ValueError("concatenate is not applied to arrays along an axis of theirs")
    others = {tuple(a for k, a in enumerate(reversed(one.axes), 1) if k != -axis) for one in made}
    if len(others) > 1 or len({one.batched for one in made}) > 1 or any(one.mask for one in made):
        raise ValueError("concatenated arrays differ in other axes")
    return SideBySide(made, axis)


def stacked(space: Space, parts: Any, axis: Any = 0) -> SideBySide:
    """Put arrays side by side on a new axis, as numpy's ``stack`` does."""
    if type(axis) is not int or axis not in (-1, -2, -3):
        raise ValueError("arrays are stacked on an axis before the last three")
    made = [arrays.of(space, part) for part in parts] if type(parts) is tuple else []
    if any(len(one.axes) < -axis - 1 for one in made):
        raise ValueError("stacked arrays have too few axes")
    return concatenated(space, tuple(arrays.inserted(one, len(one.axes) + axis + 1) for one in made), axis)


def combined(by: Callable[..., Array], *given: Any) -> Any:
    """Return the result of an operation, entry by entry, on values of which some may be arrays side by side: the same
    of their parts, where all others have length 1 along the axis of the parts."""
    several = [one for one in given if isinstance(one, SideBySide)]
    if not several:
        return by(*given)
    like = several[0]
    for one in several[1:]:
        if one.axis != like.axis or _along(one) != _along(like):
            raise ValueError("arrays side by side are combined with others of other lengths")
    for one in given:
        if isinstance(one, Array) and len(one.axes) >= -like.axis and one.axes[like.axis] is not Axis.ONE:
            raise ValueError("arrays side by side are combined with one along their axis")
    parts = [
        by(*(one.parts[k] if isinstance(one, SideBySide) else one for one in given)) for k in range(len(like.parts))
    ]
    if [part.axes[like.axis] for part in parts] != _along(like):
        raise ValueError("arrays side by side become longer along their axis")
    return SideBySide(tuple(parts), like.axis)


def _along(one: SideBySide) -> list[Axis]:
    return [part.axes[one.axis] for part in one.parts]


def cut(one: SideBySide, items: Sequence[Any]) -> Any:
    """Return the parts between two places along their axis; ``items``: an index that starts with ..., with slices as
    pairs of their ends."""
    if (
        not items
        or items[0] is not Ellipsis
        or len(items) - 1 < -one.axis
        or any(type(i) is not tuple for i in items[1:])
    ):
        raise ValueError("of arrays side by side an index is taken that is not [..., from:to, :]")
    if any(item != (None, None) for k, item in enumerate(items[1:], 1 - len(items)) if k != one.axis):
        raise ValueError("of arrays side by side a part is taken along another axis")
    field, ends = one.parts[0].space.field, [one.parts[0].space.field.zero]
    for length in one.lengths():
        ends.append(ends[-1] + length)
    lower, upper = items[one.axis]
    first, last = (
        _place(ends, default if end is None else field(end) if type(end) is int else end.number())
        for end, default in ((lower, ends[0]), (upper, ends[-1]))
    )
    if not first < last:
        raise ValueError("of arrays side by side nothing is taken")
    parts = one.parts[first:last]
    return parts[0] if len(parts) == 1 else SideBySide(parts, one.axis)


def _place(ends: list[Any], end: Any) -> int:
    if end not in ends:
        raise ValueError("arrays side by side are cut where no part ends")
    return ends.index(end)


def total(one: SideBySide, axis: Any = None, keepdims: Any = False) -> Array:
    """Return the sum along the axis of the parts."""
    if type(axis) is not int or axis != one.axis or type(keepdims) is not bool:
        raise ValueError("arrays side by side are added along another axis")
    sums = [arrays.total(part, arrays.from_last(part, axis), keepdims) for part in one.parts]
    found = sums[0]
    for more in sums[1:]:
        found = arrays.add(found, more)
    return found
