"""Parts of a domain, and in which of them one quotient of posynomials is at most another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

import sympy

from verify.exact import domination
from verify.exact.domination import Constraint, Domain
from verify.exact.posynomials import Posynomial, Ratio, difference, product, raised, times

#: Terms of a sum of which one is the largest in a case of its own.
SPLIT = 6


class Value(NamedTuple):
    """A number as its sign, which may also be that of 0, and its size."""

    sign: int
    size: Ratio


@dataclass(frozen=True)
class Case:
    """A part of the domain: constraints there, and what expressions are."""

    domain: Domain
    values: Mapping[sympy.Expr, Value] = field(default_factory=lambda: MappingProxyType({}))

    def where(self, *constraints: Constraint) -> Case:
        """The part of it where constraints hold."""
        return replace(self, domain=self.domain.with_constraints(*constraints)) if constraints else self


#: What an expression is, and where.
Found = list[tuple[Value, Case]]


def cleared(above: Ratio, below: Ratio) -> tuple[Posynomial, Posynomial, Posynomial]:
    """above - below as (plus - minus)/bottom."""
    if above.bottom == below.bottom:
        return *difference(above.top, below.top), above.bottom
    plus, minus = difference(product(above.top, below.bottom), product(below.top, above.bottom))
    return plus, minus, product(above.bottom, below.bottom)


def ordered(low: Ratio, high: Ratio, case: Case, split: int = SPLIT) -> list[Case]:
    """The cases in which one number is at most another; perhaps more, of a sum of more than ``split`` terms."""
    plus, minus, _ = cleared(high, low)
    if not minus:
        return [case]
    if len(plus) > split:
        return [case]
    found = []
    for monomial, c in plus.items():
        # Of a sum each term may be the largest, which is at least its share.
        rest = {m: k for m, k in plus.items() if m != monomial}
        bounded = [(m, k / len(plus)) for m, k in minus.items()] + list(rest.items())
        part = case.where(*(Constraint(c / k, times(monomial, raised(m, Fraction(-1)))) for m, k in bounded))
        if domination.emptying(part.domain) is None:
            found.append(part)
    return found


def largest(size: Ratio, others: Sequence[Ratio], case: Case, split: int = SPLIT) -> list[Case]:
    """The cases in which a number is at least each of some others; perhaps more than those."""
    cases = [case]
    for other in others:
        cases = [one for each in cases for one in ordered(other, size, each, split)]
    return cases
