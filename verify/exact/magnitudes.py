"""Orders of growth over all values of the letters, by exact linear arithmetic on logarithms.

Up to constant factors a sum of positive terms is their maximum, so that the logarithm of such an expression is, up to a
constant, a piecewise linear function of the logarithms of its letters, and a relation between such expressions is one
between such functions. If no direction that the relations allow makes log(left) - log(right) grow, then left/right is
bounded; a direction in which it grows is one to look at. What is known less well (a difference, which may cancel; a
logarithm, which grows less than every power) is a number of its own between bounds: more than the one that is meant.

So "bounded" is shown for all values of the letters, and what is not shown to be bounded is not thereby unbounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import count, product
from typing import Any

import sympy
import z3

from fedtheory.kinds.order import Order
from verify.exact import reals, solvers, symbolic

#: A logarithm is at most this power of its argument, up to a constant, as it is for every power.
_LOG = Fraction(1, 10**9)
#: The factor, in logarithms, by which a letter that goes to its limit first goes farther than all others.
_FIRST = 10**6
#: Shares of its positive part that a difference may be shown to have.
_SHARES = (Fraction(1, 2), Fraction(1, 20))
#: The depth to which a sum is rewritten.
_REWRITTEN = 6
#: Effort after which z3 gives up, in its own units.
_EFFORT = 5_000_000
#: Sizes of the exponents among which simple directions are sought.
_SIZES = (1, 2, 4, 12)

Direction = dict[sympy.Symbol, Fraction]


class NoMagnitude(ValueError):
    """An expression of which no magnitude is known."""


def directions(part: Order, relations: Sequence[sympy.Basic]) -> Iterator[Direction | None]:
    """Directions in which left/right may be unbounded: none where it is bounded for all values of the letters.

    A direction says to which powers of a growing number the letters go; None where z3 finds none in its time though
    there may be some. ``NoMagnitude`` for an expression whose size is unknown. Only relevant ``relations`` are used.
    """
    maybe = sorted((s for s in _letters(part, relations) if s.is_nonnegative and not s.is_positive), key=str)
    for vanishing in product((False, True), repeat=len(maybe)):
        zero = {s: sympy.S.Zero for s, gone in zip(maybe, vanishing, strict=True) if gone}
        positive = {s: sympy.Dummy(str(s), positive=True, integer=s.is_integer) for s in maybe if s not in zero}
        where = f" where {', '.join(map(str, zero))} vanish" if zero else ""
        try:
            given = [r.subs(zero).subs(positive) for r in relations]
        except (TypeError, ValueError) as error:
            raise NoMagnitude(f"a relation is undefined{where}") from error
        if any(r is sympy.false for r in given):
            continue
        try:
            left, right = (side.xreplace({**zero, **positive}) for side in (part.left, part.right))
        except ValueError as error:
            raise NoMagnitude(f"a side is undefined{where}") from error
        if left.is_zero:
            continue
        if right.is_zero or any(side.has(sympy.zoo, sympy.nan, sympy.oo) for side in (left, right)):
            raise NoMagnitude(f"the sides are {left} and {right}{where}")
        case = _Magnitudes(part.small, part.large, [r for r in given if r is not sympy.true])
        if (found := case.exceeding(left, right)) is not None:
            back = {dummy: s for s, dummy in positive.items()}
            yield {back.get(s, s): power for s, power in found.items()} if found else None


def _letters(part: Order, relations: Sequence[sympy.Basic]) -> set[sympy.Symbol]:
    return set().union(part.left.free_symbols, part.right.free_symbols, *(r.free_symbols for r in relations))


class _Magnitudes:
    """Magnitudes of expressions in letters that are positive, or of unknown sign."""

    def __init__(self, small: Any, large: Any, relations: list[sympy.Basic]) -> None:
        self.small, self.large, self.relations = small, large, list(relations)
        self.known: list[Any] = []
        self._of: dict[sympy.Expr, Any] = {}
        self._signs: dict[sympy.Expr, int] = {}
        self._letters: dict[sympy.Symbol, Any] = {}
        self._logarithm = sympy.Dummy("log", positive=True)
        self._count, self._depth = count(), 0
        for relation in relations:
            self._assume(relation)

    def exceeding(self, left: sympy.Expr, right: sympy.Expr) -> Direction | None:
        """A direction in which left/right grows, empty where there may be one; None where there is none."""
        if self.small is not None:
            left, right = self._first(left), self._first(right)
        self.relations += self._whole(left, right)
        self._signs.clear()
        for side in (left, right):
            if self.sign(side) <= 0:
                raise NoMagnitude(f"{side} is not shown to be positive")
        grows = self.of(left) > self.of(right)
        self._limits()
        solver = solvers.solver([*self.known, grows], _EFFORT, "QF_LRA")
        if (answer := solver.check()) == z3.unsat:
            return None
        return self._simple(grows) or (self._read(solver) if answer == z3.sat else {})

    def _simple(self, grows: Any) -> Direction:
        for size in _SIZES:
            small = []
            for number, (_, x) in enumerate(self._powers()):
                whole = z3.Int(f"power {number}")
                small += [x == z3.ToReal(whole), whole <= size, whole >= -size]
            solver = solvers.solver([*self.known, grows, *small], _EFFORT)
            if solver.check() == z3.sat:
                return self._read(solver)
        return {}

    def _read(self, solver: Any) -> Direction:
        letters, powers = [s for s, _ in self._powers()], [x for _, x in self._powers()]
        return dict(zip(letters, solvers.values(solver, powers), strict=True))

    def _powers(self) -> list[tuple[sympy.Symbol, Any]]:
        """The letters to which a direction gives powers."""
        return [(s, x) for s, x in self._letters.items() if s not in (self.small, self.large, self._logarithm)]

    @contextmanager
    def _within(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # Letters

    def _letter(self, s: sympy.Symbol) -> Any:
        if s not in self._letters:
            if not s.is_positive:
                raise NoMagnitude(f"the sign of {s} is not known")
            self._letters[s] = x = z3.Real(f"{s} {len(self._letters)}")
            if s.is_integer:
                self.known.append(x >= 0)
        return self._letters[s]

    def _limits(self) -> None:
        """Add that letters with earlier limits dominate all later ones."""
        firsts = [s for s in (self.large, self._logarithm, self.small) if s in self._letters]
        others = [x for s, x in self._letters.items() if s not in firsts]
        for s in firsts:
            far = -self._letters[s] if s == self.small else self._letters[s]
            self.known += [far >= _FIRST * x for x in others] + [far >= -_FIRST * x for x in others] + [far > 0]
            others.append(far)

    def _first(self, e: sympy.Expr) -> sympy.Expr:
        """The expression with log(c epsilon^-q) replaced by q log(1/epsilon), which it is as epsilon tends to 0."""

        def replaced(node: sympy.log) -> sympy.Expr:
            power = sympy.S.Zero
            for factor in sympy.Mul.make_args(sympy.powsimp(sympy.expand_power_base(node.args[0], force=True))):
                base, exponent = factor.as_base_exp()
                if base == self.small and exponent.is_Rational:
                    power += exponent
                elif factor.has(self.small):
                    raise NoMagnitude(f"{node} as {self.small} tends to 0")
            return -power * self._logarithm if power else node

        return e.replace(lambda node: isinstance(node, sympy.log) and node.has(self.small), replaced)

    # Relations

    def _assume(self, relation: sympy.Basic) -> None:
        if isinstance(relation, sympy.And):
            for part in relation.args:
                self._assume(part)
            return
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt | sympy.Eq):
            # Other relations are left out: fewer assumptions allow more.
            return
        low, high = relation.lhs, relation.rhs
        if isinstance(relation, sympy.Ge | sympy.Gt):
            low, high = high, low
        for a, b in ((low, high), (high, low))[: 2 if isinstance(relation, sympy.Eq) else 1]:
            before = len(self.known)
            try:
                above, below = self._parts(b - a)
                if above and below:
                    self.known.append(_at_most(below, above))
            except NoMagnitude:
                del self.known[before:]

    def _whole(self, *sides: sympy.Expr) -> list[sympy.Basic]:
        """Return bounds of roundings by integers: if x <= s for an integer s, then ceiling(x) <= s;
        likewise for floor.
        """
        found = []
        integers = sorted((s for s in sympy.Tuple(*sides).free_symbols if s.is_integer), key=sympy.default_sort_key)
        for node in sorted(sympy.Tuple(*sides).atoms(sympy.ceiling, sympy.floor), key=sympy.default_sort_key):
            order = sympy.Le if isinstance(node, sympy.ceiling) else sympy.Ge
            found += [
                order(node, s, evaluate=False)
                for s in integers
                if self._implied(order(node.args[0], s, evaluate=False))
            ]
        return found

    def _implied(self, relation: sympy.Rel) -> bool:
        """Return True if the known relations imply another one, given with <= or >=."""
        low, high = (relation.lhs, relation.rhs) if isinstance(relation, sympy.Le) else (relation.rhs, relation.lhs)
        return symbolic.at_most(low, high, self.relations) or reals.implied(relation, self.relations)

    # Signs

    def sign(self, e: sympy.Expr) -> int:
        """1 or -1 where an expression is shown to be nonnegative or nonpositive, else 0."""
        if e not in self._signs:
            self._signs[e] = self._signed(e)
        return self._signs[e]

    def _signed(self, e: sympy.Expr) -> int:
        if e.is_nonnegative:
            return 1
        if e.is_nonpositive:
            return -1
        if isinstance(e, sympy.Mul):
            signs = [self.sign(a) for a in e.args]
            return int(sympy.prod(signs))
        if isinstance(e, sympy.Pow) and e.exp.is_Rational:
            if e.exp.q == 1 and e.exp.p % 2 == 0:
                return 1
            return self.sign(e.base) if e.exp.q == 1 else 1
        if isinstance(e, sympy.Max) and any(self.sign(a) > 0 for a in e.args):
            return 1
        if isinstance(e, sympy.Min | sympy.Max | sympy.ceiling | sympy.floor):
            signs = [self.sign(a) for a in e.args]
            return 1 if min(signs) > 0 else -1 if max(signs) < 0 and not isinstance(e, sympy.floor) else 0
        if isinstance(e, sympy.log):
            return self.sign(difference_of(e.args[0], sympy.S.One))
        if isinstance(e, sympy.Add):
            signs = [self.sign(a) for a in e.args]
            if all(signs) and len(set(signs)) == 1:
                return signs[0]
            if self._depth < _REWRITTEN and (other := rewritten(e)) != e:
                with self._within():
                    found = self.sign(other)
                if found:
                    return found
        if (bound := _exceeds(e)) is not None and self._implied(bound):
            return 1
        for found in (1, -1):
            if self._implied(sympy.Ge(found * e, 0, evaluate=False)):
                return found
        return 0

    # Magnitudes

    def of(self, e: sympy.Expr) -> Any:
        """log|e|, up to a constant."""
        if e not in self._of:
            self._of[e] = self._made(e)
        return self._of[e]

    def _made(self, e: sympy.Expr) -> Any:
        if e.is_number:
            if e.is_zero is not False or not e.is_finite or not e.is_real:
                raise NoMagnitude(f"{e} is not a number other than 0")
            return z3.RealVal(0)
        if e.is_Symbol:
            return self._letter(e)
        if isinstance(e, sympy.Mul):
            return z3.Sum([self.of(a) for a in e.args])
        if isinstance(e, sympy.Pow) and e.exp.is_Rational:
            return z3.RealVal(str(e.exp)) * self.of(e.base)
        if isinstance(e, sympy.Max | sympy.Min):
            return self._extreme(e)
        if isinstance(e, sympy.ceiling | sympy.floor):
            return self._rounded(e)
        if isinstance(e, sympy.log):
            return self._log(e)
        if isinstance(e, sympy.Add):
            other = rewritten(e)
            if other == e or self._depth == _REWRITTEN:
                return self._sum(e)
            with self._within():
                return self.of(other)
        raise NoMagnitude(f"no magnitude of {type(e).__name__} is known")

    def _new(self) -> Any:
        return z3.Real(f"new {next(self._count)}")

    def _parts(self, e: sympy.Expr) -> tuple[list[Any], list[Any]]:
        """The magnitudes of the positive terms of a sum, and of the negative ones."""
        terms = [(self.sign(term), term) for term in sympy.Add.make_args(e)]
        if not all(sign for sign, _ in terms):
            raise NoMagnitude(f"the sign of {next(term for sign, term in terms if not sign)} is not known")
        return tuple([self.of(term) for sign, term in terms if sign == which] for which in (1, -1))  # type: ignore[return-value]

    def _sum(self, e: sympy.Add) -> Any:
        if e.has(self._logarithm) and any(self.sign(a) < 0 for a in e.args):
            raise NoMagnitude(f"{e}, whose logarithms may cancel")
        above, below = self._parts(e)
        positive, negative = (self._largest(side) if side else None for side in (above, below))
        if positive is None or negative is None:
            return positive if negative is None else negative
        found = self._new()
        sign = self.sign(e)
        terms = sympy.Add(*(sign * a for a in e.args if self.sign(a) == sign))
        self.known.append(z3.Or(found <= positive, found <= negative))
        # Where the larger part is more than twice the other nothing cancels.
        whole = z3.And(found >= positive, found >= negative)
        shares = (sympy.Ge(sign * e, _rational(c) * terms, evaluate=False) for c in _SHARES)
        kept = bool(sign) and any(self._implied(share) for share in shares)
        self.known.append(whole if kept else z3.Or(whole, positive == negative))
        return found

    def _largest(self, magnitudes: list[Any]) -> Any:
        if len(magnitudes) == 1:
            return magnitudes[0]
        found = self._new()
        self.known += [found >= m for m in magnitudes]
        self.known.append(z3.Or([found <= m for m in magnitudes]))
        return found

    def _extreme(self, e: sympy.Max | sympy.Min) -> Any:
        signs = {a: self.sign(a) for a in e.args}
        if isinstance(e, sympy.Max) and any(sign > 0 for sign in signs.values()):
            # Only the positive part of what may be negative counts.
            return self._largest([self.of(a) if signs[a] > 0 else self._positive(a) for a in e.args if signs[a] >= 0])
        if len(set(signs.values())) > 1 or 0 in signs.values():
            raise NoMagnitude(f"the sign of {e} is not known")
        magnitudes = [self.of(a) for a in e.args]
        if isinstance(e, sympy.Min) != (min(signs.values()) > 0):
            return self._largest(magnitudes)
        found = self._new()
        self.known += [found <= m for m in magnitudes]
        self.known.append(z3.Or([found >= m for m in magnitudes]))
        return found

    def _positive(self, e: sympy.Expr) -> Any:
        """log max(e, 0) of a sum."""
        above, below = self._parts(e)
        if not above:
            raise NoMagnitude(f"the positive part of {e}")
        positive, found = self._largest(above), self._new()
        self.known.append(found <= positive)
        if below:
            self.known.append(z3.Or(found >= positive, positive <= self._largest(below)))
        else:
            self.known.append(found >= positive)
        return found

    def _rounded(self, e: sympy.ceiling | sympy.floor) -> Any:
        inner = e.args[0]
        if self.sign(inner) <= 0:
            raise NoMagnitude(f"the sign of {inner} is not known")
        x, found = self.of(inner), self._new()
        if isinstance(e, sympy.floor):
            self.known += [found <= x, z3.Or(x <= 0, found >= x)]
        else:
            self.known += [found >= x, z3.Or(found <= x, found <= 0)]
            if inner.is_positive:
                self.known.append(found >= 0)
        return found

    def _log(self, e: sympy.log) -> Any:
        inner = e.args[0]
        sign = self.sign(e)
        if not sign:
            raise NoMagnitude(f"the sign of {e} is not known")
        z, gap, found = self.of(inner), self.of(difference_of(inner, sympy.S.One)), self._new()
        # Near 1 a logarithm is as large as the difference from 1; elsewhere it is at least a constant.
        away = [gap == z, z >= 0] if sign > 0 else [gap == 0, z <= 0]
        size = z if sign > 0 else -z
        bounds = [found >= 0, found <= z3.RealVal(str(_LOG)) * size]
        self.known.append(z3.Or(z3.And(z == 0, gap <= 0, found == gap), z3.And(*away, *bounds)))
        return found


def _at_most(below: list[Any], above: list[Any]) -> Any:
    """The largest of some magnitudes is at most the largest of others."""
    return z3.Or([z3.And([b <= a for b in below]) for a in above])


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def difference_of(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """a - b with maxima and minima outermost."""
    return rewritten(sympy.Add(a, -b))


def rewritten(e: sympy.Expr) -> sympy.Expr:
    """A sum with terms of both signs as something whose sign and size are easier seen, or as it is."""
    if not isinstance(e, sympy.Add):
        return e
    for term in e.args:
        sign, inner = (1, term) if isinstance(term, sympy.Max | sympy.Min) else (-1, -term)
        if isinstance(inner, sympy.Max | sympy.Min):
            # c - max(a, b) = min(c - a, c - b).
            outer = inner.func if sign > 0 else (sympy.Min if isinstance(inner, sympy.Max) else sympy.Max)
            if any(map(_negative, e.args)):
                return outer(*(e - term + sign * a for a in inner.args), evaluate=False)
    if not any(map(_negative, e.args)):
        return e
    if e.has(sympy.Max, sympy.Min, sympy.log, sympy.ceiling, sympy.floor):
        return e
    if len(e.args) == 2 and sum(map(_negative, e.args)) == 1 and any(map(_has_root, e.args)):
        first, second = e.args
        squares = sympy.expand(first**2 - second**2)
        if not _has_root(squares):
            # a - b = (a^2 - b^2)/(a + b), of which the denominator does not cancel.
            return sympy.Mul(sympy.cancel(sympy.together(squares)), 1 / (first - second), evaluate=False)
    top, bottom = sympy.fraction(sympy.cancel(sympy.together(e)))
    return sympy.expand(top) / sympy.expand(bottom)


def _exceeds(e: sympy.Expr) -> sympy.Rel | None:
    """Return a condition that makes log(u) - c nonnegative, u >= a rational number above exp(c); None
    for other sums.
    """
    if not (
        isinstance(e, sympy.Add) and len(e.args) == 2 and e.args[0].is_Rational and isinstance(e.args[1], sympy.log)
    ):
        return None
    return sympy.Ge(e.args[1].args[0], 1 + sympy.floor(sympy.exp(-e.args[0])), evaluate=False)


def _negative(term: sympy.Expr) -> bool:
    return bool(term.as_coeff_Mul()[0].is_negative)


def _has_root(e: sympy.Expr) -> bool:
    return any(isinstance(node, sympy.Pow) and not node.exp.is_integer for node in sympy.preorder_traversal(e))
