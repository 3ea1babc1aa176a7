"""Values of code as arrays entry by entry: numbers that are written, indices, truth values, products of matrices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from verify.entries import sums
from verify.entries.sums import PLACES, Grid, Place, Product, Range
from verify.reading.values import Condition, Unknown


class Listed:
    """The values of an expression for every index of a range."""

    def __init__(self, over: Range, value: Grid) -> None:
        self.over, self.value = over, value


def index(over: Range) -> Grid:
    """Return the index of a range as a number."""
    return Grid((), (Product(over.index),), True)


def array(value: Any) -> Grid:
    """Return a value as an array. Raise ``ValueError`` for anything else."""
    if isinstance(value, Grid):
        return value
    if type(value) in (int, Fraction, bool):
        return sums.number(sympy.Rational(Fraction(value)), type(value) is not Fraction)
    if isinstance(value, Condition) and value.by == "==":
        one, other = value.of
        difference = sympy.expand(one.number() - other.number())
        return sums.chosen(sums.number(1), [Place(difference, False)] if _of_integers(difference) else _refuse())
    if type(value) is tuple and value:
        return _written(value)
    raise ValueError(value.why if isinstance(value, Unknown) else "something other than numbers is computed with")


def _of_integers(e: sympy.Expr) -> bool:
    return all(x.is_integer for x in e.free_symbols)


def _refuse() -> Any:
    raise ValueError("a comparison that counts as a number is not one of whole numbers")


def _written(parts: tuple[Any, ...]) -> Grid:
    """Return an array whose entries are written one by one."""
    if any(type(part) is bool or isinstance(part, Condition) for part in parts):
        raise ValueError("truth values are listed")
    found = [array(part) for part in parts]
    if any(one.lengths != found[0].lengths for one in found) or len(found[0].lengths) >= sums.AXES:
        raise ValueError("rows of different lengths are listed")
    place = len(found[0].lengths)
    products = [p for k, one in enumerate(found) for p in sums.chosen(one, [Place(PLACES[place] - k, False)]).of]
    return Grid((sympy.Integer(len(found)), *found[0].lengths), tuple(products), all(one.whole for one in found))


def matmul(a: Grid, b: Grid) -> Grid:
    """Return the product of a matrix, or a vector, and a vector."""
    if len(b.lengths) != 1 or len(a.lengths) not in (1, 2) or not sums.is_same(a.lengths[-1], b.lengths[0]):
        raise ValueError("@ is taken of something other than a matrix or a vector, and a vector as long as its rows")
    return sums.total(sums.multiply(a, b), 0)
