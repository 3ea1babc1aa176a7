"""Relations as a paper prints them: ``E(gap_T) <= rate**T * gap_0``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy


class Term:
    """What stands in a relation beside letters and numbers: a quantity, or what is composed of some.

    ``expression``: the sympy expression that stands for it; ``spoken_of``: its quantities, each once.
    """

    expression: sympy.Expr

    @property
    def spoken_of(self) -> tuple[Any, ...]:
        """The quantities of the term, each once."""
        return (self,)

    def __add__(self, other: Any) -> Composed:
        return _composed(operator.add, self, other)

    def __radd__(self, other: Any) -> Composed:
        return _composed(operator.add, other, self)

    def __sub__(self, other: Any) -> Composed:
        return _composed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Composed:
        return _composed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Composed:
        return _composed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Composed:
        return _composed(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Composed:
        return _composed(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Composed:
        return _composed(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Composed:
        return _composed(operator.pow, self, other)

    def __neg__(self) -> Composed:
        return _composed(operator.mul, -1, self)

    def __le__(self, other: Any) -> Relation:
        return Relation(side(self), side(other))

    def __ge__(self, other: Any) -> Relation:
        return Relation(side(other), side(self))

    def __lt__(self, other: Any) -> Relation:
        return Relation(side(self), side(other), strict=True)

    def __gt__(self, other: Any) -> Relation:
        return Relation(side(other), side(self), strict=True)


@dataclass(frozen=True)
class Composed(Term):
    """An expression in letters and quantities."""

    expression: sympy.Expr
    quantities: tuple[Any, ...]

    @property
    def spoken_of(self) -> tuple[Any, ...]:
        """The quantities of the expression, each once."""
        return self.quantities


@dataclass(frozen=True)
class Relation:
    """left <= right, or left < right where it is ``strict``."""

    left: Composed
    right: Composed
    strict: bool = False

    @property
    def quantities(self) -> tuple[Any, ...]:
        """The quantities of both sides, each once."""
        return _each_once(self.left.spoken_of + self.right.spoken_of)

    def __bool__(self) -> bool:
        raise TypeError("a relation is stated, not decided: a <= b <= c cannot be written as one")


def E(term: Term) -> Term:
    """The expectation over the draws, of a quantity after a step or after T rounds; ``ValueError`` of any other."""
    if not any(quantity.after for quantity in term.spoken_of):
        raise ValueError(f"E is taken of what comes after a step, and {term.expression} comes before: leave E out")
    return term


def side(term: Any) -> Composed:
    """A side of a relation; ``ValueError`` for what is neither a term, nor a letter, nor a number."""
    if isinstance(term, Term):
        return Composed(term.expression, term.spoken_of)
    try:
        return Composed(sympy.sympify(term, strict=True), ())
    except sympy.SympifyError as error:
        raise ValueError(f"a relation is between quantities, letters and numbers, got {term!r}") from error


def _composed(join: Callable[[Any, Any], Any], left: Any, right: Any) -> Composed:
    a, b = side(left), side(right)
    return Composed(join(a.expression, b.expression), _each_once(a.quantities + b.quantities))


def _each_once(quantities: tuple[Any, ...]) -> tuple[Any, ...]:
    found: list[Any] = []
    for quantity in quantities:
        if not any(quantity is known for known in found):
            found.append(quantity)
    return tuple(found)
