"""Counterexamples with roots and whole parts as arithmetic: a bound of each side, and these are apart.

A root is bounded by a fraction whose power is compared with what it is the root of; the whole number to which another
is rounded is compared with it, and a maximum with what it is the largest of. All else is arithmetic with the bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from math import ceil, floor
from numbers import Integral
from operator import add, mul
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from verify.comparisons.exact import as_row
from verify.evidence.counterexamples import Counterexample
from verify.export import arithmetic
from verify.report import statement

#: Decimal digits to which roots are taken, one after the other until the sides are apart.
_DIGITS = (8, 16, 32)
#: What is compared where a claim says a relation of two sides, and which of them is then below the other.
_APART = {
    "<=": ("<", [("right", "left")]),
    "<": ("<=", [("right", "left")]),
    "==": ("<", [("right", "left"), ("left", "right")]),
}


def of(claim: Claim, example: Counterexample) -> dict[str, Any] | None:
    """Return the proof object of a counterexample to a comparison of expressions; None if it is not such arithmetic.

    ``claim``: the claim that the object states, possibly that the counterexample's claim fails.
    """
    kind = example.claim.statement
    if kind.horizon or kind.stepping or not example.part.isdigit():
        return None
    relation, ways = _APART[example.relation]
    comparison = kind.comparisons[int(example.part)]
    sides = {"left": comparison.left, "right": comparison.right}
    for digits, (below, above) in product(_DIGITS, ways):
        try:
            bounds = _Bounds(_values(example), digits)
            low, high = bounds.of(sides[below], True), bounds.of(sides[above], False)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            # It is not such arithmetic, or not with so few digits.
            continue
        if low < high or (relation == "<=" and low == high):
            names = [
                side if _exact(sides[side]) else f"{side}, bounded from {end}"
                for side, end in ((below, "above"), (above, "below"))
            ]
            return arithmetic.proof_object(
                claim, example, dict(zip(names, (low, high), strict=True)), bounds.known, (relation, *names)
            )
    return None


def _values(example: Counterexample) -> dict[Any, Any]:
    """The letters and quantities of a claim at an instance, as numbers that know how they were made."""
    instance = arithmetic.followed_instance(example.claim.instances.build(example.recipe, True))
    problem, state = instance.at(as_row(example.point))
    letters = example.claim.setting.bind(problem, instance.params)
    found = {letter: _letter(letter, value) for letter, value in letters.items()}
    for quantity in example.claim.statement.quantities:
        value = np.asarray(quantity.of(problem, instance.params, state), dtype=object).item()
        if not isinstance(value, arithmetic.Followed):
            raise ValueError(f"how {quantity.expression} is made is not known")
        found[quantity.expression] = value
    return found


def _letter(letter: sympy.Expr, value: Any) -> Any:
    if isinstance(value, arithmetic.Followed):
        return value
    return arithmetic.leaf(Fraction(int(value)) if isinstance(value, Integral) else value, statement.expression(letter))


class _Bounds:
    """Bounds of expressions at given values. ``known``: what holds of the fractions that are taken, by names."""

    def __init__(self, values: Mapping[Any, Any], digits: int) -> None:
        self._values, self._digits = values, digits
        self._plain = {e: sympy.Rational(v.numerator, v.denominator) for e, v in values.items()}
        self.known: dict[str, tuple[str, Any, Any]] = {}

    def of(self, e: sympy.Expr, up: bool) -> Any:
        """A number that an expression is at most, or where not ``up`` at least. ``ValueError`` for others."""
        if e in self._values:
            return self._values[e]
        if e.is_Rational:
            return arithmetic.leaf(Fraction(int(e.p), int(e.q)), str(e))
        if e.is_Add:
            return reduce(add, (self.of(a, up) for a in e.args))
        if e.is_Mul:
            return self._product(e, up)
        if e.is_Pow:
            return self._power(e, up)
        if isinstance(e, sympy.Max | sympy.Min):
            return self._largest(e, up)
        if isinstance(e, sympy.ceiling | sympy.floor) and _exact(e):
            x = self.of(e.args[0], up)
            whole = self._leaf(e, "", ceil(x) if isinstance(e, sympy.ceiling) else floor(x))
            low, high = (
                ((whole - 1, "<"), (whole, "<=")) if isinstance(e, sympy.ceiling) else ((whole, "<="), (whole + 1, "<"))
            )
            self._say(e, " from below", low[1], low[0], x)
            self._say(e, " from above", high[1], x, high[0])
            return whole
        raise ValueError(f"{e} is not a number that is bounded")

    def _product(self, e: sympy.Expr, up: bool) -> Any:
        if _exact(e):
            return reduce(mul, (self.of(a, up) for a in e.args))
        number, rest = e.as_coeff_Mul()
        found = reduce(mul, (self._size(a, up == (number > 0)) for a in rest.as_ordered_factors()))
        return found if number == 1 else self.of(number, up) * found

    def _size(self, e: sympy.Expr, up: bool) -> Any:
        """A bound that is not negative, of what is not."""
        found = self.of(e, up)
        if not e.xreplace(self._plain).is_nonnegative or found < 0:
            raise ValueError(f"{e} is not seen to be nonnegative")
        return found

    def _power(self, e: sympy.Expr, up: bool) -> Any:
        power = self._plain.get(e.exp, e.exp)
        if not power.is_Rational:
            raise ValueError(f"{e} has no exponent that is a fraction")
        if power < 0:
            return 1 / self._size(e.base ** (-power), not up)
        base = self.of(e.base, up) if _exact(e) else self._size(e.base, up)
        return self._root(e, base ** int(power.p), int(power.q), up) if power.q > 1 else base ** int(power.p)

    def _root(self, e: sympy.Expr, x: Any, order: int, up: bool) -> Any:
        side, unit = "above" if up else "below", 10**self._digits
        below = sympy.integer_nthroot(x.numerator * unit**order // x.denominator, order)[0]
        root = self._leaf(e, f" from {side}", Fraction(int(below) + up, unit))
        if up:
            self._say(e, " is not negative", "<=", arithmetic.leaf(Fraction(0), "0"), root)
        self._say(e, f" from {side} is a bound", "<=", *((x, root**order) if up else (root**order, x)))
        return root

    def _largest(self, e: sympy.Expr, up: bool) -> Any:
        """A bound of a maximum or of a minimum: of all that it is of where one does not do."""
        parts = [_Bounds(self._values, self._digits) for _ in e.args]
        found = [part.of(a, up) for part, a in zip(parts, e.args, strict=True)]
        one = max(found) if isinstance(e, sympy.Max) else min(found)
        every = up == isinstance(e, sympy.Max)
        for k, (part, other) in enumerate(zip(parts, found, strict=True), 1):
            if every or other is one:
                self.known |= part.known
            if every and other is not one:
                self._say(e, f" beside argument {k}", "<=", *((other, one) if up else (one, other)))
        return one

    def _leaf(self, e: sympy.Expr, more: str, value: Any) -> Any:
        return arithmetic.leaf(Fraction(value), f"{self._name(e)}{more}")

    def _say(self, e: sympy.Expr, more: str, relation: str, one: Any, other: Any) -> None:
        self.known[f"{self._name(e)}{more}"] = (relation, one, other)

    def _name(self, e: sympy.Expr) -> str:
        return f"the number {statement.expression(e)}"


def _exact(e: sympy.Expr) -> bool:
    """Return True if an expression contains no roots, so that its bounds are exact."""
    return all(p.exp.is_integer for p in e.atoms(sympy.Pow))
