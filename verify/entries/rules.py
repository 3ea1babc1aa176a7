"""The functions of Python and numpy that code about arrays of any length may use, by identity."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers import rational
from verify.entries import sums
from verify.entries.arrays import Listed, array, matmul
from verify.entries.sums import PLACES, Grid, Place, Product
from verify.reading.values import Rule, SymbolicRange

#: Keep relations that have to hold where a function is called.
Owe = Callable[..., None]


def _typed(dtype: Any) -> bool:
    """Return True if an array is made of integers."""
    if dtype is not None and getattr(dtype, "name", "") != "int":
        raise ValueError("an array is made with a type other than int")
    return dtype is not None


def _zeros(owe: Owe, shape: Any, dtype: Any = None) -> Grid:
    lengths = tuple(array(length) for length in (shape if type(shape) is tuple else (shape,)))
    if not all(length.whole for length in lengths):
        raise ValueError("a length is not a whole number")
    owe(*(sympy.Ge(length.number(), 0, evaluate=False) for length in lengths))
    return Grid(tuple(length.number() for length in lengths), (), _typed(dtype))


def _eye(owe: Owe, n: Any, k: Any = 0, dtype: Any = None) -> Grid:
    length, offset = array(n), array(k)
    if not length.whole or not offset.whole:
        raise ValueError("a length is not a whole number")
    owe(sympy.Ge(length.number(), 0, evaluate=False))
    where = Place(sympy.expand(PLACES[0] - PLACES[1] - offset.number()), False)
    return sums.chosen(Grid((length.number(),) * 2, (Product(sympy.S.One),), _typed(dtype)), [where])


def _made(owe: Owe, value: Any, dtype: Any = None) -> Grid:
    if not isinstance(value, Listed):
        found = array(value)
        if _typed(dtype) and not found.whole:
            raise ValueError("numbers are rounded to whole ones")
        return found
    if value.over.step != 1 or dtype is not None:
        raise ValueError("an array is made of a list in steps, or with a type")
    owe(sympy.Ge(value.over.stop - value.over.start, 1, evaluate=False))
    place = len(value.value.lengths)
    if place >= sums.AXES:
        raise ValueError(f"an array has more than {sums.AXES} axes")
    one = sums.moved(value.value, {value.over.index: PLACES[place] + value.over.start})
    return Grid((sympy.expand(value.over.stop - value.over.start), *one.lengths), one.of, one.whole)


def _total(owe: Owe, value: Any) -> Grid:
    if not isinstance(value, Listed):
        raise ValueError("the sum is taken of something other than a generator")
    if value.value.lengths:
        # The sum of nothing is a number.
        owe(sympy.Ge(value.over.stop - value.over.start, 1, evaluate=False))
    return sums.summed(value.value, value.over)


def _ends(owe: Owe, *given: Any) -> SymbolicRange:
    if not 1 <= len(given) <= 3 or not all(array(end).whole for end in given):
        raise ValueError("the ends of a range are not whole numbers")
    numbers = [array(end).number() for end in given]
    start, stop = (numbers[0], numbers[1]) if len(numbers) > 1 else (sympy.S.Zero, numbers[0])
    step = numbers[2] if len(numbers) > 2 else sympy.S.One
    owe(sympy.Ge(step, 1, evaluate=False))
    return SymbolicRange((start, stop, step))


def _choose(owe: Owe, n: Any, k: Any) -> Grid:
    of, count = array(n), array(k)
    if not of.whole or not count.whole:
        raise ValueError("comb is taken of something other than whole numbers")
    owe(*(sympy.Ge(one.number(), 0, evaluate=False) for one in (of, count)))
    return sums.number(sympy.binomial(of.number(), count.number()), True)


def _joint(owe: Owe, parts: Any, axis: Any = 0) -> Grid:
    found = [array(part) for part in parts] if type(parts) is tuple else []
    if axis != 0 or not found or any(len(one.lengths) != len(found[0].lengths) for one in found):
        raise ValueError("concatenate is not applied to arrays along their first axis")
    place = len(found[0].lengths) - 1
    if place < 0 or not all(
        sums.is_same(a, b) for one in found for a, b in zip(one.lengths[1:], found[0].lengths[1:], strict=True)
    ):
        raise ValueError("concatenated arrays differ in other axes")
    start: sympy.Expr = sympy.S.Zero
    products: list[Product] = []
    for one in found:
        shifted = sums.moved(one, {PLACES[place]: PLACES[place] - start})
        products += sums.chosen(shifted, sums.within(place, start, start + one.lengths[0])).of
        start = sympy.expand(start + one.lengths[0])
    return Grid((start, *found[0].lengths[1:]), tuple(products), all(one.whole for one in found))


def _applied(owe: Owe, A: Any, v: Any) -> Grid:
    a, b = array(A), array(v)
    if len(a.lengths) != 2 or len(b.lengths) != 1:
        raise ValueError("a matrix is applied to something other than a vector")
    return matmul(a, b)


def functions(owe: Owe) -> Iterator[tuple[Any, Any]]:
    """Yield the functions with rules of their own, each with its rule."""
    known: dict[Any, Callable[..., Any]] = {
        np.zeros: _zeros,
        np.eye: _eye,
        np.array: _made,
        np.asarray: _made,
        np.concatenate: _joint,
        rational.apply: _applied,
        math.comb: _choose,
        builtins.sum: _total,
        builtins.range: _ends,
    }
    for function, of in known.items():
        yield function, Rule(str(getattr(function, "__name__", "")), partial(of, owe))
    for other in (builtins.int, builtins.getattr):
        yield other, Rule(other.__name__, _refused)


def _refused(*given: Any, **named: Any) -> Any:
    raise ValueError("nothing says what this function gives")
