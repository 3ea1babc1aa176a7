"""Functions of any kind on nodes in index notation: as many as there are, dealt out in any way.

Of a gradient nothing is known but that it is a function of the points at which it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedtheory.instances import Instance
from fedtheory.learning.lower_bounds import Examples
from verify.data import arrays, comparing, folds
from verify.data.arrays import Array, Owners
from verify.data.comparing import There
from verify.data.folds import Picks, Rows
from verify.data.space import SIZE, Space
from verify.reading.terms import Axis
from verify.reading.values import Made, Named, Rule

#: The name of a problem's functions.
FUNCTIONS = "the functions"


def dealt_out(instances: Sequence[Instance]) -> str | None:
    """Return the name of the parameter that says how many functions each node holds, where all are held at all
    instances; None if there is no such parameter, or more than one."""
    names: tuple[str, ...] = type(instances[0].params)._fields
    found = [name for name in names if all(_are_sizes(getattr(i.params, name), i.problem.n) for i in instances)]
    return found[0] if len(found) == 1 else None


def _are_sizes(value: Any, count: int) -> bool:
    whole = type(value) is tuple and all(type(size) is int and size > 0 for size in value)
    return whole and bool(sum(value) == count)


def problem(space: Space) -> Named:
    """Return the symbolic problem of functions of which nothing is known but that they have gradients."""
    count, d = (arrays.letter(space, space.count(axis)) for axis in (Axis.EXAMPLES, Axis.COORDINATES))
    functions = Named(FUNCTIONS, {"n": count, "d": d, "gradient": Rule("gradient", lambda x: _gradient(space, x))})
    x_star = arrays.leaf(space, "x_star", (Axis.COORDINATES,))
    return Named("the problem", {"f": functions, "n": count, "d": d, "x_star": x_star})


def _gradient(space: Space, x: Any) -> Array:
    one = arrays.of(space, x)
    if one.axes != (Axis.EXAMPLES, Axis.COORDINATES) or one.mask:
        raise ValueError("gradients are taken at something other than a point for each function")
    found = arrays.opaque(one, "the gradients at")
    ((factor,),) = found.of
    space.made_of[factor.name] = (_gradient_at, one)
    return found


def _gradient_at(of: Array, there: There) -> Any:
    return there.problem.f.gradient(comparing.evaluated(of, there))


def examples(space: Space, f: Any, sizes: Any) -> Made:
    """Return functions on nodes, as :class:`fedtheory.learning.lower_bounds.Examples` makes them."""
    if not isinstance(f, Named) or f.what != FUNCTIONS or not _is_sizes(space, sizes):
        raise ValueError("functions are dealt out in another way than by how many each node holds")
    n, d = (arrays.letter(space, space.count(axis)) for axis in (Axis.CLIENTS, Axis.COORDINATES))
    fields: dict[str, Any] = {
        "f": f,
        "sizes": sizes,
        "share": "own",
        "n": n,
        "d": d,
        "owner": Owners((Axis.EXAMPLES,)),
        "per_node": Rule("per_node", lambda values: _means(space, arrays.of(space, values))),
        "taken": Rule("taken", lambda every, rows: _taken(space, arrays.of(space, every), rows)),
    }
    return Made(Examples, fields)


def _is_sizes(space: Space, sizes: Any) -> bool:
    return isinstance(sizes, Array) and sizes == arrays.leaf(space, SIZE, (Axis.CLIENTS,))


def _means(space: Space, values: Array) -> Array:
    """Means over the functions of each node: ``(..., examples, d) -> (..., K, d)``."""
    if values.axes[-2:] != (Axis.EXAMPLES, Axis.COORDINATES):
        raise ValueError("means over the functions of each node are taken of something else")
    sizes = arrays.inserted(arrays.leaf(space, SIZE, (Axis.CLIENTS,)), 1)
    return arrays.divide(arrays.within(values, len(values.axes) - 2), sizes)


def _taken(space: Space, every: Array, rows: Any) -> Array:
    if not isinstance(rows, Rows):
        raise ValueError("rows are taken that are not those of the step of a loop")
    return folds.taken(space, every, rows)


def picks(space: Space, sizes: Any, steps: Any) -> Picks:
    """Return rows of each client, as :class:`fedtheory.algorithms.selections.ClientPicks` draws them."""
    if not _is_sizes(space, sizes):
        raise ValueError("rows are picked of others than the clients' own")
    return Picks(arrays.of(space, steps))
