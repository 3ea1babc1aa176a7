"""Expressions in letters as quotients of posynomials, exactly, in cases.

In each case an expression is the quotient of two posynomials in its letters and in numbers of which only bounds are
known: a root of a sum is the sum of the roots times a factor between two constants; a difference is its positive part
times a factor of at most 1, and at least 1 - r where the negative part is shown to be at most r times the positive one;
what is rounded is what it rounds times a factor; log(1 - q) is -q/t with 1 - q <= t <= 1. A maximum is one of its
arguments, a case each, in which the others are at most that. At each point of the domain one of the cases holds.

What has no such form, or may be undefined somewhere, is :class:`NoMagnitude`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

import sympy

from fedtheory.kinds.order import Order
from verify.exact import domination, reals, symbolic
from verify.exact.domination import (
    DomainPart,
    Found,
    MonomialBound,
    MonomialDomain,
    SignedRatio,
    cleared,
    largest,
    ordered,
)
from verify.exact.magnitudes import NoMagnitude, difference_of, rewritten
from verify.exact.posynomials import Monomial, Posynomial, PosynomialRatio, constant, enclosed, letter, raised, times

#: Cases that an order may have.
_MOST = 3000
#: Terms of an argument of a maximum of which one is the largest in a case of its own: it is often enough that it is one
#: of the arguments.
_FEW = 1
#: The depth to which nested sums are rewritten.
_REWRITTEN = 8
#: Exponents s of the bounds log(u) <= u^s/s, besides those that the sides have.
_EXPONENTS = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 16), Fraction(1, 128))
#: Equal parts in which a logarithm is bounded from below.
_PARTS = 64

_TWO, _HALF = Fraction(2), Fraction(1, 2)


class OrderSides(NamedTuple):
    """Both sides of an order in one of its cases; ``names``: of the letters that are the order's."""

    left: PosynomialRatio
    right: PosynomialRatio
    domain: MonomialDomain
    names: Mapping[int, str]


class Writer:
    """Writes expressions in positive letters, where relations hold, as quotients of posynomials."""

    def __init__(self, part: Order, relations: Sequence[sympy.Basic]) -> None:
        self.small, self.large, self.relations = part.small, part.large, list(relations)
        self.logarithm = sympy.Dummy("log", positive=True)
        self._letters: dict[sympy.Symbol, int] = {}
        self._count, self._depth = 0, 0
        self._implied: dict[sympy.Basic, bool] = {}
        powers = sympy.Tuple(part.left, part.right).atoms(sympy.Pow)
        own = {Fraction(int(e.p), int(e.q)) for e in (abs(p.exp) for p in powers if p.exp.is_Rational)}
        self._exponents = sorted(own.union(_EXPONENTS), reverse=True)

    def sides(self, left: sympy.Expr, right: sympy.Expr) -> list[OrderSides]:
        """Both sides in each case."""
        # A relation that contains an expression that may be negative is not used.
        self.relations = [r for r in self.relations if all(s.is_positive for s in r.free_symbols)]
        symbols = sympy.Tuple(left, right, *self.relations).free_symbols
        firsts = [s for s in (self.small, self.logarithm, self.large) if s is not None]
        if self.small is None:
            firsts.remove(self.logarithm)
        numbers = {s: self._number(s) for s in sorted(symbols.union(firsts), key=str)}
        domain = MonomialDomain(
            # The logarithm of what is small enough is at least 1.
            tuple(
                MonomialBound(Fraction(1), _power(numbers[s])) for s in numbers if s.is_integer or s is self.logarithm
            ),
            tuple((numbers[s], 1 if s is self.small else -1) for s in firsts),
            frozenset(numbers[s] for s in numbers if s not in firsts),
        )
        self.relations += self._whole(left, right)
        cases = [DomainPart(domain)]
        for relation in self.relations:
            cases = [part for case in cases for part in self._assume(relation, case)]
        names = {number: f"log(1/{self.small})" if s is self.logarithm else s.name for s, number in numbers.items()}
        found = []
        for case in cases:
            for a, at in self.of(left, case):
                for b, there in self.of(right, at):
                    if any(side.sign < 0 and not side.size.is_zero for side in (a, b)):
                        raise NoMagnitude("a side is negative")
                    found.append(OrderSides(a.size, b.size, there.domain, names))
        return found

    def _number(self, s: sympy.Symbol) -> int:
        if s not in self._letters:
            self._letters[s] = self._new()
        return self._letters[s]

    def _new(self) -> int:
        self._count += 1
        return self._count

    def _factor(
        self, case: DomainPart, low: Fraction | None, high: Fraction | None
    ) -> tuple[PosynomialRatio, DomainPart]:
        """A number of which bounds are known."""
        t = self._new()
        more = [] if low is None else [MonomialBound(1 / low, _power(t))]
        more += [] if high is None else [MonomialBound(high, _power(t, -1))]
        return letter(t), case.where(*more)

    # Relations

    def _assume(self, relation: sympy.Basic, case: DomainPart) -> list[DomainPart]:
        """The cases in which a relation holds; what is not used allows more."""
        if isinstance(relation, sympy.And):
            cases = [case]
            for part in relation.args:
                cases = [one for each in cases for one in self._assume(part, each)]
            return cases
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt | sympy.Eq):
            return [case]
        if isinstance(relation, sympy.Eq):
            both = [(relation.lhs, relation.rhs), (relation.rhs, relation.lhs)]
        else:
            both = [(relation.lts, relation.gts)]
        cases = [case]
        for low, high in both:
            strict = isinstance(relation, sympy.Lt | sympy.Gt) and low.is_integer and high.is_integer
            gap = sympy.expand(high - low - (1 if strict else 0))
            try:
                cases = [one for each in cases for one in self._nonnegative(gap, each)]
            except NoMagnitude:
                continue
        return cases

    def _nonnegative(self, gap: sympy.Expr, case: DomainPart) -> list[DomainPart]:
        """The cases in which a sum is nonnegative."""
        return [one for above, below, at in self._parts(gap, case) for one in ordered(below, above, at)]

    def _whole(self, *both: sympy.Expr) -> list[sympy.Basic]:
        """Return bounds of roundings by integers: if x <= s for an integer s, then ceiling(x) <= s;
        likewise for floor.
        """
        found = []
        integers = [s for s in sympy.Tuple(*both).free_symbols if s.is_integer]
        for node in sorted(sympy.Tuple(*both).atoms(sympy.ceiling, sympy.floor), key=str):
            order = sympy.Le if isinstance(node, sympy.ceiling) else sympy.Ge
            for s in sorted(integers, key=str):
                if self._shown(order(node.args[0], s, evaluate=False)):
                    found.append(order(node, s, evaluate=False))
        return found

    def _shown(self, relation: sympy.Basic) -> bool:
        """Return True if the known relations imply another one."""
        if relation not in self._implied:
            shown = symbolic.below if isinstance(relation, sympy.Lt | sympy.Gt) else symbolic.at_most
            self._implied[relation] = shown(relation.lts, relation.gts, self.relations) or reals.implied(
                relation, self.relations
            )
        return self._implied[relation]

    # Expressions

    def of(self, e: sympy.Expr, case: DomainPart) -> Found:
        """Return the value of an expression in each part of a case; the same value wherever the expression occurs."""
        if e in case.values:
            return [(case.values[e], case)]
        found = []
        for value, at in self._made(e, case):
            found.append((value, replace(at, values=MappingProxyType({**at.values, e: value}))))
        if len(found) > _MOST:
            raise NoMagnitude("too many cases")
        return found

    def _made(self, e: sympy.Expr, case: DomainPart) -> Found:
        if e.is_Rational:
            return [(SignedRatio(-1 if e < 0 else 1, constant(abs(Fraction(int(e.p), int(e.q))))), case)]
        if e.is_Symbol:
            return [(SignedRatio(1, letter(self._number(e))), case)]
        if isinstance(e, sympy.Pow) and e.exp.is_Rational:
            return self._power(e, case)
        made: dict[type[sympy.Expr], Callable[[sympy.Expr, DomainPart], Found]] = {
            sympy.Mul: self._product,
            sympy.Max: self._maximum,
            sympy.Min: self._minimum,
            sympy.ceiling: self._rounded,
            sympy.floor: self._rounded,
            sympy.log: self._log,
            sympy.Add: self._sum,
        }
        for kind, write in made.items():
            if isinstance(e, kind):
                return write(e, case)
        raise NoMagnitude(f"no size of {type(e).__name__} is known")

    def _all(self, parts: Sequence[sympy.Expr], case: DomainPart) -> list[tuple[list[SignedRatio], DomainPart]]:
        """Return the values of several expressions in each part of a case."""
        found: list[tuple[list[SignedRatio], DomainPart]] = [([], case)]
        for e in parts:
            found = [([*values, value], at) for values, one in found for value, at in self.of(e, one)]
            if len(found) > _MOST:
                raise NoMagnitude("too many cases")
        return found

    def _product(self, e: sympy.Expr, case: DomainPart) -> Found:
        found = []
        for values, at in self._all(e.args, case):
            sign, size = 1, constant(Fraction(1))
            for value in values:
                sign, size = sign * value.sign, size * value.size
            found.append((SignedRatio(sign, size), at))
        return found

    def _power(self, e: sympy.Pow, case: DomainPart) -> Found:
        exponent = Fraction(int(e.exp.p), int(e.exp.q))
        if isinstance(e.base, sympy.log) and exponent == -1:
            return self._inverse_log(e.base, case)
        try:
            bases = self.of(e.base, case)
        except NoMagnitude:
            expanded = sympy.expand(e) if exponent > 0 and not exponent % 2 else e
            if expanded == e:
                raise
            return self.of(expanded, case)
        found = []
        for value, at in bases:
            if exponent.denominator > 1 and value.sign < 0 and not value.size.is_zero:
                raise NoMagnitude(f"{e.base} may be negative, and has a root taken")
            size, at = (value.size, at) if value.size.is_zero else self._raised(value.size, abs(exponent), at)
            sign = value.sign if exponent.numerator % 2 and exponent.denominator == 1 else 1
            found.append((SignedRatio(sign, _divisor(e.base, SignedRatio(1, size)) if exponent < 0 else size), at))
        return found

    def _raised(
        self, base: PosynomialRatio, exponent: Fraction, case: DomainPart
    ) -> tuple[PosynomialRatio, DomainPart]:
        whole = int(exponent)
        size = base.power(whole) if whole else constant(Fraction(1))
        if exponent == whole:
            return size, case
        top, case = self._root(base.top, exponent - whole, case)
        bottom, case = self._root(base.bottom, exponent - whole, case)
        return size * top * bottom.inverse(), case

    def _root(self, of: Posynomial, exponent: Fraction, case: DomainPart) -> tuple[PosynomialRatio, DomainPart]:
        """A power between 0 and 1: k^(f - 1) sum a_i^f <= (sum a_i)^f <= sum a_i^f for k terms."""
        total = PosynomialRatio({})
        for monomial, c in of.items():
            low, high = enclosed(c, exponent)
            root = PosynomialRatio({raised(monomial, exponent): low})
            if low != high:
                t, case = self._factor(case, low, high)
                root = PosynomialRatio({raised(monomial, exponent): Fraction(1)}) * t
            total = total + root
        if len(of) > 1:
            t, case = self._factor(case, enclosed(Fraction(len(of)), exponent - 1)[0], Fraction(1))
            total = total * t
        return total, case

    def _sum(self, e: sympy.Expr, case: DomainPart) -> Found:
        other = rewritten(e)
        if other != e and self._depth < _REWRITTEN:
            self._depth += 1
            try:
                return self.of(other, case)
            finally:
                self._depth -= 1
        return [one for above, below, at in self._parts(e, case) for one in self._subtracted(e, above, below, at)]

    def _parts(self, e: sympy.Expr, case: DomainPart) -> list[tuple[PosynomialRatio, PosynomialRatio, DomainPart]]:
        """The sum of the positive terms, and that of the negative ones."""
        found = []
        for values, at in self._all(sympy.Add.make_args(e), case):
            above, below = PosynomialRatio({}), PosynomialRatio({})
            for value in values:
                above = above + value.size if value.sign > 0 else above
                below = below + value.size if value.sign < 0 else below
            found.append((above, below, at))
        return found

    def _subtracted(self, e: sympy.Expr, above: PosynomialRatio, below: PosynomialRatio, case: DomainPart) -> Found:
        """above - below: the larger part times a factor."""
        plus, minus, bottom = cleared(above, below)
        if not plus or not minus:
            return [(SignedRatio(1 if plus or not minus else -1, PosynomialRatio(plus or minus, bottom)), case)]
        for sign, large, less in ((1, plus, minus), (-1, minus, plus)):
            share = domination.share(less, large, case.domain)
            if share is not None:
                t, at = self._factor(case, 1 - share, Fraction(1))
                return [(SignedRatio(sign, PosynomialRatio(large, bottom) * t), at)]
        for sign, large in ((1, plus), (-1, minus)):
            if self._shown(sympy.Ge(sign * e, 0, evaluate=False)):
                t, at = self._factor(case, None, Fraction(1))
                found = [(SignedRatio(sign, PosynomialRatio(large, bottom) * t), at)]
                never = self._shown(sympy.Gt(sign * e, 0, evaluate=False))
                return found if never else [(SignedRatio(1, PosynomialRatio({})), case), *found]
        raise NoMagnitude(f"the sign of {e} is not known")

    def _maximum(self, e: sympy.Expr, case: DomainPart) -> Found:
        """The largest of the arguments that are nonnegative; one of unknown sign is nonnegative where it is that."""
        known, unknown = [], []
        for a in e.args:
            try:
                self.of(a, case)
                known.append(a)
            except NoMagnitude:
                unknown.append(a)
        if not known:
            raise NoMagnitude(f"the sign of {e} is not known")
        found = []
        for values, at in self._all(known, case):
            positive = [value for value in values if value.sign > 0]
            if not positive:
                raise NoMagnitude(f"the sign of {e} is not known")
            for j, value in enumerate(positive):
                others = [other.size for k, other in enumerate(positive) if k != j]
                cases = largest(value.size, others, at, _FEW)
                for a in unknown:
                    cases = [one for each in cases for one in self._at_most(a, value.size, each)]
                found += [(value, one) for one in cases]
            for a in unknown:
                found += self._exceeding(a, [value.size for value in positive], at)
        return found

    def _at_most(self, e: sympy.Expr, size: PosynomialRatio, case: DomainPart) -> list[DomainPart]:
        """The cases in which a sum of unknown sign is at most a size."""
        return [one for above, below, at in self._parts(e, case) for one in ordered(above, below + size, at)]

    def _exceeding(self, e: sympy.Expr, sizes: Sequence[PosynomialRatio], case: DomainPart) -> Found:
        """A sum of unknown sign where it is at least each of some sizes."""
        found = []
        for above, below, at in self._parts(e, case):
            cases = [at]
            for size in sizes:
                cases = [one for each in cases for one in ordered(below + size, above, each)]
            plus, minus, bottom = cleared(above, below)
            for one in cases:
                share = domination.share(minus, plus, one.domain)
                low = 1 - share if share is not None else None
                t, there = self._factor(one, low, Fraction(1))
                size = PosynomialRatio(plus, bottom) * t
                found += [(SignedRatio(1, size), last) for last in largest(size, sizes, there)] if plus else []
        return found

    def _minimum(self, e: sympy.Expr, case: DomainPart) -> Found:
        found = []
        for values, at in self._all(e.args, case):
            if any(value.sign < 0 for value in values):
                raise NoMagnitude(f"the sign of {e} is not known")
            sizes = [value.size for value in values]
            for j, size in enumerate(sizes):
                cases = [at]
                for other in (other for k, other in enumerate(sizes) if k != j):
                    cases = [one for each in cases for one in ordered(size, other, each)]
                found += [(SignedRatio(1, size), one) for one in cases]
        return found

    def _rounded(self, e: sympy.Expr, case: DomainPart) -> Found:
        """Return the value of a rounded number: 1 or 0 if the number is at most 1; otherwise rounding at most doubles
        or halves it.
        """
        up, one, found = isinstance(e, sympy.ceiling), constant(Fraction(1)), []
        for value, at in self.of(e.args[0], case):
            if value.size.is_zero:
                found.append((value, at))
                continue
            if value.sign < 0:
                raise NoMagnitude(f"the sign of {e.args[0]} is not known")
            found += [
                (SignedRatio(1, one if up else PosynomialRatio({})), small) for small in ordered(value.size, one, at)
            ]
            for large in ordered(one, value.size, at):
                t, there = self._factor(large, Fraction(1) if up else _HALF, _TWO if up else Fraction(1))
                found.append((SignedRatio(1, value.size * t), there))
        return found

    # Logarithms

    def _log(self, e: sympy.Expr, case: DomainPart) -> Found:
        u = e.args[0]
        if self.small is not None and u.has(self.small):
            return self._first(u, case)
        factors = [part.as_base_exp() for part in sympy.Mul.make_args(sympy.expand_power_base(u))]
        if len(factors) > 1 or factors[0][1] != 1:
            try:
                return self.of(sympy.Add(*(power * sympy.log(base) for base, power in factors)), case)
            except NoMagnitude:
                pass
        try:
            return [one for above, at in self.of(u, case) for one in self._log_above_one(e, above.size, at)]
        except NoMagnitude:
            below = self._below_one(u, case)
            if not all(positive for *_, positive in below):
                raise
            return [(SignedRatio(-1, q * t.inverse()), at) for q, t, at, _ in below]

    def _first(self, u: sympy.Expr, case: DomainPart) -> Found:
        """log(c epsilon^-q), which is t q log(1/epsilon) with t in [1/2, 2] once epsilon is small enough."""
        power, rest = sympy.S.Zero, sympy.S.One
        for part in sympy.Mul.make_args(sympy.powsimp(sympy.expand_power_base(u, force=True))):
            base, exponent = part.as_base_exp()
            if base == self.small and exponent.is_Rational:
                power += exponent
            elif part.has(self.small):
                raise NoMagnitude(f"log({u}) as {self.small} tends to 0")
            else:
                rest *= part
        if not power:
            return self.of(sympy.log(rest), case)
        found = []
        size = constant(abs(Fraction(int(power.p), int(power.q)))) * letter(self._number(self.logarithm))
        for value, at in self.of(rest, case):
            if value.sign < 0 or value.size.is_zero:
                raise NoMagnitude(f"log({u}) is not real")
            t, there = (constant(Fraction(1)), at) if rest == 1 else self._factor(at, _HALF, _TWO)
            found.append((SignedRatio(-1 if power > 0 else 1, size * t), there))
        return found

    def _log_above_one(self, e: sympy.Expr, u: PosynomialRatio, case: DomainPart) -> Found:
        """log(u) of u >= 1: at most u - 1 and u^s/s for each s > 0, at least 1 - 1/u."""
        found = []
        for gap, at in self.of(difference_of(e.args[0], sympy.S.One), case):
            if gap.sign < 0:
                raise NoMagnitude(f"{e} may be negative")
            if gap.size.is_zero:
                found.append((gap, at))
                continue
            # log(c) = k log(c^(1/k)) >= k (1 - c^(-1/k)).
            share = domination.share(u.bottom, u.top, at.domain)
            low = None if share is None else _PARTS * (1 - enclosed(share, Fraction(1, _PARTS))[1])
            size, there = self._factor(at, low if low and low > 0 else None, None)
            cases = [one for each in ordered(size, gap.size, there) for one in ordered(gap.size, u * size, each)]
            for monomial, c in u.top.items():
                # u is at most its largest term times the number of its terms.
                others = [PosynomialRatio({m: k}) for m, k in u.top.items() if m != monomial]
                bounds = self._powers(_inverse(size), monomial, c * len(u.top), u.bottom)
                parts = [part for each in cases for part in largest(PosynomialRatio({monomial: c}), others, each)]
                found += [(SignedRatio(1, size), part.where(*bounds)) for part in parts]
        return found

    def _powers(self, inverse: Monomial, monomial: Monomial, c: Fraction, bottom: Posynomial) -> list[MonomialBound]:
        """log(u) <= u^s/s for some s; u is at most c times a monomial over each term of ``bottom``."""
        found = []
        for s in self._exponents:
            for m, k in bottom.items():
                bound = raised(times(monomial, raised(m, Fraction(-1))), s)
                found.append(MonomialBound(enclosed(c / k, s)[1] / s, times(bound, inverse)))
        return found

    def _inverse_log(self, e: sympy.Expr, case: DomainPart) -> Found:
        """1/log(u); 0 where u is, as the limit of it."""
        u = e.args[0]
        if self.small is not None and u.has(self.small):
            return [(SignedRatio(value.sign, _divisor(e, value)), at) for value, at in self._first(u, case)]
        try:
            below = self._below_one(u, case)
        except NoMagnitude:
            return [(SignedRatio(value.sign, _divisor(e, value)), at) for value, at in self.of(e, case)]
        found = []
        for q, t, at, positive in below:
            found.append((SignedRatio(-1, t * q.inverse()), at))
            if not positive:
                found.append((SignedRatio(1, PosynomialRatio({})), at))
        return found

    def _below_one(
        self, u: sympy.Expr, case: DomainPart
    ) -> list[tuple[PosynomialRatio, PosynomialRatio, DomainPart, bool]]:
        """q = 1 - u and t with log(u) = -q/t, of 0 <= u < 1, and whether u is shown to be positive."""
        even = any(a.is_nonnegative or _is_square(a) for a in sympy.Max.make_args(u))
        if not even and not self._shown(sympy.Ge(u, 0, evaluate=False)):
            raise NoMagnitude(f"the sign of {u} is not known")
        found = []
        for q, at in self.of(difference_of(sympy.S.One, u), case):
            if q.sign < 0 or q.size.is_zero:
                raise NoMagnitude(f"{u} may be 1")
            share = domination.share(q.size.top, q.size.bottom, at.domain)
            t, there = self._factor(at, None if share is None else 1 - share, Fraction(1))
            positive = share is not None or self._shown(sympy.Gt(u, 0, evaluate=False))
            found.append((q.size, t, there, positive))
        return found


def _power(number: int, exponent: int = 1) -> Monomial:
    return ((number, Fraction(exponent)),)


def _inverse(t: PosynomialRatio) -> Monomial:
    ((monomial, _),) = t.top.items()
    return raised(monomial, Fraction(-1))


def _divisor(e: sympy.Expr, value: SignedRatio) -> PosynomialRatio:
    if value.size.is_zero:
        raise NoMagnitude(f"{e} may be 0, and is divided by")
    return value.size.inverse()


def _is_square(e: sympy.Expr) -> bool:
    return isinstance(e, sympy.Pow) and e.exp.is_Integer and e.exp.p % 2 == 0 and e.exp.p > 0
