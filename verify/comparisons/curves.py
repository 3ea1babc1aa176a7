"""Growth along a curve: exact leading terms as N grows, of expressions whose letters are powers of N.

An expression is expanded in powers of N, log N and log log N, as far as is needed to see which term leads; coefficients
are exact, and what is left out is known up to a constant. A letter that tends to 0 or to infinity *first* has powers
and logarithms of its own, beside which those of N are constants. What cancels as far as an expansion goes, or is none
of its kind, raises :class:`UndecidedExpansion`: nothing is decided then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy

#: Powers of the small variable that an expansion keeps.
_ORDER = 4
#: The most terms that it keeps.
_TERMS = 24
#: Digits to which the sign of an irrational number is found.
_DIGITS = 30
#: The size below which the sign is not decided.
_NEAR = sympy.Rational(1, 10**20)
#: A power beyond those of what is expanded.
_FAR = 10**6
#: The scales are powers of 1/epsilon, its logarithm and that of it; of what tends to infinity next; and of N.
FIRST, SECOND, LAST = 0, 3, 6
_SCALES = 9

#: Powers of each scale, the largest scale first.
Scale = tuple[Fraction, ...]
ONE: Scale = (Fraction(0),) * _SCALES


class UndecidedExpansion(ValueError):
    """Raised when the expansion of an expression along a curve decides nothing."""


def _unit(place: int, power: Any = 1) -> Scale:
    return tuple(Fraction(power) if k == place else Fraction(0) for k in range(_SCALES))


def _times(a: Scale, b: Scale) -> Scale:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _raised(a: Scale, power: Fraction) -> Scale:
    return tuple(x * power for x in a)


def sign(number: sympy.Expr) -> int:
    """The sign of a real number; :class:`UndecidedExpansion` where it is so small that it may be 0."""
    if number.is_Rational:
        return (number.p > 0) - (number.p < 0)
    value = number.evalf(_DIGITS)
    if not value.is_Float or abs(value) < _NEAR:
        raise UndecidedExpansion(f"the sign of {number} is not decided")
    return 1 if value > 0 else -1


@dataclass(frozen=True)
class Expansion:
    """A sum of coefficients times scales; ``rest``: what is left out is at most a constant times this, None for 0."""

    terms: Mapping[Scale, sympy.Expr]
    rest: Scale | None = None

    @property
    def leading(self) -> tuple[Scale, sympy.Expr]:
        """The scale that leads, with its coefficient; `UndecidedExpansion` for 0, or if all known terms cancel."""
        if not self.terms:
            raise UndecidedExpansion("what leads cancels")
        scale = max(self.terms)
        return scale, self.terms[scale]

    @property
    def is_zero(self) -> bool:
        """Return True if it is exactly 0."""
        return not self.terms and self.rest is None

    def sign(self) -> int:
        """The sign that it has for all N beyond some."""
        return 0 if self.is_zero else sign(self.leading[1])

    def __add__(self, other: Expansion) -> Expansion:
        total = dict(self.terms)
        for scale, c in other.terms.items():
            total[scale] = total.get(scale, sympy.S.Zero) + c
        return _made(total, _larger(self.rest, other.rest))

    def __mul__(self, other: Expansion) -> Expansion:
        total: dict[Scale, sympy.Expr] = {}
        for a, c in self.terms.items():
            for b, k in other.terms.items():
                scale = _times(a, b)
                total[scale] = total.get(scale, sympy.S.Zero) + c * k
        rest = None
        for one, two in ((self, other), (other, self)):
            if one.rest is not None:
                heads = [max(two.terms)] if two.terms else []
                heads += [two.rest] if two.rest is not None else []
                for head in heads:
                    rest = _larger(rest, _times(one.rest, head))
        return _made(total, rest)

    def __neg__(self) -> Expansion:
        return Expansion({scale: -c for scale, c in self.terms.items()}, self.rest)

    def __sub__(self, other: Expansion) -> Expansion:
        return self + -other

    def power(self, exponent: Fraction) -> Expansion:
        """The expansion to a rational power."""
        if exponent.denominator == 1 and 0 <= exponent <= _ORDER:
            return reduce(Expansion.__mul__, [self] * int(exponent), constant(1))
        if self.is_zero:
            if exponent > 0:
                return self
            raise UndecidedExpansion("a division by zero")
        scale, c = self.leading
        if exponent.denominator > 1 and sign(c) < 0:
            raise UndecidedExpansion("a root of a negative number")
        q = sympy.Rational(exponent.numerator, exponent.denominator)
        head = Expansion({_raised(scale, exponent): c**q})
        return head * self._near_one(lambda k: sympy.binomial(q, k))

    def log(self) -> Expansion:
        """The logarithm of what is positive."""
        scale, c = self.leading
        if sign(c) < 0:
            raise UndecidedExpansion("a logarithm of a negative number")
        total = _made({ONE: sympy.log(c)}, None)
        for place, power in enumerate(scale):
            if power:
                if place % 3 == 2:
                    raise UndecidedExpansion("a logarithm of log log N")
                total = total + Expansion({_unit(place + 1): _rational(power)})
        series = self._near_one(lambda k: sympy.Rational((-1) ** (k + 1), k) if k else sympy.S.Zero)
        return total + series

    def exp(self) -> Expansion:
        """The exponential, where that is of the size of a power."""
        found, small = constant(1), Expansion({}, self.rest)
        if self.rest is not None and self.rest >= ONE:
            raise UndecidedExpansion("an exponential of an unknown expression")
        if self.terms and _unit(LAST + 1) < self.leading[0] < _unit(LAST, _FAR) and self.sign() < 0:
            # Below every power of N.
            return Expansion({}, _unit(LAST, -_FAR))
        for scale, c in self.terms.items():
            if scale < ONE:
                small = small + Expansion({scale: c})
            elif scale == ONE:
                found = found * Expansion({ONE: sympy.exp(c)})
            else:
                place = next(k for k, power in enumerate(scale) if power)
                if scale != _unit(place) or place % 3 == 0 or not c.is_Rational:
                    raise UndecidedExpansion("an exponential beyond the powers of N")
                found = found * Expansion({_unit(place - 1, Fraction(int(c.p), int(c.q))): sympy.S.One})
        return found * (constant(1) + small)._near_one(lambda k: 1 / sympy.factorial(k))

    def _near_one(self, coefficient: Callable[[int], sympy.Expr]) -> Expansion:
        """sum of coefficient(k) d^k, where the expansion is its leading term times 1 + d."""
        scale, c = self.leading
        d = self * Expansion({_raised(scale, Fraction(-1)): 1 / c}) - constant(1)
        total, power = constant(coefficient(0)), constant(1)
        for k in range(1, _ORDER + 1):
            power = power * d
            total = total + power * constant(coefficient(k))
        if d.is_zero:
            return total
        head = _larger(max(d.terms, default=None), d.rest)
        assert head is not None
        return _made(dict(total.terms), _larger(total.rest, _raised(head, Fraction(_ORDER + 1))))


def _larger(a: Scale | None, b: Scale | None) -> Scale | None:
    return b if a is None else a if b is None else max(a, b)


def _made(terms: dict[Scale, sympy.Expr], rest: Scale | None) -> Expansion:
    """An expansion without what is 0, or no more than what is left out."""
    kept = {s: c for s, c in terms.items() if (rest is None or s > rest) and not _vanishes(c)}
    if len(kept) > _TERMS:
        ordered = sorted(kept, reverse=True)
        rest = _larger(rest, ordered[_TERMS])
        kept = {s: kept[s] for s in ordered[:_TERMS]}
    return Expansion(kept, rest)


def _vanishes(c: sympy.Expr) -> bool:
    return bool(c == 0) or (not c.is_Rational and c.is_zero is True)


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def constant(value: Any) -> Expansion:
    """A number."""
    return _made({ONE: sympy.sympify(value)}, None)


def power_of(place: int, exponent: Fraction, coefficient: Fraction, offset: Fraction = Fraction(0)) -> Expansion:
    """offset + coefficient * (a scale to an exponent); ``place``: FIRST, SECOND or LAST."""
    return constant(_rational(offset)) + Expansion({_unit(place, exponent): _rational(coefficient)})


Curve = Mapping[sympy.Symbol, Expansion]


def expand(e: sympy.Expr, curve: Curve) -> Expansion:
    """The expansion of an expression along a curve."""
    if e.is_Symbol:
        return curve[e]
    if e.is_Float:
        return constant(sympy.Rational(e))
    if e.has(sympy.Sum, sympy.Product):
        raise UndecidedExpansion(f"no expansion of {e} is known")
    if e.is_number:
        if not e.is_real:
            raise UndecidedExpansion(f"{e} is not real")
        return constant(e)
    if isinstance(e, sympy.Pow):
        base = expand(e.base, curve)
        if e.exp.is_Rational:
            return base.power(Fraction(int(e.exp.p), int(e.exp.q)))
        return (expand(e.exp, curve) * base.log()).exp()
    parts = [expand(a, curve) for a in e.args]
    match e:
        case sympy.Add():
            return reduce(Expansion.__add__, parts)
        case sympy.Mul():
            return reduce(Expansion.__mul__, parts)
        case sympy.Max():
            return reduce(lambda a, b: a if (a - b).sign() >= 0 else b, parts)
        case sympy.Min():
            return reduce(lambda a, b: a if (a - b).sign() <= 0 else b, parts)
        case sympy.log():
            return parts[0].log()
        case sympy.exp():
            return parts[0].exp()
        case sympy.Abs():
            return parts[0] if parts[0].sign() >= 0 else -parts[0]
        case sympy.floor():
            return _floor(parts[0])
        case sympy.ceiling():
            return -_floor(-parts[0])
    raise UndecidedExpansion(f"no expansion of {type(e).__name__} is known")


def _floor(x: Expansion) -> Expansion:
    whole = x.rest is None and all(
        c.is_Integer and all(p == 0 if k != LAST else p >= 0 and p.denominator == 1 for k, p in enumerate(scale))
        for scale, c in x.terms.items()
    )
    if whole:
        return x
    scale, _ = x.leading
    if scale > ONE:
        return _made({s: c for s, c in x.terms.items() if s > ONE}, _larger(x.rest, ONE))
    value = x.terms.get(ONE, sympy.S.Zero)
    nearest = sympy.floor(value)
    # Next to an integer it matters from which side.
    below = value == nearest and (x - constant(value)).sign() < 0
    return constant(nearest - 1 if below else nearest)


def logarithm(e: sympy.Expr, curve: Curve) -> Expansion:
    """The logarithm of a positive expression, which may grow faster than any power; up to a constant."""
    if isinstance(e, sympy.exp):
        return expand(e.args[0], curve)
    if isinstance(e, sympy.Pow):
        return expand(e.exp, curve) * logarithm(e.base, curve)
    if isinstance(e, sympy.Mul):
        return reduce(Expansion.__add__, (logarithm(a, curve) for a in e.args))
    try:
        return expand(e, curve).log()
    except UndecidedExpansion:
        if not isinstance(e, sympy.Add | sympy.Max):
            raise
    parts = [logarithm(a, curve) for a in e.args]
    return reduce(lambda a, b: a if (a - b).sign() >= 0 else b, parts) + Expansion({}, ONE)


def holds(relation: sympy.Basic, curve: Curve) -> bool:
    """Return True if a relation holds along a curve for all sufficiently large N."""
    if relation in (sympy.true, sympy.false):
        return relation is sympy.true
    if isinstance(relation, sympy.And):
        return all(holds(part, curve) for part in relation.args)
    if isinstance(relation, sympy.Or):
        return any(holds(part, curve) for part in relation.args)
    if not isinstance(relation, sympy.Rel):
        raise UndecidedExpansion(f"{relation} is not a relation between numbers")
    difference = (expand(relation.lhs, curve) - expand(relation.rhs, curve)).sign()
    return {
        "<=": difference <= 0,
        "<": difference < 0,
        ">=": difference >= 0,
        ">": difference > 0,
        "==": difference == 0,
        "!=": difference != 0,
    }[relation.rel_op]


def expands(e: sympy.Expr, curve: Curve) -> bool:
    """Return True if an expression has an expansion along a curve, that is, grows no faster than some power."""
    try:
        return bool(expand(e, curve).terms)
    except UndecidedExpansion:
        return False


def growth(left: sympy.Expr, right: sympy.Expr, curve: Curve) -> tuple[Fraction, int]:
    """The first power that is not 0 in the leading term of left/right, and its place; (0, LAST) for a constant.

    left/right is unbounded along the curve exactly if that power is positive. For what grows faster than any power it
    is that of log(left/right).
    """
    try:
        top, bottom = expand(left, curve), expand(right, curve)
    except UndecidedExpansion:
        ratio = logarithm(left, curve) - logarithm(right, curve)
        scale, c = ratio.leading
        power, place = _first(scale)
        return (power if sign(c) > 0 else -power, place) if scale > ONE else (Fraction(0), LAST)
    if top.sign() <= 0:
        return Fraction(0), LAST
    if bottom.sign() <= 0:
        raise UndecidedExpansion("the right side is not positive")
    scale, _ = (top * bottom.power(Fraction(-1))).leading
    return _first(scale)


def _first(scale: Scale) -> tuple[Fraction, int]:
    return next(((power, place) for place, power in enumerate(scale) if power), (Fraction(0), LAST))
