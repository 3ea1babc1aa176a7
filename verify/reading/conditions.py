"""Conditions on letters as relations between expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from verify.reading.source import Unread
from verify.reading.values import Condition

#: Comparisons, by how a condition has them.
COMPARISONS: Mapping[str, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<": sympy.Lt, "<=": sympy.Le}
#: What quotients by zero are.
_NO_NUMBERS = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)


def relation(condition: Any, number: Callable[[Any], sympy.Expr]) -> sympy.Basic:
    """A condition, or a truth value that is known, as a relation; ``number``: which expression a side is.

    ``Unread`` where a side is no number.
    """
    if not isinstance(condition, Condition):
        return sympy.sympify(bool(condition))
    if condition.by in COMPARISONS:
        sides = [number(side) for side in condition.of]
        if any(side.has(*_NO_NUMBERS) for side in sides):
            raise Unread("a side of a condition is divided by zero")
        return COMPARISONS[condition.by](*sides)
    join: Any = {"not": sympy.Not, "and": sympy.And, "or": sympy.Or}[condition.by]
    return join(*(relation(part, number) for part in condition.of))
