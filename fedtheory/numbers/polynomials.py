"""Numbers that are not known: polynomials of degree two at most in unknowns, which code may compute with but not see.

Run on them, a step or a potential shows what it is for all states at once, or ends in :class:`NotPolynomial`: they are
compared only where the answer is the same whatever the unknowns are, and nothing is divided by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array, exact

#: The unknowns of a monomial, in ascending order: none, one or two.
Monomial = tuple[int, ...]
_NUMBERS = (int, Quotient, Interval)


class NotPolynomial(ValueError):
    """Raised for an expression that is not a polynomial of degree at most two in the unknowns."""


_refusals: ContextVar[int] = ContextVar("refusals", default=0)


def _refused(message: str) -> NotPolynomial:
    _refusals.set(_refusals.get() + 1)
    return NotPolynomial(message)


@contextmanager
def unseen() -> Iterator[None]:
    """``NotPolynomial`` also where code caught what it was refused, and went another way than with numbers."""
    before = _refusals.get()
    yield
    if _refusals.get() != before:
        raise NotPolynomial("the code looks at a number that is not known")


def _number(value: object) -> Any:
    """Return a coefficient; None if it is not an exact number."""
    if type(value) is Quotient:
        return value
    if isinstance(value, np.integer | np.bool_ | bool):
        return int(value)
    if isinstance(value, _NUMBERS):
        return value
    if isinstance(value, Unknown):
        return None
    return Quotient(value) if hasattr(value, "denominator") else None


def _is_zero(value: object) -> bool:
    # The sign of an interval around zero is not known.
    return not value if type(value) is Quotient else not isinstance(value, Interval) and value == 0


class Unknown:
    """A number that code may hand on and not look at, nor compute with unless a subclass says how."""

    __slots__ = ()
    #: It stands in arrays of exact numbers.
    exact = True

    def _refuse(self, *others: Any) -> Any:
        raise _refused("the code looks at a number that is not known")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # Attributes that numpy reads of every object in an array.
            raise AttributeError(name)
        raise _refused(f"the code asks for {name} of a number that is not known")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = __float__ = _refuse
    __int__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = __hash__ = _refuse
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = __rpow__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse
    __neg__ = __pos__ = _refuse


class Undetermined(Unknown):
    """A number about which nothing is known, or that is computed from one."""

    def _with(self, *others: Any) -> Undetermined:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __pow__ = __neg__ = __pos__ = _with


@dataclass(frozen=True, slots=True, eq=False)
class Polynomial(Unknown):
    """The sum of ``terms``, each a coefficient times its unknowns."""

    terms: Mapping[Monomial, Any]

    @property
    def degree(self) -> int:
        """The largest number of unknowns in a term."""
        return max(map(len, self.terms), default=0)

    @property
    def key(self) -> tuple[Any, ...]:
        """A key shared by two polynomials if and only if they are equal."""
        return tuple(sorted(self.terms.items()))

    def _plus(self, other: object, sign: int) -> Any:
        if isinstance(other, Polynomial):
            added = other.terms
        elif isinstance(other, _OTHERS):
            return NotImplemented
        else:
            added = {(): _exactly(other)}
        if not added or (sign == 1 and not self.terms and isinstance(other, Polynomial)):
            return self if not added else other
        terms = dict(self.terms)
        for monomial, value in added.items():
            if sign != 1:
                value = -value
            total = terms[monomial] + value if monomial in terms else value
            if _is_zero(total):
                terms.pop(monomial, None)
            else:
                terms[monomial] = total
        return _of(terms)

    def __add__(self, other: object) -> Any:
        return self._plus(other, 1)

    def __sub__(self, other: object) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: object) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: object) -> Any:
        if type(other) is Quotient:
            if not other or not self.terms:
                return _NOTHING
            return _of({m: other * value for m, value in self.terms.items()})
        if isinstance(other, Polynomial):
            if self.degree + other.degree > 2:
                raise _refused("a product of more than two unknowns")
            found = Polynomial({})
            for one, a in self.terms.items():
                found = found._plus(Polynomial({tuple(sorted(one + two)): a * b for two, b in other.terms.items()}), 1)
            return found
        if isinstance(other, _OTHERS):
            return NotImplemented
        number = _exactly(other)
        return _NOTHING if _is_zero(number) else _of({m: number * value for m, value in self.terms.items()})

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, _OTHERS) and not isinstance(other, Polynomial):
            return NotImplemented
        number = other._known if isinstance(other, Polynomial) else _exactly(other)
        return self * (Quotient(1) / number)

    def __rtruediv__(self, other: object) -> Any:
        return other / self._known

    def __pow__(self, exponent: object) -> Any:
        if exponent == 2:
            return self * self
        if exponent == 1:
            return self
        raise _refused(f"the power {exponent} of what is not known")

    @property
    def _known(self) -> Any:
        """The number that this is whatever the unknowns are."""
        if self.terms.keys() - {()}:
            self._refuse()
        return self.terms.get((), Quotient(0))

    def __eq__(self, other: object) -> Any:
        return (self - other)._known == 0

    def __ne__(self, other: object) -> Any:
        return (self - other)._known != 0

    def __lt__(self, other: object) -> Any:
        return (self - other)._known < 0

    def __le__(self, other: object) -> Any:
        return (self - other)._known <= 0

    def __gt__(self, other: object) -> Any:
        return (self - other)._known > 0

    def __ge__(self, other: object) -> Any:
        return (self - other)._known >= 0

    def __bool__(self) -> bool:
        return bool(self._known != 0)

    def __abs__(self) -> Any:
        return abs(self._known)

    def __float__(self) -> float:
        return float(self._known)

    __hash__ = Unknown.__hash__


_new, _set_terms = object.__new__, vars(Polynomial)["terms"].__set__


def _of(terms: Mapping[Monomial, Any]) -> Polynomial:
    """The polynomial of these terms, in half the time that the constructor of a frozen class takes."""
    made = _new(Polynomial)
    _set_terms(made, terms)
    return made


_NOTHING = _of({})

#: Types whose operations with an unknown number are left to the other operand.
_OTHERS = (np.ndarray, Unknown)


def _exactly(value: object) -> Any:
    number = _number(value)
    if number is None:
        raise _refused(f"a number that is not known meets {value!r:.50}, which is not an exact number")
    return number


def unknowns(first: int, size: int) -> Array:
    """The unknowns of these numbers: ``(size,)``."""
    found = np.empty(size, dtype=object)
    found[:] = [Polynomial({(first + i,): 1}) for i in range(size)]
    return found


def coefficients(values: Array, first: int, size: int) -> Array:
    """The matrix of linear forms in the unknowns of these numbers, ``(..., size)`` of values ``(...)``.

    Raise ``NotPolynomial`` if a value is none: it has a constant, or other unknowns.
    """
    found = np.full((*values.shape, size), Quotient(0), dtype=object)
    for index, value in np.ndenumerate(values):
        for monomial, coefficient in terms_of(value).items():
            if len(monomial) != 1 or not 0 <= monomial[0] - first < size:
                raise NotPolynomial("a value is not a linear form of the coordinates")
            found[(*index, monomial[0] - first)] = coefficient
    return exact(found)


def form(value: object, first: int, size: int) -> Array:
    """The symmetric matrix Q of a quadratic form z'Qz in the unknowns of these numbers; ``NotPolynomial`` of others."""
    terms = terms_of(value)
    if not all(len(m) == 2 and first <= m[0] and m[1] < first + size for m in terms):
        raise NotPolynomial("a value is not a quadratic form of the coordinates")
    Q = np.full((size, size), Quotient(0), dtype=object)
    for (i, j), c in terms.items():
        Q[i - first, j - first] += c * Quotient(1, 2)
        Q[j - first, i - first] += c * Quotient(1, 2)
    return Q


def terms_of(value: object) -> Mapping[Monomial, Any]:
    """The terms of a polynomial, or of a number; ``NotPolynomial`` of what is neither."""
    if isinstance(value, Polynomial):
        return value.terms
    number = _number(value)
    if number is None:
        raise NotPolynomial("a value is not a polynomial of the coordinates")
    return {} if _is_zero(number) else {(): number}


def same(one: object, two: object) -> bool:
    """Return True if two values are the same polynomial or number."""
    try:
        a, b = terms_of(one), terms_of(two)
    except NotPolynomial:
        return False
    return a.keys() == b.keys() and all(v is b[m] or _equal(v, b[m]) for m, v in a.items())


def _equal(one: object, two: object) -> bool:
    # Two roots in one interval need not be the same.
    return not isinstance(one, Interval) and not isinstance(two, Interval) and bool(one == two)
