"""Functions of single vectors, asked at the rows of an array: of an answer no more is known than that it is the same at
the same row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify.data import arrays
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.reading.terms import Axis


def answers(x: Array, what: str, at: Callable[[Array, There], Any], own: bool = False) -> Array:
    """Return what is answered at the vectors along the last axis; ``at``: the same at an instance. ``own``: True if
    each client, along the axis before the last, has a function of its own."""
    alone, kept = without_idle_axes(x, own)
    name = f"{what} ({arrays.text(alone)})"
    x.space.made_of[name] = (at, alone)
    return again(arrays.leaf(x.space, name, alone.axes, alone.batched), kept, x)


def without_idle_axes(one: Array, own: bool = False) -> tuple[Array, tuple[int, ...]]:
    """Return vectors along the axes on which they depend, and the places of these; ``own``: those of clients stay."""
    if one.mask or one.axes[-1:] != (Axis.COORDINATES,):
        raise ValueError("a function is asked at something other than vectors")
    used = {i for made in one.of for f in made for i in f.at}
    last = len(one.axes) - 1
    kept = (*(k for k in range(last) if k in used or (own and k == last - 1)), last)
    entries = arrays.moved(one.space, one.of, {old: new for new, old in enumerate(kept)})
    return Array(one.space, tuple(one.axes[k] for k in kept), entries, one.batched), kept


def again(found: Array, kept: tuple[int, ...], like: Array) -> Array:
    """Return vectors at all places of the array from which idle axes were left out."""
    for place in range(len(like.axes)):
        if place not in kept:
            found = arrays.inserted(found, place)
    return arrays.spread(found, like.axes, like.batched)
