"""Exact arithmetic: numpy object arrays of fractions, and symbolic expressions evaluated on them.

Every oracle, step and potential of this package uses only ``+ - * /``, comparisons and matrix products, so the
same code runs on float64 arrays and on object arrays of :class:`fractions.Fraction`. The two operations that numpy
does not offer for objects, inversion and expression evaluation, are here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

import mpmath
import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from fedtheory.numbers.intervals import DIGITS, MORE, Interval, Undecided, Undefined, largest, least, precision
from fedtheory.numbers.quotients import Quotient

Array = NDArray[Any]


def is_exact(*arrays: object) -> bool:
    """Return True if any of the arrays holds objects (fractions) rather than floats."""
    return any(np.asarray(a).dtype == object for a in arrays)


def exact(a: object) -> Array:
    """An object array of fractions with the values of ``a``: floats at their binary value, intervals and what says that
    it is ``exact`` as they are."""
    source = np.asarray(a, dtype=object)
    out = np.empty(source.shape, dtype=object)
    out.flat[:] = [
        value if type(value) is Quotient or isinstance(value, Interval) or hasattr(value, "exact") else Quotient(value)
        for value in source.flat
    ]
    return out


def meant(a: object) -> Array:
    """As :func:`exact`, with floats as the intervals in which lies what they stand for."""
    source = np.asarray(a, dtype=object)
    if not any(isinstance(value, float) for value in source.flat):
        return exact(source)
    out = np.empty(source.shape, dtype=object)
    out.flat[:] = [Interval.of(value) if isinstance(value, float) else value for value in source.flat]
    return exact(out)


def to_float(a: object) -> Array:
    """float64 values of an array of fractions, integers or floats."""
    return np.asarray(a, dtype=np.float64)


def are_diagonal(A: Array) -> bool:
    """Return True if all matrices ``(..., d, d)`` are diagonal."""
    return not (A[..., ~np.eye(A.shape[-1], dtype=bool)] != 0).any()


def inverse(A: Array) -> Array:
    """Inverse of a stack of matrices ``(..., d, d)``, exact when the entries are fractions.

    Raises ``ValueError`` if a matrix is singular.
    """
    if not is_exact(A):
        try:
            return np.linalg.inv(A)
        except np.linalg.LinAlgError as error:
            raise ValueError("the matrix to invert is singular") from error
    d = A.shape[-1]
    out = np.empty_like(A)
    if are_diagonal(A):
        diagonal = A[..., range(d), range(d)]
        if (diagonal == 0).any():
            raise ValueError("the matrix to invert is singular")
        out[...] = exact(0)
        out[..., range(d), range(d)] = exact(1) / diagonal
        return out
    if any(isinstance(v, Interval) for v in A.flat):
        raise Undecided("no matrix is inverted whose entries are not known exactly")
    for index in np.ndindex(A.shape[:-2]):
        entries = [[sympy.QQ(*Fraction(v).as_integer_ratio()) for v in row] for row in A[index]]
        try:
            solved = DomainMatrix(entries, (d, d), sympy.QQ).inv().to_list()
        except DMNonInvertibleMatrixError as error:
            raise ValueError("the matrix to invert is singular") from error
        out[index] = [[Fraction(int(v.numerator), int(v.denominator)) for v in row] for row in solved]
    return out


def has_nonnegative_pivots(A: Array) -> bool:
    """Return True if a matrix of fractions, which must be symmetric, is positive semidefinite."""
    left = np.array(A)
    for j in range(len(left)):
        line = left[j, j + 1 :].copy()
        if left[j, j] < 0 or (left[j, j] == 0 and line.any()):
            return False
        if left[j, j] != 0:
            left[j + 1 :, j + 1 :] = left[j + 1 :, j + 1 :] - line[:, None] * line / left[j, j]
    return True


def determinant(A: Array) -> Any:
    """The determinant of one square matrix of fractions or floats, by elimination: exact on fractions."""
    A, found = np.array(A), 1
    for j in range(len(A)):
        pivot = j + max(range(len(A) - j), key=abs(A[j:, j]).tolist().__getitem__)
        if A[pivot, j] == 0:
            return 0 * A[0, 0]
        if pivot != j:
            A[[j, pivot]], found = A[[pivot, j]], -found
        found = found * A[j, j]
        A[j + 1 :] = A[j + 1 :] - (A[j + 1 :, j] / A[j, j])[:, None] * A[j]
    return found


def apply(A: Array, x: Array) -> Array:
    """Matrix-vector products over leading axes: ``(..., m, d) @ (..., d) -> (..., m)``."""
    return np.matmul(A, x[..., None])[..., 0]


#: The binary digits, after that of a unit, of roots that are taken from below.
_BITS_BELOW = 24


class _IrrationalError(ArithmeticError):
    """A square root of a fraction that is not the square of one."""


def _square_root(value: Any) -> Any:
    if isinstance(value, np.ndarray) and is_exact(value):
        return _each(_square_root, value)
    if isinstance(value, Interval):
        return value.sqrt()
    if not isinstance(value, int | Fraction):
        return np.sqrt(value)
    ratio = Fraction(value)
    if ratio < 0:
        raise Undefined(f"the square root of {ratio} is not real")
    root = Fraction(math.isqrt(ratio.numerator), math.isqrt(ratio.denominator))
    if root**2 != ratio:
        raise _IrrationalError
    return root


def real(value: object) -> Any:
    """A number, or an array of numbers entry by entry, with the working precision of mpmath; of an interval the
    middle."""
    if isinstance(value, np.ndarray):
        return np.vectorize(real, otypes=[object])(value)
    if isinstance(value, Interval):
        value = value.middle
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    if isinstance(value, np.integer):
        return mpmath.mpf(int(value))
    return value if isinstance(value, mpmath.mpf) else mpmath.mpf(value)


def square(x: Array) -> Array:
    """|x|^2, of the last axis: ``(..., d) -> (...)``."""
    return (x**2).sum(axis=-1)


def square_root(value: object) -> Any:
    """Square root: exact for the square of a fraction, an interval for other fractions, else float."""
    try:
        return _square_root(value)
    except _IrrationalError:
        return Interval.of(value).sqrt()


def root_below(of: Array) -> Array:
    """The square root of each entry; of a fraction one that is not the square of another a little less, a fraction."""
    return _each(_root_below, of) if is_exact(of) else np.sqrt(np.maximum(of, 0))


def _root_below(value: Any) -> Any:
    if isinstance(value, Interval):
        raise Undecided("no root is taken from below of what is not known exactly")
    ratio = Fraction(value)
    # That of n/d is that of n d (2^k)^2, without what is behind the point, over d 2^k.
    scale = ratio.denominator << _BITS_BELOW
    root = Fraction(math.isqrt((ratio.numerator * ratio.denominator) << (2 * _BITS_BELOW)), scale)
    return Quotient(root)


def evaluate(expression: Any, values: Mapping[sympy.Expr, Any]) -> Any:
    """Value of a sympy expression at ``values`` (fractions, floats, or arrays of them), without leaving exactness.

    Fractions give fractions; where a square root or an exponential is irrational, an
    :class:`~fedtheory.numbers.intervals.Interval` in which the value lies. A key of ``values`` may be a symbol or a
    whole subexpression (the square of a norm is rational where the norm is not). Raises ``ValueError`` when a symbol
    has no value or the expression contains an unsupported function, ``Undefined`` where it divides by zero or takes the
    root of a negative fraction, ``Undecided`` where it may do so.
    """
    # A text is not an expression: parsing it would run it.
    e = sympy.sympify(expression, strict=True)
    try:
        try:
            return _evaluate(e, values, Quotient)
        except _IrrationalError:
            if any(_holds_floats(value) for value in values.values()):
                return _evaluate(e, {key: _as_floats(value) for key, value in values.items()}, float)
            return _known(_evaluate(e, {key: enclosed(value) for key, value in values.items()}, Interval.of))
    except ZeroDivisionError as error:
        raise Undefined(f"{e} divides by zero") from error
    except TypeError as error:
        raise ValueError(f"cannot evaluate {e} at the given numbers: {error}") from error


def _holds_floats(value: object) -> bool:
    return isinstance(value, float) or getattr(value, "dtype", None) == np.float64


def _as_floats(value: Any) -> Any:
    return to_float(value) if isinstance(value, np.ndarray) else float(value)


def enclosed(value: object) -> Any:
    """A number, or an array of numbers entry by entry, as intervals."""
    return np.vectorize(Interval.of, otypes=[object])(value) if isinstance(value, np.ndarray) else Interval.of(value)


def _known(value: Any) -> Any:
    """The fractions that intervals without width are, where no float took part."""
    if isinstance(value, np.ndarray):
        return np.vectorize(_known, otypes=[object])(value)
    known = isinstance(value, Interval) and value.low == value.high and not value.where
    return Quotient(value.low) if known else value


#: Terms of a sum between letters, at most, and of sums in it; and binary digits of a power.
_TERMS, _NESTED, _LONGEST = 10**5, 10**4, 10**6
#: Steps in which a sum is computed, at most, and the binary digits that are added in one.
_WORK, _BLOCK = 10**6, 500


@lru_cache(maxsize=1000)
def _fraction(e: sympy.Rational) -> Quotient:
    return Quotient(int(e.p), int(e.q))


def _evaluate(e: sympy.Expr, values: Mapping[sympy.Expr, Any], constant: Callable[[Fraction], Any]) -> Any:
    if e in values:
        return values[e]
    rule = _RULES.get(type(e))
    if rule is not None:
        return rule(e, values, constant)
    if isinstance(e, sympy.Symbol):
        raise ValueError(f"no value for the symbol {e}")
    if e.is_Rational:
        return constant(_fraction(e))
    if e.is_Float:
        return float(e)
    for kind, rule in _RULES.items():
        if isinstance(e, kind):
            return rule(e, values, constant)
    parts = [_evaluate(a, values, constant) for a in e.args]
    match e:
        case sympy.Max():
            return _extreme(parts, largest, np.maximum)
        case sympy.Min():
            return _extreme(parts, least, np.minimum)
        case sympy.Abs():
            return abs(parts[0])
        case sympy.ceiling():
            return constant(Fraction(_whole(parts[0], math.ceil)))
        case sympy.floor():
            return constant(Fraction(_whole(parts[0], math.floor)))
        case sympy.exp() | sympy.S.Exp1:
            if parts and isinstance(parts[0], int | Fraction | Interval) and _is_zero(parts[0]):
                return constant(Fraction(1))
            return _transcendental(parts[0] if parts else constant(Fraction(1)), Interval.exp, np.exp)
        case sympy.log():
            if not isinstance(parts[0], Interval) and np.min(parts[0]) <= 0:
                raise Undefined(f"{e} is the logarithm of what is not positive")
            return _transcendental(parts[0], Interval.log, np.log)
    raise ValueError(f"cannot evaluate {e} at numbers")


def _sum(e: sympy.Add, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]) -> Any:
    return reduce(_sum_of, [_evaluate(a, values, constant) for a in e.args])


def _repeated(e: sympy.Expr, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]) -> Any:
    """A sum or a product over an index between two integers; of nothing it is 0 or 1."""
    (index, low, high), *more = e.limits
    if more:
        raise ValueError(f"cannot evaluate {e}: write one sum in another")
    first, last = _ends(e, low, high, values, constant)
    count = last - first + 1
    if index not in e.function.free_symbols:
        return _alike_repeated(e, max(count, 0), values, constant)
    if count > _TERMS:
        raise Undecided(f"{e} has {count} terms, and at most {_TERMS} are computed")
    inner = e.function.has(sympy.Sum, sympy.Product)
    if inner and count > 1:
        # Where ends depend on the index, terms are often shortest at the first or at the last.
        for at in (last, first):
            longest = _terms(e.function, {**values, index: constant(Fraction(at))}, constant)
            if longest * count > 2 * _NESTED:
                raise Undecided(f"the sums and products in {e} have more than {_NESTED} terms")
    adding = isinstance(e, sympy.Sum)
    found, work = constant(Fraction(0 if adding else 1)), 0
    for i in range(first, last + 1):
        at_index = {**values, index: constant(Fraction(i))}
        work += _terms(e.function, at_index, constant) if inner else 1
        term = _evaluate(e.function, at_index, constant)
        found = found + term if adding else found * term
        # To add fractions takes as long as to find the largest common divisor, the square of their length.
        work += (_digits(found) // _BLOCK) ** 2
        if work > _WORK or (inner and work > _NESTED):
            raise Undecided(f"{e} takes more than {_WORK} steps to compute")
    return found


def _ends(
    e: sympy.Expr,
    low: object,
    high: object,
    values: Mapping[sympy.Expr, object],
    constant: Callable[[Fraction], object],
) -> tuple[int, int]:
    ends = [_known(_evaluate(end, values, constant)) for end in (low, high)]
    if any(isinstance(end, Interval) or end != int(end) for end in ends):
        raise Undefined(f"{e} does not go from one integer to another")
    return int(ends[0]), int(ends[1])


def _alike_repeated(
    e: sympy.Expr, count: int, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]
) -> Any:
    """A sum or product of equal terms; what has none is not looked at."""
    if count == 0:
        return constant(Fraction(0 if isinstance(e, sympy.Sum) else 1))
    term = _evaluate(e.function, values, constant)
    return _product_of(constant(Fraction(count)), term) if isinstance(e, sympy.Sum) else _integer_power(term, count)


def _terms(e: sympy.Expr, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]) -> int:
    """The number of terms of the outermost sums and products in an expression, equal terms counted as one."""
    if not isinstance(e, sympy.Sum | sympy.Product):
        return sum(_terms(part, values, constant) for part in e.args) if e.args else 0
    index, low, high = e.limits[0]
    if index not in e.function.free_symbols:
        return 1 + _terms(e.function, values, constant)
    first, last = _ends(e, low, high, values, constant)
    return max(last - first + 1, 0)


def _digits(value: object) -> int:
    """Binary digits of the numerator and the denominator of a fraction; 0 of anything else."""
    if isinstance(value, np.ndarray):
        return max(map(_digits, value.flat), default=0) if value.dtype == object else 0
    return value.numerator.bit_length() + value.denominator.bit_length() if isinstance(value, Fraction) else 0


def _whole(value: object, rounding: Callable[[Any], int]) -> int:
    """The next integer, above or below."""
    if not isinstance(value, Interval):
        return rounding(value)
    if rounding(value.low) != rounding(value.high):
        raise Undecided("rounding what lies on both sides of an integer")
    return rounding(value.low)


def _is_root(e: sympy.Expr) -> bool:
    """Return True if e is a power with exponent k/2, k odd."""
    return isinstance(e, sympy.Pow) and e.exp.is_Rational and e.exp.q == 2


def _product(e: sympy.Mul, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]) -> Any:
    """A product; its square roots are taken together, since sqrt(a)/sqrt(b) may be rational where neither is."""
    roots = [a for a in e.args if _is_root(a) and a not in values]
    parts = [_evaluate(a, values, constant) for a in e.args if a not in roots]
    if roots:
        squares = [_integer_power(_evaluate(a.base, values, constant), int(2 * a.exp)) for a in roots]
        # The product of two that are negative has a root, and they have none.
        highest = [square.high if isinstance(square, Interval) else square for square in squares]
        if any(isinstance(high, Fraction) and high < 0 for high in highest):
            raise Undefined(f"a square root in {e} is not real")
        # At an instance in floats, so are numbers that meet them; elsewhere what a float stands for is not known.
        parts.append(_square_root(reduce(_product_of if _in_floats(values) else operator.mul, squares)))
    return reduce(_product_of, parts)


def _in_floats(values: Mapping[sympy.Expr, object]) -> bool:
    """Return True if all values are floats, arrays of floats, or integers."""
    return not any(
        is_exact(v) if isinstance(v, np.ndarray) else isinstance(v, Fraction | Interval) for v in values.values()
    )


def _sum_of(a: object, b: object) -> Any:
    return operator.add(*_alike(a, b))


def _product_of(a: object, b: object) -> Any:
    return operator.mul(*_alike(a, b))


def _alike(a: object, b: object) -> tuple[Any, Any]:
    """Both, a fraction that meets floats as a float: the letters of an instance in floats are floats."""
    if type(a) is type(b):
        return a, b
    if isinstance(a, Fraction) and _holds_floats(b):
        return float(a), b
    if isinstance(b, Fraction) and _holds_floats(a):
        return a, float(b)
    return a, b


def _power(e: sympy.Pow, values: Mapping[sympy.Expr, object], constant: Callable[[Fraction], object]) -> Any:
    base = _evaluate(e.base, values, constant)
    if _is_root(e):
        return _square_root(_integer_power(base, int(2 * e.exp)))
    if e.exp.is_Integer and e.exp not in values:
        return _integer_power(base, int(e.exp))
    exponent = _known(_evaluate(e.exp, values, constant))
    # NaN has no integer part.
    if not isinstance(exponent, Interval) and exponent % 1 == 0:
        return _integer_power(base, int(exponent))
    if isinstance(base, int | Fraction):
        raise _IrrationalError
    power = base**exponent if isinstance(base, Interval) else base ** float(exponent)
    # For a negative float it is not a real number.
    return math.nan if isinstance(power, complex) else power


#: The type of most expressions says what they are.
_RULES: Mapping[type, Callable[..., Any]] = {
    sympy.Pow: _power,
    sympy.Mul: _product,
    sympy.Add: _sum,
    sympy.Sum: _repeated,
    sympy.Product: _repeated,
}


def _extreme(parts: list[Any], of_numbers: Callable[[list[Any]], Any], of_arrays: Callable[[Any, Any], Any]) -> Any:
    """The largest or the smallest, entry by entry where some are arrays."""
    if not any(np.ndim(a) for a in parts):
        if any(isinstance(a, float) for a in parts):
            # A fraction that meets floats, as in sums: a float of the same size cannot be distinguished from it.
            parts = [float(a) if isinstance(a, Fraction) else a for a in parts]
        return of_numbers(parts)
    if any(isinstance(a, np.ndarray) and is_exact(a) for a in parts):
        return np.vectorize(lambda *entries: of_numbers(list(entries)), otypes=[object])(*parts)
    return reduce(of_arrays, parts)


def _each(function: Callable[[Any], object], values: Array) -> Array:
    """The values of a function of numbers, entry by entry."""
    return np.vectorize(function, otypes=[object])(values)


def _is_zero(value: object) -> bool:
    """Return True if a number is known to be 0: no float took part in it."""
    return not value.where and value.low == value.high == 0 if isinstance(value, Interval) else value == 0


def _transcendental(value: object, of_interval: Callable[[Any], Any], of_float: Callable[[Any], Any]) -> Any:
    if isinstance(value, np.ndarray) and is_exact(value):
        return _each(lambda one: _transcendental(one, of_interval, of_float), value)
    if isinstance(value, Interval):
        return of_interval(value)
    if isinstance(value, int | Fraction):
        raise _IrrationalError
    return of_float(value)


def _integer_power(base: Any, exponent: int) -> Any:
    if _length(base) * abs(exponent) > _LONGEST:
        raise Undecided(f"a power beyond {_LONGEST} binary digits is not written out")
    try:
        # An integer to a negative power would be a float.
        return (Fraction(base) if isinstance(base, int) else base) ** exponent
    except OverflowError:
        # Beyond the floats.
        return math.copysign(math.inf, base ** (exponent % 2))


def _length(base: object) -> int:
    """Binary digits by which a power grows with its exponent; 0 of what is not exact."""
    if isinstance(base, np.ndarray):
        return max(map(_length, base.flat), default=0) if base.dtype == object else 0
    if isinstance(base, Interval):
        return max(abs(end.numerator.bit_length() - end.denominator.bit_length()) for end in (base.low, base.high))
    if isinstance(base, int | Fraction):
        return max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    return 0


def holds(relation: sympy.Basic, values: Mapping[sympy.Expr, object]) -> bool:
    """Truth of a sympy relation (``<=, <, >=, >, ==``, or an And of some) at ``values``; exact on fractions.

    A relation that is left open by as many digits as are ever looked at does not count as true.
    """
    if isinstance(relation, sympy.And):
        return all(holds(argument, values) for argument in relation.args)
    for digits in (DIGITS, *MORE):
        try:
            with precision(digits):
                return _is_true(relation, evaluate(relation.lhs, values), evaluate(relation.rhs, values))
        except Undecided:
            continue
    return False


def _is_true(relation: sympy.Basic, left: object, right: Any) -> bool:
    if isinstance(left, mpmath.mpf) or isinstance(right, mpmath.mpf):
        left, right = Interval.of(left), Interval.of(right)
    match relation:
        case sympy.Le():
            return bool(left <= right)
        case sympy.Lt():
            return bool(left < right)
        case sympy.Ge():
            return bool(left >= right)
        case sympy.Gt():
            return bool(left > right)
        case sympy.Eq():
            return bool(left == right)
    raise ValueError(f"cannot decide {relation}")
