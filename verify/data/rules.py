"""The functions of numpy and of this package that code about data may use, by identity."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import selections
from fedtheory.algorithms.parts import zeros
from fedtheory.learning import lower_bounds
from fedtheory.numbers import rational
from fedtheory.randomness import Bernoulli, UniformSubset
from verify.data import arrays, draws, folds, nodes, stacked
from verify.data.arrays import Array, AtMost, Greatest, Inverse
from verify.data.reader import axis_of
from verify.data.solving import solved
from verify.data.space import Space
from verify.reading.terms import Axis
from verify.reading.values import Lengths, Named, Rule, Shape, Unknown


def functions(space: Space) -> tuple[tuple[Any, Any], ...]:
    """Return the functions with rules of their own, each with its rule."""
    return tuple(_functions(space))


def _functions(space: Space) -> Iterator[tuple[Any, Any]]:
    def array(value: Any) -> Array:
        return arrays.of(space, value)

    def where(mask: Any, one: Any, other: Any) -> Any:
        return stacked.combined(lambda *of: arrays.choose(*map(array, of)), mask, one, other)

    def axes(shape: Any) -> tuple[Axis, ...]:
        return tuple(axis_of(space, length) for length in (shape if type(shape) is tuple else (shape,)))

    def filled(value: int, shape: Any, dtype: Any = None) -> Array:
        if dtype is not None and getattr(dtype, "name", "") not in ("int", "float"):
            raise ValueError("an array is made with a type other than int or float")
        return arrays.spread(arrays.constant(space, value), axes(shape), False)

    def eye(n: Any, dtype: Any = None) -> Array:
        if dtype is not None and getattr(dtype, "name", "") not in ("int", "float"):
            raise ValueError("an identity is made with a type other than int or float")
        return arrays.identity(space, axis_of(space, n))

    def spread(value: Any, shape: Any) -> Array:
        one = array(value)
        if isinstance(shape, Shape | Lengths):
            of, more = (shape, ()) if isinstance(shape, Shape) else (shape.shape, shape.more)
            if of.batched is not one.batched:
                raise ValueError("replicas are broadcast against an array without replicas")
            return arrays.spread(one, (*of.axes, *axes(tuple(more))), of.batched)
        if one.batched:
            raise ValueError("replicas are broadcast over axes given without them")
        return arrays.spread(one, axes(shape), False)

    def times(A: Any, v: Any) -> Array:
        return solved(A.of, array(v)) if isinstance(A, Inverse) else _applied(array(A), array(v))

    yield np.where, Rule("where", where)
    yield np.asarray, Rule("asarray", array)
    yield np.zeros, Rule("zeros", partial(filled, 0))
    yield np.ones, Rule("ones", partial(filled, 1))
    yield np.eye, Rule("eye", eye)
    yield np.matmul, Rule("matmul", lambda a, b: _matmul(array(a), array(b)))
    yield np.swapaxes, Rule("swapaxes", lambda one, a, b: _swapped(array(one), a, b))
    yield np.broadcast_to, Rule("broadcast_to", spread)
    yield np.concatenate, Rule("concatenate", partial(stacked.concatenated, space))
    yield np.stack, Rule("stack", partial(stacked.stacked, space))
    yield rational.apply, Rule("apply", times)
    yield rational.inverse, Rule("inverse", lambda A: Inverse(_square(array(A))))
    yield rational.exact, Rule("exact", array)
    yield rational.to_float, Rule("to_float", array)
    yield zeros, Rule("zeros", lambda *lengths: filled(0, tuple(lengths)))
    yield builtins.int, Rule("int", _whole)
    yield builtins.bool, Rule("bool", _truth)
    yield builtins.float, Rule("float", _same)
    yield builtins.tuple, Rule("tuple", _unread)
    yield builtins.getattr, Rule("getattr", _unread)
    yield np.array, Rule("array", array)
    yield builtins.len, Rule("len", partial(_length, space))
    yield builtins.sum, Rule("sum", _sum)
    yield builtins.range, Rule("range", partial(folds.range_of, space))
    yield lower_bounds.Examples, Rule("Examples", partial(nodes.examples, space))
    yield selections.ClientPicks, Rule("ClientPicks", partial(nodes.picks, space))
    yield Bernoulli, Rule("Bernoulli", partial(draws.coin, space))
    yield UniformSubset, Rule("UniformSubset", partial(draws.subset, space))
    yield types.SimpleNamespace, Rule("SimpleNamespace", lambda **parts: Named("a namespace", parts))


def _swapped(one: Array, a: Any, b: Any) -> Array:
    first, second = arrays.from_last(one, (a, b))
    order = list(range(len(one.axes)))
    order[first], order[second] = second, first
    return arrays.transposed(one, order)


def _square(one: Array) -> Array:
    if len(one.axes) < 2 or one.axes[-1] is not one.axes[-2] or one.axes[-1] is Axis.ONE:
        raise ValueError("the inverse is taken of something other than a square matrix")
    return one


def _applied(A: Array, v: Array) -> Array:
    """Return matrix-vector products, over leading axes."""
    if len(A.axes) < 2 or not v.axes or A.axes[-1] is not v.axes[-1]:
        raise ValueError("a matrix is applied to vectors of another length")
    row = arrays.inserted(v, len(v.axes) - 1)
    product = arrays.multiply(A, row)
    return arrays.total(product, [len(product.axes) - 1], False)


def _matmul(a: Array, b: Array) -> Array:
    """Return products of matrices, over leading axes."""
    if len(a.axes) < 2 or len(b.axes) < 2 or a.axes[-1] is not b.axes[-2] or a.axes[-1] is Axis.ONE:
        raise ValueError("matrices of other shapes are multiplied")
    left, right = arrays.inserted(a, len(a.axes)), arrays.inserted(b, len(b.axes) - 2)
    product = arrays.multiply(left, right)
    return arrays.total(product, [len(product.axes) - 2], False)


def _whole(value: Any) -> Any:
    whole = value.of if isinstance(value, Greatest) else value
    if type(value) is int or (isinstance(whole, Array) and arrays.is_whole(whole)):
        return value
    raise ValueError("an integer is made from something that is not one")


def _truth(value: Any) -> Any:
    if type(value) is not bool and not isinstance(value, AtMost):
        raise ValueError("a truth value is made from something that is not one")
    return value


def _same(value: Any) -> Any:
    if type(value) not in (int, Fraction):
        raise ValueError("a float is made from something that is not a literal number")
    return value


def _length(space: Space, value: Any) -> Any:
    if isinstance(value, Array) and len(value.axes) == 1 and value.axes[0] is not Axis.ONE and not value.batched:
        return arrays.letter(space, space.count(value.axes[0]))
    return Unknown("the length of something other than an array with one axis")


def _sum(value: Any) -> Array:
    if not isinstance(value, Array) or len(value.axes) != 1 or value.batched or value.mask:
        raise ValueError("the sum is taken of something other than an array of numbers with one axis")
    return arrays.total(value, [0], False)


def _unread(*given: Any, **named: Any) -> Any:
    return Unknown("what no proof about data reads")
