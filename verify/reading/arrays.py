"""Arrays while code is read: whole axes are indexed, summed and measured, and no place on them is named."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from verify.reading import terms
from verify.reading.terms import Axis, Op, Term
from verify.reading.values import Rule, Shape, describe


def as_term(value: Any) -> Term:
    """A term, or the number that is written as one. ``ValueError`` for anything else."""
    if isinstance(value, Term):
        return value
    if type(value) in (int, bool, Fraction):
        return terms.constant(value)
    raise ValueError(f"{describe(value)} is no number and no array")


def axis_of(length: Any) -> Axis:
    """The axis that has this length: n of clients, d of coordinates, 1 of one place. ``ValueError`` for any other."""
    if isinstance(length, Term) and length.op is Op.COUNT and length.data in ("n", "d"):
        return Axis.CLIENTS if length.data == "n" else Axis.COORDINATES
    if type(length) is int and length == 1:
        return Axis.ONE
    raise ValueError("an axis has n, d or 1 places, and no other number")


def indexed(value: Term, index: ast.expr) -> Term:
    """Whole axes, axes with one place that are put in, and the one place of such an axis that is taken out."""
    items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    axes, before = list(value.type.axes), []
    if items and _is(items[0], Ellipsis):
        items.pop(0)
        taken = sum(not _is(item, None) for item in items)
        if taken > len(axes):
            raise ValueError("an index reaches the axes of replicas")
        before, axes = axes[: len(axes) - taken], axes[len(axes) - taken :]
    elif value.type.batched:
        raise ValueError("an index counts from the axes of replicas: begin it with ...")
    left: list[Axis] = []
    for item in items:
        if _is(item, None):
            left.append(Axis.ONE)
            continue
        if not axes:
            raise ValueError(f"{value.type} has more indices than axes")
        axis = axes.pop(0)
        if isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None:
            left.append(axis)
        elif axis is not Axis.ONE or _written(item) not in (0, -1):
            raise ValueError(f"a part of the {axis} is taken")
    return terms.view(value, (*before, *left, *axes))


def _is(item: ast.expr, value: Any) -> bool:
    return isinstance(item, ast.Constant) and item.value is value


def _written(item: ast.expr) -> int | None:
    """The whole number that is written, with its sign."""
    if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub):
        inner = _written(item.operand)
        return None if inner is None else -inner
    return item.value if isinstance(item, ast.Constant) and type(item.value) is int else None


def shortened(shape: Shape, by: ast.Slice) -> Shape:
    """A shape without some of its last axes."""
    cut = None if by.upper is None else _written(by.upper)
    if by.lower is not None or by.step is not None or cut is None or not -len(shape.axes) <= cut < 0 or shape.cut:
        raise ValueError("a shape is asked for the axes of replicas")
    return Shape(shape.axes[:cut], -cut, shape.batched)


def length(shape: Shape, place: Any) -> Any:
    """The length of one of the last axes."""
    if type(place) is not int or not -len(shape.axes) <= place < 0 or shape.cut:
        raise ValueError("a shape is asked for the axes of replicas")
    axis = shape.axes[place]
    return 1 if axis is Axis.ONE else terms.leaf(Op.COUNT, "n" if axis is Axis.CLIENTS else "d", terms.NUMBER)


def summed(value: Any, axis: Any = None, keepdims: Any = False) -> Term:
    """The sum along one axis or several, counted from the last."""
    term = as_term(value)
    along = axis if type(axis) is tuple else (axis,)
    if type(keepdims) is not bool or not all(type(k) is int for k in along) or len(set(along)) < len(along):
        raise ValueError("a sum is taken along axes that are written, counted from the last")
    # The last first, so that the others keep their places where the axis is gone.
    for k in sorted(along):
        term = terms.total(term, k, keepdims)
    return term


def averaged(value: Any, axis: Any = None, keepdims: Any = False) -> Term:
    """The mean along one axis."""
    return terms.divide(summed(value, axis, keepdims), as_term(length(Shape(as_term(value).type.axes), axis)))


METHODS: dict[str, Callable[[Term], Any]] = {
    "sum": lambda term: Rule("sum", partial(summed, term)),
    "mean": lambda term: Rule("mean", partial(averaged, term)),
    "shape": lambda term: Shape(term.type.axes, 0, term.type.batched),
}
