"""Extend functions of Python, ``math`` and numpy that return floats to fractions: exactly, or by enclosures.

They are recognised by identity. A function that is not listed, or arguments that are not covered, give their usual
result: nothing is known of a float computed that way (:mod:`fedtheory.numbers.intervals`).
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from fedtheory.numbers import intervals
from fedtheory.numbers.intervals import Interval, rounded
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import exact

#: A decimal, as ``float`` reads it.
_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?\s*")


def counts(value: object) -> bool:
    """Return True if a value is an integer, or an array of some; what only looks like one has quotients of its own."""
    return type(value) in (int, bool) or (isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iub")


def counted(value: Any) -> Any:
    """Integers as fractions."""
    return rounded(exact(value) if np.ndim(value) else Quotient(int(value)))


def quotient(a: object, b: Any) -> Any:
    """a / b, of integers and of arrays of integers as fractions."""
    return counted(a) / b if counts(a) and counts(b) else a / b


def divided(a: object, b: Any) -> Any:
    """As :func:`quotient`, for ``a /= b``."""
    if counts(a) and counts(b):
        return counted(a) / b
    a /= b
    return a


def power(a: Any, b: Any) -> Any:
    """a ** b, of integers to powers that are negative or no integers as fractions."""
    return rounded(Quotient(a)) ** b if counts(a) and np.ndim(a) == 0 and not (counts(b) and np.all(b >= 0)) else a**b


def filled(values: object) -> Any:
    """The integers of an array as fractions."""
    return rounded(exact(values)) if getattr(values, "dtype", None) == np.float64 else values


def called(name: str, on: object, *given: object, **named: object) -> Any:
    """A method of an array, or numpy's function, which would make floats of integers or of fractions: of these as
    fractions."""
    if on is np and given and isinstance(given[0], np.ndarray) and counts(given[0]):
        given = (rounded(exact(given[0])), *given[1:])
    if isinstance(on, np.ndarray):
        if name == "astype" and given in ((float,), (np.float64,)) and not named and (counts(on) or _is_known(on)):
            return rounded(exact(on))
        on = rounded(exact(on)) if name == "mean" and counts(on) else on
    return getattr(on, name)(*given, **named)


def constant(on: object, name: str) -> Any:
    """An attribute, of ``math`` or numpy the number pi or e."""
    if on in (math, np) if isinstance(on, ModuleType) else False:
        return intervals.pi() if name == "pi" else Quotient(1).exp()
    return getattr(on, name)


def of_fractions(function: object) -> Any:
    """The function in fractions, where it is one of the known ones; as it is otherwise."""
    try:
        return _KNOWN.get(function, function)
    except TypeError:
        return function


def is_known(function: object) -> bool:
    """Return True if a function is one of these, which do nothing but compute."""
    try:
        return function in _KNOWN or function in _PURE
    except TypeError:
        return False


def _is_known(value: object) -> bool:
    """Return True if a value is an integer or a fraction, or an array of objects, or a list or tuple of such."""
    if isinstance(value, list | tuple):
        return all(map(_is_known, value))
    return counts(value) or isinstance(value, Fraction | Interval) or _is_array(value)


def _where_known(of: Callable[..., object], original: Any) -> Callable[..., Any]:
    """A function of arguments that are known, or else the original."""

    def known(*given: object, **named: object) -> Any:
        if given and not named and all(map(_is_known, given)):
            try:
                return rounded(of(*given))
            except (TypeError, AttributeError):
                pass
        return original(*given, **named)

    return known


def _number(original: Any) -> Callable[..., Any]:
    """``float`` and its like: the number that is given, or that a decimal denotes."""

    def number(*given: Any, **named: Any) -> Any:
        if len(given) == 1 and not named:
            (value,) = given
            if isinstance(value, str) and _DECIMAL.fullmatch(value):
                return rounded(Quotient(value.strip()))
            if np.ndim(value) == 0 and counts(value):
                return counted(value)
            if isinstance(value, Fraction | Interval) or (original is np.float64 and _is_array(value)):
                return value
        return original(*given, **named)

    return number


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _each(name: str) -> Callable[[Any], Any]:
    """A function of one number, or of each of an array, that fractions have as a method."""

    def of_one(value: Any) -> Any:
        return getattr(Quotient(int(value)) if counts(value) else value, name)()

    def of_all(value: Any) -> Any:
        if np.ndim(value) == 0:
            return of_one(value.item() if isinstance(value, np.ndarray) else value)
        given = np.asarray(value, dtype=object)
        out = np.empty(given.shape, dtype=object)
        out.flat[:] = [of_one(entry) for entry in given.flat]
        return out

    return of_all


def _array(original: Any) -> Callable[..., Any]:
    """``numpy.array`` and ``numpy.asarray`` of known numbers where a type of floats is requested."""

    def array(values: Any, *given: object, **named: object) -> Any:
        kinds = [*given, *named.values()]
        in_floats = len(kinds) == 1 and (given or "dtype" in named) and kinds[0] in (float, np.float64)
        if in_floats and _is_known(values):
            return rounded(exact(np.array(values, dtype=object)))
        return original(values, *given, **named)

    return array


def _linspace(low: object, high: Any, count: Any = 50) -> Any:
    parts = max(int(count) - 1, 1)
    return exact([low + (high - low) * Quotient(k, parts) for k in range(int(count))])


def _arange(*ends: Any) -> Any:
    low, high, step = (0, *ends, 1)[:3] if len(ends) == 1 else (*ends, 1)[:3]
    if all(map(counts, ends)):
        return np.arange(*ends)
    return exact([low + k * step for k in range(max(math.ceil((high - low) / step), 0))])


def _norms(original: Any) -> Callable[..., Any]:
    """``numpy.linalg.norm``: Euclidean, along an axis."""

    def norm(x: Any, ord: object = None, axis: Any = None, keepdims: bool = False) -> Any:
        if _is_known(x) and (type(axis) is int or (axis is None and ord is None)) and ord in (None, 2):
            squares = np.asarray(x, dtype=object) ** 2
            return rounded(_each("sqrt")(squares.sum(axis=axis, keepdims=keepdims)))
        return original(x, ord, axis, keepdims)

    return norm


#: Functions in fractions, by what they are in floats.
_KNOWN: dict[Any, Callable[..., Any]] = {
    builtins.float: _number(float),
    np.float64: _number(np.float64),
    np.array: _array(np.array),
    np.asarray: _array(np.asarray),
    np.linalg.norm: _norms(np.linalg.norm),
    **{
        getattr(of, name): _where_known(_each(name), getattr(of, name))
        for of in (math, np)
        for name in ("sqrt", "exp", "log", "sin", "cos")
    },
    math.fsum: _where_known(sum, math.fsum),
    builtins.pow: _where_known(power, pow),
    math.pow: _where_known(power, math.pow),
    np.linspace: _where_known(_linspace, np.linspace),
    np.arange: _where_known(_arange, np.arange),
    np.divide: _where_known(quotient, np.divide),
    np.true_divide: _where_known(quotient, np.true_divide),
}
#: Functions that do nothing but compute, and make no floats of fractions.
_PURE = frozenset({sum, max, min, abs, len, round, np.sum, np.mean, np.cumsum, np.dot, np.prod})
