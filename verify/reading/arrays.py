"""Arrays in code that is read: whole axes are indexed, summed and measured; no entry is singled out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from verify.reading import terms
from verify.reading.terms import Axis, Op, Term
from verify.reading.values import Owners, Rule, Shape, describe

#: The name of the number of examples.
EXAMPLES = "f.examples"


#: The symbols of the lengths of axes.
_LENGTHS = {
    Axis.ONE: (Op.CONSTANT, "1"),
    Axis.CLIENTS: (Op.COUNT, "n"),
    Axis.COORDINATES: (Op.COUNT, "d"),
    Axis.EXAMPLES: (Op.GIVEN, EXAMPLES),
}


def as_term(value: Any) -> Term:
    """Return a term, or the number that is written as one. Raise ``ValueError`` for anything else."""
    if isinstance(value, Term):
        return value
    if type(value) in (int, bool, Fraction):
        return terms.constant(value)
    raise ValueError(f"{describe(value)} is neither a number nor an array")


def axis_of(length: Any) -> Axis:
    """Return the axis of this length: n for clients, d for coordinates, 1 for an axis of length 1. Raise ``ValueError``
    for any other.
    """
    if isinstance(length, Term) and length.op is Op.GIVEN and length.data == EXAMPLES:
        return Axis.EXAMPLES
    if isinstance(length, Term) and length.op is Op.COUNT and length.data in ("n", "d"):
        return Axis.CLIENTS if length.data == "n" else Axis.COORDINATES
    if type(length) is int and length == 1:
        return Axis.ONE
    raise ValueError("the length of an axis is not n, d or 1")


def indexed(value: Term, items: Sequence[Any]) -> Term:
    """Return a term with whole axes kept, axes of length 1 inserted, and such axes removed by their only index.

    ``items``: slices as they are written, and the values of the others. A parameter that names a client selects that
    client's entry.
    """
    if any(isinstance(item, Owners) for item in items):
        k = next(k for k, item in enumerate(items) if isinstance(item, Owners))
        if items[0] is not Ellipsis or any(item is Ellipsis for item in items[1:]):
            raise ValueError("examples are indexed without a leading ...")
        place = -sum(item is not None for item in items[k:])
        whole = ast.Slice()
        return indexed(terms.of_owners(value, place), [*items[:k], whole, *items[k + 1 :]])
    whose = [k for k, item in enumerate(items) if _is_client(item)]
    if whose:
        k = whose[0]
        if not value.type.batched and sum(item is not None for item in items) == len(value.type.axes):
            # Without replicas it is the same, counted from the first axis.
            items = items if items[0] is Ellipsis else [Ellipsis, *items]
            k = next(k for k, item in enumerate(items) if _is_client(item))
        if len(whose) > 1 or items[0] is not Ellipsis or any(item is Ellipsis for item in items[1:]):
            raise ValueError("a client is indexed without a leading ..., or together with another")
        place = -sum(item is not None for item in items[k:])
        return indexed(terms.of_client(value, place, items[k].data), [*items[:k], *items[k + 1 :]])
    items = list(items)
    axes, before = list(value.type.axes), []
    if items and items[0] is Ellipsis:
        items.pop(0)
        taken = sum(item is not None for item in items)
        if taken > len(axes):
            raise ValueError("an index reaches the axes of replicas")
        before, axes = axes[: len(axes) - taken], axes[len(axes) - taken :]
    elif value.type.batched:
        raise ValueError("an index counts from the axes of replicas: start it with ...")
    left: list[Axis] = []
    for item in items:
        if item is None:
            left.append(Axis.ONE)
            continue
        if not axes:
            raise ValueError(f"{value.type} has more indices than axes")
        axis = axes.pop(0)
        if isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None:
            left.append(axis)
        elif axis is not Axis.ONE or type(item) is not int or item not in (0, -1):
            raise ValueError(f"a part of the {axis} is taken")
    return terms.view(value, (*before, *left, *axes))


def numbered(value: Term, items: Sequence[Any], clients: int) -> list[Any]:
    """Return an index with the numbers of single clients, of ``clients`` in all, replaced by letters."""
    found = list(items)
    for k, item in enumerate(items):
        place = -sum(later is not None for later in items[k:])
        if type(item) is int and 0 <= item < clients and value.type.axes[place:][:1] == (Axis.CLIENTS,):
            found[k] = terms.leaf(Op.LETTER, f"number {item}", terms.NUMBER)
    return found


def listed(value: Sequence[Any], clients: int) -> Term:
    """Return the array of a list of numbers, ``(n,)`` or ``(n, 1)``. Raise ``ValueError`` if their number is not
    ``clients``.
    """
    kept = all(type(part) is tuple and len(part) == 1 for part in value)
    if len(value) != clients:
        raise ValueError(
            f"an array of {len(value)} is listed, where the number of clients is {clients or 'any'}: write "
            f"clients=({len(value)},) in the setting, or give the method a parameter with a number for each client"
        )
    return terms.listed([as_term(part[0] if kept else part) for part in value], kept)


def _is_client(item: Any) -> bool:
    return isinstance(item, Term) and item.op is Op.LETTER and item.type == terms.NUMBER


def _written(item: ast.expr) -> int | None:
    """Return the whole number that is written, with its sign; None for anything else."""
    if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub):
        inner = _written(item.operand)
        return None if inner is None else -inner
    return item.value if isinstance(item, ast.Constant) and type(item.value) is int else None


def shortened(shape: Shape, by: ast.Slice) -> Shape:
    """Return a shape without some of its last axes."""
    cut = None if by.upper is None else _written(by.upper)
    if by.lower is not None or by.step is not None or cut is None or not -len(shape.axes) <= cut < 0 or shape.cut:
        raise ValueError("the shape of the axes of replicas is read")
    return Shape(shape.axes[:cut], -cut, shape.batched)


def length(shape: Shape, place: Any) -> Any:
    """Return the length of one of the last axes."""
    if type(place) is not int or not -len(shape.axes) <= place < 0 or shape.cut:
        raise ValueError("the shape of the axes of replicas is read")
    axis = shape.axes[place]
    if axis not in _LENGTHS:
        raise ValueError(f"nothing says how many {axis} there are")
    return 1 if axis is Axis.ONE else terms.leaf(*_LENGTHS[axis], terms.NUMBER)


def summed(value: Any, axis: Any = None, keepdims: Any = False) -> Term:
    """Return the sum along one axis or several, counted from the last."""
    term = as_term(value)
    if axis is None and not term.type.batched:
        axis = tuple(range(-len(term.type.axes), 0))
    along = axis if type(axis) is tuple else (axis,)
    if type(keepdims) is not bool or not all(type(k) is int for k in along) or len(set(along)) < len(along):
        raise ValueError("a sum must name its axes as literals, counted from the last")
    if not along:
        raise ValueError("a sum names no axis")
    # Coordinates first, as of products of vectors; the axes stay until all are summed.
    for k in sorted(along, reverse=True):
        term = terms.total(term, k, keepdims or len(along) > 1)
    if keepdims or len(along) == 1:
        return term
    axes = term.type.axes
    return terms.view(term, tuple(axis for k, axis in enumerate(axes, -len(axes)) if k not in along))


def averaged(value: Any, axis: Any = None, keepdims: Any = False) -> Term:
    """Return the mean along one axis."""
    return terms.divide(summed(value, axis, keepdims), as_term(length(Shape(as_term(value).type.axes), axis)))


def _largest(term: Term, axis: Any = None) -> Term:
    if axis != -1 and (axis is not None or term.type.axes != (Axis.CLIENTS,) or term.type.batched):
        raise ValueError("a maximum is taken along an axis other than the last")
    return terms.extreme(Op.MOST, term)


METHODS: dict[str, Callable[[Term], Any]] = {
    "sum": lambda term: Rule("sum", partial(summed, term)),
    "max": lambda term: Rule("max", partial(_largest, term)),
    "mean": lambda term: Rule("mean", partial(averaged, term)),
    "shape": lambda term: Shape(term.type.axes, 0, term.type.batched),
}
