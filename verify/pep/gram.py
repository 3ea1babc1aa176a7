"""Vectors that are only known by their inner products, and the quadratic expressions in them.

A worst case over all dimensions needs no coordinates: a vector is a linear combination of *rows*, abstract vectors
whose Gram matrix is the unknown, and a scalar is a linear expression in the entries of that matrix and in function
values. Both are Python numbers to numpy: an object array of vectors, with last axis of length one, goes through the
oracles, steps and potentials of this package unchanged. Coefficients are fractions, or sympy expressions where a
statement is proved for all parameters at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.numbers.rational import Array

#: A fraction, an integer or a sympy expression.
Number = Any
_EXACT = (int, Fraction, sympy.Expr)
_NUMBERS = (*_EXACT, np.integer, np.bool_)


class BasisVector(NamedTuple):
    """An abstract vector. Rows of different ``block`` are orthogonal: uncorrelated noise, other representations."""

    block: str
    name: str


class NotLinear(ValueError):
    """An expression that is not linear in the Gram matrix and the function values."""


def _number(value: Any) -> Number:
    """A coefficient: numpy integers become Python's; a float is refused, for it would hide rounding."""
    if isinstance(value, np.integer | np.bool_):
        return int(value)
    if isinstance(value, _EXACT):
        return value
    raise TypeError(f"a coefficient must be exact, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS)


def _is_zero(value: Number) -> bool:
    # Sympy's == is structural: 0 is recognised as such once sums are formed, other zeros are left to the prover.
    return bool(value == 0)


def _merge(a: Mapping[Any, Number], b: Mapping[Any, Number], sign: int) -> dict[Any, Number]:
    out = dict(a)
    for key, value in b.items():
        signed = value if sign == 1 else -value
        total = out[key] + signed if key in out else signed
        if _is_zero(total):
            out.pop(key, None)
        else:
            out[key] = total
    return out


class _Linear:
    """The operations shared by vectors and forms: addition within a type, and multiplication by numbers."""

    __slots__ = ()

    def _combine(self, other: Any, sign: int) -> Any:
        raise NotImplementedError

    def _scale(self, factor: Number) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._combine(other, 1)

    def __radd__(self, other: Any) -> Any:
        return self._combine(other, 1)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._combine(other, 1)

    def __neg__(self) -> Any:
        return self._scale(-1)

    def __eq__(self, other: object) -> bool:
        raise NotLinear("a comparison of vectors or scalars that are not known")

    def __ne__(self, other: object) -> bool:
        raise NotLinear("a comparison of vectors or scalars that are not known")

    def __bool__(self) -> bool:
        raise NotLinear("a condition on vectors or scalars that are not known")

    __hash__ = None  # type: ignore[assignment]

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, _Linear):
            raise NotLinear("a division by a scalar that is not known")
        if not _is_number(divisor):
            return NotImplemented
        number = _number(divisor)
        return self._scale(1 / (Fraction(number) if isinstance(number, int) else number))

    def __rtruediv__(self, other: Any) -> Any:
        raise NotLinear("a division by a scalar that is not known")


@dataclass(frozen=True, slots=True, eq=False)
class Vector(_Linear):
    """A linear combination of rows. ``a * b`` is the inner product, ``a ** 2`` the squared norm."""

    coefficients: Mapping[BasisVector, Number]

    def _combine(self, other: Any, sign: int) -> Any:
        if isinstance(other, Vector):
            return Vector(_merge(self.coefficients, other.coefficients, sign))
        return self if _is_number(other) and _is_zero(other) else NotImplemented

    def _scale(self, factor: Number) -> Vector:
        return Vector({row: factor * c for row, c in self.coefficients.items() if not _is_zero(factor)})

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return _product(self.coefficients, other.coefficients)
        return self._scale(_number(other)) if _is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __pow__(self, power: int) -> Form:
        if power != 2:
            raise TypeError("a vector can only be squared")
        return self * self

    def __str__(self) -> str:
        terms = (f"{'' if c == 1 else '-' if c == -1 else f'{c} '}{row.name}" for row, c in self.coefficients.items())
        return " + ".join(terms).replace("+ -", "- ") or "0"

    @property
    def key(self) -> frozenset[tuple[BasisVector, Number]]:
        """A key that distinguishes vectors."""
        return frozenset(self.coefficients.items())


def _product(a: Mapping[BasisVector, Number], b: Mapping[BasisVector, Number]) -> Form:
    entries: dict[tuple[BasisVector, BasisVector], Number] = {}
    for left, s in a.items():
        for right, t in b.items():
            if left.block == right.block:
                pair = (left, right) if left <= right else (right, left)
                entries[pair] = entries[pair] + s * t if pair in entries else s * t
    return Form({pair: c for pair, c in entries.items() if not _is_zero(c)}, {}, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Form(_Linear):
    """``constant`` + sum of ``entries[a, b]`` <a, b> + sum of ``values[v]`` v.

    Each unordered pair of rows appears once; ``values`` are the coefficients of function values, by name.
    """

    entries: Mapping[tuple[BasisVector, BasisVector], Number]
    values: Mapping[str, Number]
    constant: Number = 0

    def _combine(self, other: Any, sign: int) -> Any:
        if isinstance(other, Form):
            return Form(
                _merge(self.entries, other.entries, sign),
                _merge(self.values, other.values, sign),
                self.constant + sign * other.constant,
            )
        if not _is_number(other):
            return NotImplemented
        return Form(self.entries, self.values, self.constant + sign * _number(other))

    def _scale(self, factor: Number) -> Form:
        if _is_zero(factor):
            return Form({}, {}, 0)
        entries = {pair: factor * c for pair, c in self.entries.items()}
        return Form(entries, {name: factor * c for name, c in self.values.items()}, factor * self.constant)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Form | Vector):
            raise NotLinear("a product of scalars")
        return self._scale(_number(other)) if _is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __pow__(self, power: Any) -> Any:
        raise NotLinear("a power of a scalar")

    def _unordered(self, other: Any) -> bool:
        raise NotLinear("a comparison of scalars, as in a maximum")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    @property
    def rows(self) -> set[BasisVector]:
        """The rows that appear."""
        return {row for pair in self.entries for row in pair}

    def matrix(self, rows: list[BasisVector]) -> Array:
        """The symmetric matrix (object array) of the form on these rows."""
        place = {row: i for i, row in enumerate(rows)}
        out = np.full((len(rows), len(rows)), Fraction(0), dtype=object)
        for (a, b), c in self.entries.items():
            if a in place:
                i, j = place[a], place[b]
                out[i, j] = out[j, i] = c if i == j else c * Fraction(1, 2)
        return out

    def image(self, vector: Mapping[BasisVector, Number]) -> dict[BasisVector, Number]:
        """The symmetric matrix of the form times a sparse vector, whose rows are of one block."""
        out: dict[BasisVector, Number] = {}
        for (a, b), c in self.entries.items():
            for here, there in ((a, b), (b, a)):
                if there in vector:
                    out[here] = out.get(here, 0) + c * vector[there] / 2
        return out

    def rescaled(self, rows: Mapping[BasisVector, Number], values: Mapping[str, Number]) -> Form:
        """The form in other units: each row and function value is its unit times a new one."""
        entries = {(a, b): c * rows[a] * rows[b] for (a, b), c in self.entries.items()}
        return Form(entries, {name: c * values[name] for name, c in self.values.items()}, self.constant)

    @property
    def is_zero(self) -> bool:
        """True if every coefficient is (structurally) zero."""
        return not self.entries and not self.values and _is_zero(self.constant)


def row(name: str, block: str = "state") -> Vector:
    """The vector that is one row."""
    return Vector({BasisVector(block, name): 1})


def value(name: str) -> Form:
    """The scalar that is one function value."""
    return Form({}, {name: 1}, 0)


ZERO = Vector({})


def scalar(value: Any) -> Form:
    """The only entry of an array, as a form."""
    return np.asarray(value, dtype=object).ravel()[0] + Form({}, {}, 0)


class Sample(NamedTuple):
    """A function at a point: the point, the gradient and the value there."""

    point: Vector
    gradient: Vector
    value: Form


#: The minimiser of a function from which its tangent there is subtracted: point, gradient and value are zero.
OPTIMUM = Sample(ZERO, ZERO, Form({}, {}, Fraction(0)))


def interpolation(one: Sample, other: Sample, mu: Number, L: Number) -> Form:
    """The form that is <= 0 when a function of the class takes both samples: Taylor, Hendrickx and Glineur (2017).

    mu-strongly convex and L-smooth, mu < L; mu = -L is the class of smooth nonconvex functions, mu = 0 the convex one,
    and an infinite L that of functions which need not be smooth.
    All ordered pairs together are also sufficient. For mu = L see :func:`quadratic_sample`.
    """
    if L == math.inf:
        return strong_convexity(one, other, mu)
    mu, L = (Fraction(c) if isinstance(c, int) else c for c in (mu, L))
    x, g = one.point - other.point, one.gradient - other.gradient
    lower = other.value + other.gradient * x - one.value
    return lower + (g**2 / L + mu * x**2 - 2 * mu / L * (g * x)) / (2 * (1 - mu / L))


def smoothness(one: Sample, other: Sample, L: Number) -> Form:
    """The form f(x) - f(y) - <grad f(y), x - y> - L/2 |x - y|^2 <= 0, with x in ``one`` and y in ``other``."""
    x = one.point - other.point
    return one.value - other.value - other.gradient * x - L * x**2 / 2


def strong_convexity(one: Sample, other: Sample, mu: Number) -> Form:
    """The form f(y) + <grad f(y), x - y> + mu/2 |x - y|^2 - f(x) <= 0, with x in ``one`` and y in ``other``."""
    x = one.point - other.point
    return other.value + other.gradient * x + mu * x**2 / 2 - one.value


def interpolate(name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[tuple[str, Form]]:
    """Named constraints (form <= 0), one for each ordered pair of samples of one function.

    Raise ``ValueError`` unless |mu| <= L and L > 0.
    """
    if not (L > 0 and -L <= mu <= L):
        raise ValueError(f"a function class takes -L <= mu <= L and L > 0, got mu = {mu}, L = {L}")
    listed = list(samples)
    if mu == L:
        # The samples are those of one quadratic already (see quadratic_sample): nothing is left to ask.
        return []
    return [
        (f"{name}[{i},{j}]", interpolation(a, b, mu, L))
        for i, a in enumerate(listed)
        for j, b in enumerate(listed)
        if i != j
    ]


def quadratic_sample(point: Vector, L: Number) -> Sample:
    """The sample of L/2 |.|^2, the only function (up to an affine one) that is L-strongly convex and L-smooth."""
    return Sample(point, L * point, L * point**2 / 2)
