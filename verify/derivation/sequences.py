"""Expressions in the number T of rounds as sequences: what they are after 0, k and k + 1 rounds, and their signs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sympy

from fedtheory.numbers.symbols import T, round_index
from verify.exact import reals, symbolic

#: Sums and products of fewer terms are written out.
_FEW = 20


class NotFollowed(ValueError):
    """An expression that is not followed from round to round: why."""


@dataclass(frozen=True)
class Sequences:
    """Expressions in T after k and k + 1 rounds; sums and products over the rounds until then are letters of their own,
    ``named`` by what they are after k rounds."""

    signs: Signs
    named: dict[sympy.Expr, sympy.Dummy] = field(default_factory=dict)

    def now(self, e: sympy.Expr) -> sympy.Expr:
        """After k rounds."""
        return self._at(e, round_index, 0)

    def after(self, e: sympy.Expr) -> sympy.Expr:
        """After k + 1 rounds."""
        return self._at(e, round_index + 1, 1)

    def start(self, e: sympy.Expr) -> sympy.Expr:
        """Return the value after no rounds. Raise ``NotFollowed`` if it is undefined there."""
        e = closed(e)
        found = e.xreplace({a: _written(a) for a in e.atoms(sympy.Sum, sympy.Product)}).subs(T, 0)
        if found.has(sympy.zoo, sympy.nan, sympy.oo):
            raise NotFollowed(f"{e} is not a number at T = 0")
        return sympy.sympify(found)

    def _at(self, e: sympy.Expr, rounds: sympy.Expr, later: int) -> sympy.Expr:
        e = closed(e)
        values = {}
        for a in e.atoms(sympy.Sum, sympy.Product):
            index, _, end = a.limits[0]
            if a not in self.named:
                known = {"nonnegative": True} if self.signs.nonnegative(a) else {"real": True}
                self.named[a] = sympy.Dummy("sum" if isinstance(a, sympy.Sum) else "product", **known)
            next_term = a.function.subs(index, end.subs(T, round_index + 1))
            joined = self.named[a] + next_term if isinstance(a, sympy.Sum) else self.named[a] * next_term
            values[a] = joined if later else self.named[a]
        return e.xreplace(values).subs(T, rounds)


def normal(e: sympy.Expr) -> sympy.Expr:
    """An expression with what does not depend on the index of a sum before it."""
    values = {}
    for a in e.atoms(sympy.Sum):
        index, f = a.limits[0][0], sympy.factor_terms(a.function)
        constant, inner = f.as_independent(index, as_Add=False)
        if len(a.limits) == 1 and constant != 1:
            values[a] = constant * sympy.Sum(inner, *a.limits)
    return e.xreplace(values)


def closed(e: sympy.Expr) -> sympy.Expr:
    """An expression with those sums and products over rounds in closed form that have a plain one.

    Raise ``NotFollowed`` if the next term of another one is not known.
    """
    e, values = normal(e), {}
    for a in e.atoms(sympy.Sum, sympy.Product):
        index, low, end = a.limits[0]
        f, offset = a.function, end - T
        followed = len(a.limits) == 1 and low.is_Integer and offset.is_Integer and low - 1 <= offset
        if not followed or f.has(T, sympy.Sum, sympy.Product):
            raise NotFollowed(f"{a} is not followed from round to round")
        count = end - low + 1
        if not f.has(index):
            values[a] = f * count if isinstance(a, sympy.Sum) else f**count
        elif isinstance(a, sympy.Sum) and f.is_polynomial(index):
            found = sympy.summation(sympy.expand(f), (index, low, end))
            grows = sympy.expand(found.subs(T, T + 1) - found - f.subs(index, end + 1)) == 0
            if grows and sympy.expand(found.subs(T, 0) - _written(a)) == 0:
                values[a] = found
    return e.xreplace(values)


def _written(a: sympy.Expr) -> sympy.Expr:
    """A sum or product after no rounds, written out."""
    index, low, end = a.limits[0]
    last = int(end.subs(T, 0))
    if last - int(low) > _FEW:
        raise NotFollowed(f"{a} has many terms at T = 0")
    join = sympy.Add if isinstance(a, sympy.Sum) else sympy.Mul
    return join(*(a.function.subs(index, i) for i in range(int(low), last + 1)))


def quotient(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """a/b, powers of one base joined, and cancelled."""
    stand: dict[sympy.Expr, sympy.Dummy] = {}
    a, b = _standing(a, stand), _standing(b, stand)
    # What both have as a factor is left out before anything is multiplied out, and roots stay as they are written.
    found = a / b
    # Powers of other exponents that vary are joined below.
    if not found.has(*stand.values()) and not any(p.exp.free_symbols for p in found.atoms(sympy.Pow)):
        return plain(found) if found.is_rational_function() else found
    return _joined(sympy.Add(*(term / b for term in sympy.Add.make_args(sympy.expand_mul(a)))), stand)


def plain(e: sympy.Expr) -> sympy.Expr:
    """An expression with powers of one base joined, and cancelled where it is a quotient of polynomials in k."""
    stand: dict[sympy.Expr, sympy.Dummy] = {}
    return _joined(sympy.expand_mul(_standing(e, stand)), stand)


def _standing(e: sympy.Expr, stand: dict[sympy.Expr, sympy.Dummy]) -> sympy.Expr:
    """An expression in which letters stand for powers b^k: b^(m k + c) is the letter to the m-th times b^c."""
    e, values = _cancelled(e), {}
    for p in e.atoms(sympy.Pow):
        if not p.exp.has(round_index, T):
            continue
        moving = sympy.Add(*(a for a in sympy.Add.make_args(sympy.expand(p.exp)) if a.has(round_index, T)))
        rest = sympy.expand(p.exp - moving)
        moving, rest = (moving, rest) if rest.is_Integer else (p.exp, sympy.S.Zero)
        times, of = moving.as_coeff_Mul()
        times, of = (times, of) if times.is_Integer else (sympy.S.One, moving)
        values[p] = stand.setdefault(sympy.Pow(p.base, of), sympy.Dummy()) ** times * p.base**rest
    return e.xreplace(values)


def _joined(e: sympy.Expr, stand: dict[sympy.Expr, sympy.Dummy]) -> sympy.Expr:
    """An expression with its powers of one base joined, cancelled if that is known how, with what letters stand for."""
    e = sympy.powsimp(e)
    e = sympy.cancel(sympy.together(e)) if e.is_rational_function() else sympy.together(e)
    return _cancelled(sympy.powsimp(e.xreplace({letter: power for power, letter in stand.items()}))) if stand else e


def _cancelled(e: sympy.Expr) -> sympy.Expr:
    """An expression in which bases of powers that grow with the rounds are cancelled: (2 (1 - a/2)/(2 - a))^k is 1."""
    growing = (p for p in e.atoms(sympy.Pow) if p.exp.has(round_index, T) and p.base.is_rational_function())
    return e.xreplace({p: sympy.cancel(sympy.together(p.base)) ** p.exp for p in growing})


def moving_part(e: sympy.Expr, named: Iterable[sympy.Dummy]) -> sympy.Expr:
    """The factors of an expression that grow with the rounds as powers do, or are sums or products over them."""
    sums = set(named)
    factors = sympy.Mul.make_args(sympy.factor_terms(e))
    return sympy.Mul(*(f for f in factors if (f.is_Pow and f.exp.has(round_index)) or f in sums))


@dataclass(frozen=True)
class Signs:
    """Signs of expressions in letters, T and k at all values that meet the ``given`` relations: False says nothing."""

    given: tuple[sympy.Basic, ...]
    known: dict[tuple[sympy.Expr, bool], bool] = field(default_factory=dict, compare=False)

    def positive(self, e: sympy.Expr) -> bool:
        """Return True if it is shown to be positive."""
        return self._signed(e, True)

    def nonnegative(self, e: sympy.Expr) -> bool:
        """Return True if it is shown to be at least 0."""
        return self._signed(e, False)

    def _signed(self, e: sympy.Expr, strict: bool) -> bool:
        if (e, strict) not in self.known:
            self.known[e, strict] = self._found(e, strict)
        return self.known[e, strict]

    def _found(self, e: sympy.Expr, strict: bool) -> bool:
        if e.is_positive if strict else e.is_nonnegative:
            return True
        if e.is_number:
            return False
        if e.is_Mul and sympy.prod(self._sign(a, strict) for a in e.args) == 1:
            return True
        if isinstance(e, sympy.Pow) and (e.exp.is_integer or e.exp.is_real) and self._signed(e.base, True):
            return True
        if isinstance(e, sympy.Pow) and not strict and e.exp.is_nonnegative and self._signed(e.base, False):
            return True
        if isinstance(e, sympy.Sum | sympy.Product):
            return self._of_sum(e, strict)
        given = list(self.given)
        if reals.implied((sympy.Gt if strict else sympy.Ge)(e, 0, evaluate=False), given):
            return True
        if not any(p.exp.free_symbols for p in e.atoms(sympy.Pow)):
            return False
        if e.is_Add and all(self._signed(a, False) for a in e.args):
            return not strict or any(self._signed(a, True) for a in e.args)
        return (symbolic.below if strict else symbolic.at_most)(sympy.S.Zero, e, given)

    def _sign(self, factor: sympy.Expr, strict: bool) -> int:
        """1 or -1 where a factor is shown to be of one sign, else 0."""
        if self._signed(factor, strict):
            return 1
        if factor.is_Pow and factor.exp.is_Integer and factor.exp.is_odd:
            return self._sign(factor.base, strict or factor.exp.is_negative)
        opposite = sympy.expand_mul(-factor)
        return -1 if (opposite.is_Add or opposite.is_number) and self._signed(opposite, strict) else 0

    def _of_sum(self, e: sympy.Expr, strict: bool) -> bool:
        index, low, end = e.limits[0]
        if len(e.limits) > 1 or not low.is_nonnegative:
            return False
        own = sympy.Dummy(str(index), integer=True, nonnegative=True)
        inside = Signs((*self.given, sympy.Ge(own, low, evaluate=False)))
        if not inside._signed(e.function.xreplace({index: own}), strict or isinstance(e, sympy.Product)):
            return False
        return not strict or isinstance(e, sympy.Product) or self._signed(end - low, False)
