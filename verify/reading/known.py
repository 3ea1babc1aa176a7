"""The functions of numpy and of this package that code may use, by identity."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory import randomness
from fedtheory.algorithms.parts import zeros
from fedtheory.numbers import rational
from fedtheory.problems import quadratic
from fedtheory.randomness import directions, masks, participation
from verify.reading import terms
from verify.reading.arrays import METHODS, as_term, averaged, axis_of, length, summed
from verify.reading.oracles import VECTORS, vector
from verify.reading.terms import Axis, Op, Term, Type
from verify.reading.values import (
    Class,
    Condition,
    Law,
    Lengths,
    Named,
    NamedTupleValue,
    Numbers,
    Probabilities,
    Rule,
    Several,
    Shape,
    SinglePassIterable,
    SymbolicRange,
    Unknown,
    describe,
    is_record_class,
    support,
)

#: The largest number of clients whose orders are enumerated: beyond it there are too many.
MOST_PLACES = 5


def _whole(value: Any) -> Any:
    if isinstance(value, Term) and value.op is Op.COUNT:
        return value
    # A decimal may be whole as written, and slightly less in floats.
    if type(value) is not int:
        raise ValueError("an integer is made from something that is not one")
    return value


def _same(value: Any) -> Any:
    if type(value) not in (int, Fraction):
        raise ValueError("a float is made from something that is not a literal number")
    return value


def _larger(one: Any, other: Any) -> Term:
    return terms.larger(as_term(one), as_term(other))


def _less(one: Any, other: Any) -> Term:
    return terms.negative(terms.larger(*(terms.negative(as_term(side)) for side in (one, other))))


def _size(of: Any) -> Term:
    if (one := as_term(of)).type.degree == 1:
        # Of each coordinate, which is multiplied by its sign.
        return terms.multiply(one, terms.signs(one))
    return terms.larger(as_term(of), terms.negative(as_term(of)))


def _extreme(op: Op, of: Any, *more: Any) -> Term:
    if len(more) == 1 and as_term(of).type == as_term(more[0]).type == terms.NUMBER:
        return (_larger if op is Op.MOST else _less)(of, *more)
    term = as_term(of)
    if more or term.type.axes != (Axis.CLIENTS,) or term.type.batched:
        raise ValueError(f"the {op} of {term.type} is taken, where a number for each client is expected")
    return terms.extreme(op, term)


def _fraction(one: Any, other: Any = 1) -> Any:
    """Return a quotient of whole numbers that are written, or of letters."""
    if type(one) is int and type(other) is int:
        return Fraction(one, other)
    if any(type(v) is not int and not (isinstance(v, Term) and v.type == terms.NUMBER) for v in (one, other)):
        raise ValueError("a fraction is made from something other than letters and integers")
    return terms.divide(as_term(one), as_term(other))


def _truth(value: Any) -> Any:
    if isinstance(value, Term) and value.type == terms.NUMBER:
        return Condition("!=", (value, terms.constant(0)))
    if type(value) is not bool and not isinstance(value, Condition):
        raise ValueError("a truth value is made from something that is not one")
    return value


_INT, _FLOAT, _BOOL = Rule("int", _whole), Rule("float", _same), Rule("bool", _truth)


def _functions_of_others() -> Iterator[tuple[Any, Any]]:
    yield np.where, Rule("where", lambda mask, one, other: terms.choose(as_term(mask), as_term(one), as_term(other)))
    yield np.asarray, Rule("asarray", _array)
    yield np.array, Rule("array", _array)
    yield np.atleast_2d, Rule("atleast_2d", _of_replicas)
    yield np.shape, Rule("shape", lambda value: METHODS["shape"](as_term(value)))
    yield np.ones, Rule("ones", _ones)
    yield np.sqrt, Rule("sqrt", lambda x: terms.root(as_term(x)))
    yield np.linalg.norm, Rule("norm", _norm)
    yield np.maximum, Rule("maximum", _larger)
    yield np.minimum, Rule("minimum", _less)
    yield np.sign, Rule("sign", lambda x: terms.signs(as_term(x)))
    yield np.abs, Rule("abs", _size)
    yield builtins.abs, Rule("abs", _size)
    yield np.square, Rule("square", lambda x: terms.power(as_term(x), 2))
    yield np.sum, Rule("sum", summed)
    yield np.mean, Rule("mean", averaged)
    yield np.broadcast_to, Rule("broadcast_to", _spread)
    yield np.broadcast_shapes, Rule("broadcast_shapes", lambda *of: Numbers("the shape of several arrays"))
    yield np.concatenate, Rule("concatenate", _side_by_side)
    yield np.stack, Rule("stack", _stacked)
    yield np.repeat, Rule("repeat", _repeated)
    yield np.zeros, Rule("zeros", _filled)
    yield np.zeros_like, Rule("zeros_like", _zeros_like)
    yield zeros, Rule("zeros", _zeros)
    yield builtins.hasattr, Rule("hasattr", _has)
    yield builtins.range, Rule("range", _range)
    yield builtins.len, Rule("len", _length)
    yield builtins.zip, Rule("zip", _zipped)
    yield builtins.tuple, Rule("tuple", _tuple)
    yield builtins.int, _INT
    yield builtins.float, _FLOAT
    yield builtins.bool, _BOOL
    yield builtins.min, Rule("min", partial(_extreme, Op.LEAST))
    yield builtins.max, Rule("max", partial(_extreme, Op.MOST))
    yield Fraction, Rule("Fraction", _fraction)
    yield builtins.getattr, Rule("getattr", _unread)
    yield SimpleNamespace, Rule("SimpleNamespace", lambda **named: Named("a namespace", named))
    yield builtins.dict, Named("the class of mappings", {"fromkeys": Rule("fromkeys", _from_keys)})
    for name, function in VECTORS.items():
        yield function, Rule(name, partial(vector, name))
    yield randomness.support_of, Rule("support_of", lambda law, exact=False: support(_law(law), exact))
    yield randomness.expectation, Rule("expectation", _expectation)
    yield rational.square_root, Rule("square_root", lambda of: terms.root(as_term(of)))
    yield rational.is_exact, Rule("is_exact", lambda *of: Unknown("whether numbers are fractions"))
    yield randomness.Constant, Rule("Constant", lambda: Law("constant"))
    yield randomness.Bernoulli, Rule("Bernoulli", lambda p: Law("bernoulli", (_number(p),)))
    yield randomness.UniformSubset, Rule("UniformSubset", lambda n, tau: Law("subset", (_clients(n), _number(tau))))
    yield randomness.WeightedSubset, Rule("WeightedSubset", _weighted)
    yield randomness.Permutation, Rule("Permutation", _permutation)
    yield randomness.Independent, Rule("Independent", _independent)
    yield randomness.Product, Rule("Product", product)
    yield quadratic.bregman, Rule("bregman", _bregman)
    yield masks.Pattern, Rule("Pattern", _pattern)
    yield directions.Gaussian, Rule("Gaussian", partial(_direction, "gaussian"))
    yield directions.Sphere, Rule("Sphere", partial(_direction, "sphere"))
    yield participation.Coins, Rule("Coins", _coins)
    yield participation.Categorical, Rule("Categorical", _categorical)


def _norm(value: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Term:
    """Return the Euclidean length along the coordinates, or the sum of their absolute values."""
    if ord not in (None, 1, 2) or axis != -1:
        raise ValueError(
            "a norm is taken other than the first or second, or along another axis than the last: write axis=-1"
        )
    if ord == 1:
        return summed(_size(value), axis, keepdims)
    return terms.root(summed(terms.power(as_term(value), 2), axis, keepdims))


def _expectation(values: Any, probabilities: Any, axis: Any = -1) -> Term:
    if not isinstance(probabilities, Probabilities) or type(axis) is not int:
        raise ValueError("an expectation is taken with other probabilities than those of draws")
    return terms.expected(as_term(values), axis, probabilities.draws)


def _spread(value: Any, shape: Any, subok: bool = False) -> Term:
    """Return the result of numpy's ``broadcast_to``: the last axes are given, those of replicas stay."""
    term = as_term(value)
    if isinstance(shape, Shape | Lengths):
        of, more = (shape, ()) if isinstance(shape, Shape) else (shape.shape, shape.more)
        if of.batched is not term.type.batched:
            raise ValueError("replicas are broadcast against an array without replicas")
        return terms.spread(term, (*of.axes, *map(axis_of, more)))
    if term.type.batched:
        raise ValueError("replicas are broadcast over axes given without them")
    return terms.spread(term, tuple(map(axis_of, shape if type(shape) is tuple else (shape,))))


def _of_replicas(value: Any) -> Term:
    # Leading axes are those of replicas; before axes of its own they would be others.
    term = as_term(value)
    if term.type.axes:
        raise ValueError("np.atleast_2d is applied to more than a number")
    return term


def _array(value: Any, dtype: Any = None) -> Term:
    if type(value) is tuple and len(value) == 1:
        number = as_term(value[0])
        if number.type.axes or number.type.batched:
            raise ValueError(f"an array is made of {number.type}, where a number is expected")
        return terms.view(number, (Axis.ONE,))
    term = as_term(value)
    if dtype is not None and (dtype is not _BOOL or not term.type.mask):
        raise ValueError("an array is made with a different type")
    return term


def _ones(shape: Any, dtype: Any = _FLOAT) -> Term:
    if dtype not in (_INT, _FLOAT, _BOOL):
        raise ValueError("ones are made with a type other than int, float or bool")
    lengths = shape if type(shape) is tuple else (shape,)
    return terms.spread(terms.constant(True if dtype is _BOOL else 1), tuple(map(axis_of, lengths)))


def _unread(*given: Any) -> Any:
    raise ValueError("it is not called by its name")


def _from_keys(keys: Any, value: Any = None) -> NamedTupleValue:
    names = _tuple(keys)
    if not all(type(name) is str for name in names):
        raise ValueError("keys are made from something other than names")
    return NamedTupleValue(None, dict.fromkeys(names, value))


def _zeros(*lengths: Any) -> Term:
    return terms.zeros(tuple(map(axis_of, lengths)))


def _filled(shape: Any, dtype: Any = _FLOAT) -> Term | Numbers:
    if dtype not in (_INT, _FLOAT):
        raise ValueError("zeros are made with a type other than int or float")
    if isinstance(shape, Shape):
        return terms.zeros(shape.axes, shape.batched)
    if isinstance(shape, Numbers):
        return Numbers("zeros, and how many")
    return _zeros(*(shape if type(shape) is tuple else (shape,)))


def _side_by_side(parts: Any, axis: Any = 0) -> Several:
    vectors = tuple(map(as_term, _tuple(parts)))
    if type(axis) is not int or axis not in (-1, -2) or any(len(v.type.axes) < -axis for v in vectors):
        raise ValueError("concatenate is not applied to arrays along an axis of theirs")
    others = {tuple(a for k, a in enumerate(reversed(v.type.axes), 1) if k != -axis) for v in vectors}
    if len(others) > 1 or len({v.type.batched for v in vectors}) > 1 or any(v.type.mask for v in vectors):
        raise ValueError("concatenated arrays differ in other axes")
    return Several(vectors, axis)


def _stacked(parts: Any, axis: Any = 0) -> Several:
    if type(axis) is not int or axis not in (-1, -2):
        raise ValueError("arrays are stacked on an axis before the last two")
    arrays = [as_term(part) for part in _tuple(parts)]
    if any(len(array.type.axes) < -axis - 1 for array in arrays):
        raise ValueError("stacked arrays have too few axes")
    places = [len(array.type.axes) + axis + 1 for array in arrays]
    wider = [(*a.type.axes[:k], Axis.ONE, *a.type.axes[k:]) for a, k in zip(arrays, places, strict=True)]
    return _side_by_side(tuple(terms.view(a, axes) for a, axes in zip(arrays, wider, strict=True)), axis)


def _repeated(value: Any, count: Any, axis: Any = None) -> Term:
    term = as_term(value)
    if type(axis) is not int or not -len(term.type.axes) <= axis < 0 or term.type.axes[axis] is not Axis.ONE:
        raise ValueError("a repeated axis has more than one place")
    axes = list(term.type.axes)
    axes[axis] = axis_of(count)
    return terms.spread(term, tuple(axes))


def _zeros_like(like: Any) -> Term:
    term = as_term(like)
    if term.type.mask:
        raise ValueError("zeros like a mask are a mask")
    return terms.multiply(terms.constant(0), term)


def _has(value: Any, name: Any) -> bool:
    if isinstance(value, Named) and name == "resolvent" and name in value.fields:
        # Where some of the functions have none, others of their class may.
        return True
    if type(name) is not str or not isinstance(value, NamedTupleValue) or value.of is None:
        raise ValueError("hasattr is called on something that is not a record")
    return hasattr(value.of, name)


def _range(*ends: Any) -> range | SymbolicRange:
    if len(ends) == 1 and isinstance(ends[0], Term) and ends[0].op is Op.LETTER and ends[0].type == terms.NUMBER:
        return SymbolicRange(ends[0])
    if not all(type(end) is int for end in ends):
        raise ValueError("the ends of a range are neither literals nor declared counts")
    return range(*ends)


def _tuple(value: Any = ()) -> tuple[Any, ...]:
    if type(value) is not tuple:
        raise ValueError("a tuple is made from something that is not a sequence")
    return value


def _length(value: Any) -> Any:
    if isinstance(value, Term):
        if value.type.batched or not value.type.axes:
            raise ValueError("len is taken of something that may begin with replicas")
        return length(Shape(value.type.axes), -len(value.type.axes))
    return len(_tuple(value))


def _zipped(*values: Any, strict: bool = False) -> SinglePassIterable:
    return SinglePassIterable(tuple(zip(*map(_tuple, values), strict=strict)))


def _number(value: Any) -> Term:
    term = as_term(value)
    if term.type.axes or term.type.batched or term.type.degree > 0:
        raise ValueError(f"a distribution has the parameter {term.type}, where a number is expected")
    return term


def _clients(value: Any) -> Term:
    if axis_of(value) is not Axis.CLIENTS:
        raise ValueError("a distribution is not over the clients")
    return as_term(value)


def _independent(one: Any, count: Any) -> Law:
    law = _law(one)
    if law.name == "bernoulli" and axis_of(count) is Axis.COORDINATES:
        return Law("coins of coordinates", law.of)
    # A single client has one compressor; the users of the law check that there is a single client.
    alone = law.name == "compression" and type(count) is int and count == 1
    return Law("independent", (law, count if alone else _clients(count)))


def _direction(kind: str, d: Any) -> Law:
    if axis_of(d) is not Axis.COORDINATES:
        raise ValueError("a direction is drawn in another dimension than that of the problem")
    return Law(kind)


def _coins(q: Any) -> Law:
    term = as_term(q)
    if term.type != Type((Axis.CLIENTS,)):
        raise ValueError(f"coins have the parameter {term.type}, where a number for each client is expected")
    return Law("coins", (term,))


def _categorical(p: Any) -> Law:
    return Law("categorical", _coins(p).of)


def _permutation(n: Any) -> Law:
    """Return a mask for each place: their moments are unknown, but all draws of few clients can be enumerated."""
    if type(n) is not int or not 1 <= n <= MOST_PLACES:
        raise ValueError(f"clients are put in order whose number is not written, or is more than {MOST_PLACES}")
    return Law("permutation", (n,), type(randomness.Permutation(n).support()[0]))


def _pattern(n: Any, d: Any, s: Any) -> Law:
    if axis_of(d) is not Axis.COORDINATES:
        raise ValueError("a pattern is not over the coordinates")
    return Law("pattern", (_clients(n), _number(s)))


def _bregman(f: Any, x: Any, x_star: Any, slope: Any) -> Term:
    if not isinstance(f, Named) or not isinstance(f.fields.get("value"), Rule):
        raise ValueError(f"{describe(f)} has no values")
    point, at = as_term(x), as_term(x_star)
    at = terms.view(at, (*at.type.axes[:-1], Axis.ONE, *at.type.axes[-1:]))
    z = terms.add(point, terms.negative(at))
    value = f.fields["value"].apply
    linear = summed(terms.multiply(as_term(slope), z), -1)
    return terms.add(terms.add(value(point), terms.negative(value(at))), terms.negative(linear))


def _weighted(weights: Any, tau: Any) -> Law:
    term = as_term(weights)
    if term.type.axes != (Axis.CLIENTS,) or term.type.batched:
        raise ValueError(f"weights are {term.type}, where a number for each client is expected")
    return Law("weighted subset", (term, _number(tau)))


def _law(value: Any) -> Law:
    if not isinstance(value, Law):
        raise ValueError("this is not a distribution")
    return value


def product(make: Any, of: Any) -> Law:
    """Return several draws, independent of each other, as a NamedTuple."""
    if not isinstance(make, Class) or not is_record_class(make.of):
        raise ValueError("the draws of a product are not a NamedTuple")
    return Law("product", tuple(map(_law, _tuple(of))), make.of)


#: Functions with rules of their own, as they are on import of this module: later replacements are not known.
FUNCTIONS = tuple(_functions_of_others())
