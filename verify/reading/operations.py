"""Arithmetic and comparisons of values in code that is read: exact for numbers, symbolic for terms."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verify.reading import terms
from verify.reading.arrays import as_term
from verify.reading.terms import Op, Term
from verify.reading.values import CONSTANTS, Condition, Numbers, Unknown, describe

#: Expressions read, and parts of a tuple, at most: a loop that is written may still be long.
LARGEST = 200_000
#: The largest whole number, written or computed: arrays of whole numbers overflow beyond 2^63.
WHOLE = 2**31
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: Fraction(a) / Fraction(b),
    ast.Pow: lambda a, b: Fraction(a) ** b,
}
_WHOLE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: The canonical form of comparisons of letters: from the left, or from the right.
_WRITTEN: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
}


#: Constants that compare alike in floats and in fractions.
PLAIN = (int, bool, str, type(None))


def operated(by: ast.operator, one: Any, other: Any) -> Any:
    """Return the result of an operator on two values."""
    if isinstance(one, Numbers) or isinstance(other, Numbers):
        if not all(isinstance(v, Numbers | Term) or type(v) in CONSTANTS for v in (one, other)):
            raise ValueError(f"{describe(one)} and {describe(other)} are taken together")
        return Numbers("unknown numbers")
    numbers = all(type(v) in (int, bool, Fraction) for v in (one, other))
    if numbers and type(by) in _ARITHMETIC:
        found = _ARITHMETIC[type(by)](one, other)
        if abs(found) > WHOLE:
            raise ValueError(f"a number beyond {WHOLE} is made, which whole numbers in arrays may not hold")
        return int(found) if type(found) is bool else found
    if numbers and type(by) in _WHOLE and type(one) is int and type(other) is int:
        return _WHOLE[type(by)](one, other)
    if isinstance(by, ast.Mult) and type(one) is tuple and type(other) is int:
        if len(one) * other > LARGEST:
            raise ValueError(f"a tuple has more than {LARGEST} parts")
        return one * other
    a, b = as_term(one), as_term(other) if not isinstance(by, ast.Pow) else terms.constant(0)
    if isinstance(by, ast.Add):
        return terms.add(a, b)
    if isinstance(by, ast.Sub):
        if a.type.mask and b.type.mask:
            raise ValueError("a mask is subtracted from a mask, which numpy does not do")
        return terms.add(a, terms.negative(b))
    if isinstance(by, ast.Mult):
        return terms.multiply(a, b)
    if isinstance(by, ast.Div):
        return terms.divide(a, b)
    if isinstance(by, ast.Pow):
        if type(other) is Fraction and abs(other) == Fraction(1, 2):
            return terms.root(a) if other > 0 else terms.divide(terms.constant(1), terms.root(a))
        if type(other) is not int and not (type(other) is Fraction and other.denominator == 1):
            raise ValueError(f"a power has {describe(other)} as its exponent, where an integer is expected")
        return terms.power(a, int(other))
    if isinstance(by, ast.BitAnd | ast.BitOr):
        return terms.logical(Op.AND if isinstance(by, ast.BitAnd) else Op.OR, a, b)
    raise ValueError(f"no rule says what {type(by).__name__} is")


def related(by: ast.cmpop, one: Any, other: Any) -> Any:
    """Return the result of comparing two values: a truth value, or a condition on letters."""
    if isinstance(by, ast.Is | ast.IsNot):
        if other is not None or isinstance(one, Unknown):
            raise ValueError(f"{describe(one)} is compared by identity with {describe(other)}")
        return (one is None) is isinstance(by, ast.Is)
    if isinstance(by, ast.In | ast.NotIn):
        # Written floats may compare otherwise than the decimals that they approximate.
        if type(one) in PLAIN and type(other) is tuple and all(type(v) in CONSTANTS for v in other):
            return (one in other) is isinstance(by, ast.In)
    elif type(one) in PLAIN and type(other) in PLAIN:
        return _ORDER[type(by)](one, other)
    elif type(by) in _WRITTEN and all(is_number(v) for v in (one, other)):
        text, turned = _WRITTEN[type(by)]
        sides = as_term(one), as_term(other)
        return Condition(text, sides[::-1] if turned else sides)
    raise ValueError(f"{describe(one)} is compared with {describe(other)}")


def is_number(value: Any) -> bool:
    """Return True if a value is one number, the same in all replicas."""
    term = value if isinstance(value, Term) else None
    return type(value) in (int, Fraction) or (
        term is not None and term.type.degree < 1 and not (term.type.axes or term.type.batched or term.type.mask)
    )


def joined(by: str, found: list[Any]) -> Any:
    """Return the combination of conditions; its value, if the known ones among them decide it."""
    absorbing = by == "or"
    if any(value is absorbing for value in found):
        return absorbing
    left = [value for value in found if isinstance(value, Condition)]
    if not left:
        return not absorbing
    return left[0] if len(left) == 1 else Condition(by, tuple(left))
