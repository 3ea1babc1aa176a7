"""Show that an entry is 0 at all of its places, in each case of the conditions on indices that z3 finds possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import z3

from verify.entries.sums import Grid, Place, Product, closed, power, within
from verify.exact import reals, solvers

#: Effort after which z3 gives up, in its own units; and cases of the conditions, at most.
EFFORT, CASES = 2_000_000, 4000


class Undecided(ValueError):
    """Raised where there are more cases than are looked at."""


@dataclass
class Facts:
    """Relations that are known of letters and indices."""

    relations: tuple[sympy.Basic, ...]
    _asked: dict[sympy.Basic, bool] = field(default_factory=dict)

    def with_more(self, *more: sympy.Basic) -> Facts:
        """Return the facts, and more."""
        return Facts((*self.relations, *more))

    def implies(self, relation: sympy.Basic) -> bool:
        """Return True if a relation between whole numbers, or between numbers, is known to follow."""
        if isinstance(relation, sympy.Or):
            return any(map(self.implies, relation.args))
        if relation not in self._asked:
            self._asked[relation] = not _possible((*self.relations, sympy.Not(relation))) or reals.implied(
                relation, self.relations
            )
        return self._asked[relation]

    def is_nonzero(self, e: sympy.Expr) -> bool:
        """Return True if an expression is nowhere 0."""
        below = sympy.fraction(sympy.together(e))[0]
        return bool(below.is_nonzero) or self.implies(sympy.Ne(below, 0, evaluate=False))


def is_zero(one: Grid, facts: Facts) -> bool:
    """Return True if all entries of an array are shown to be 0."""
    bounds = [
        place.relation() for k, length in enumerate(reversed(one.lengths)) for place in within(k, sympy.S.Zero, length)
    ]
    here = facts.with_more(*bounds)
    products: list[Product] = []
    for p in one.of:
        found = closed(p, here)
        if found is None:
            return False
        products += found
    return _vanishes(products, here, [CASES])


def _vanishes(products: Sequence[Product], facts: Facts, left: list[int]) -> bool:
    """Return True if a sum of products is 0 where the facts hold, in each case of the conditions."""
    left[0] -= 1
    if left[0] < 0:
        raise Undecided(f"there are more than {CASES} cases of the conditions on indices")
    place = min((place for p in products for place in p.where), key=sympy.default_sort_key, default=None)
    if place is None:
        return _sum_is_zero(sympy.Add(*(p.number for p in products)), facts)
    relation = place.relation()
    for holds in (True, False):
        there = facts.with_more(relation if holds else sympy.Not(relation))
        if _possible(there.relations) and not _vanishes(list(_where(products, place, holds)), there, left):
            return False
    return True


def _where(products: Iterable[Product], place: Place, holds: bool) -> Iterator[Product]:
    for p in products:
        if place not in p.where:
            yield p
        elif holds:
            yield p._replace(where=p.where - {place})


# Numbers


def _sum_is_zero(e: sympy.Expr, facts: Facts) -> bool:
    for index, value in _equalities(facts.relations):
        e = e.xreplace({index: value})
    e = _gathered(e, facts)
    return bool(sympy.expand(sympy.fraction(sympy.together(e))[0]) == 0)


def _equalities(relations: Sequence[sympy.Basic]) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """Yield values of whole numbers that equations say, each to be put in after those before it."""
    equations = [r.lhs - r.rhs for r in relations if isinstance(r, sympy.Eq)]
    put: list[tuple[sympy.Symbol, sympy.Expr]] = []
    for e in equations:
        for index, value in put:
            e = e.xreplace({index: value})
        e = sympy.expand(e)
        for x in sorted(e.free_symbols, key=lambda x: (not isinstance(x, sympy.Dummy), str(x))):
            factor = e.coeff(x)
            value = sympy.expand(x - e / factor) if factor in (1, -1) else x
            if x.is_integer and x not in value.free_symbols:
                put.append((x, value))
                yield x, value
                break


def _gathered(e: sympy.Expr, facts: Facts) -> sympy.Expr:
    """Return an expression in which powers of one base whose exponents differ by a number are multiples of one symbol.

    A base is split into its factors; below a fraction these are not 0, as it was divided by them.
    """
    e = e.replace(power, lambda base, exponent: _split(base, sympy.expand(exponent)))
    least: dict[tuple[sympy.Expr, sympy.Expr], sympy.Expr] = {}
    for p in e.atoms(power):
        constant, rest = p.args[1].as_coeff_Add()
        at = p.args[0], rest
        least[at] = min(least.get(at, constant), constant)
    for (base, rest), constant in least.items():
        if not base.is_nonzero and not facts.implies(sympy.Ge(rest + constant, 0, evaluate=False)):
            # With a negative exponent it cannot be taken out as a factor.
            least[base, rest] = sympy.oo
    symbols: dict[Any, sympy.Symbol] = {}

    def gathered(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        constant, rest = exponent.as_coeff_Add()
        low = least[base, rest]
        if low is sympy.oo:
            return symbols.setdefault((base, exponent), sympy.Dummy("p"))
        return symbols.setdefault((base, rest), sympy.Dummy("p")) * base ** (constant - low)

    return e.replace(power, gathered)


def _split(base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
    above, below = (sympy.factor_list(part) for part in sympy.fraction(sympy.cancel(sympy.together(base))))
    found = power(above[0], exponent) / power(below[0], exponent)
    for (_, factors), sign in ((above, 1), (below, -1)):
        for factor, times in factors:
            found *= power(factor, exponent) ** (sign * times)
    return found.xreplace({power(sympy.S.One, exponent): sympy.S.One})


# z3 over integers


def _possible(relations: Iterable[sympy.Basic]) -> bool:
    """Return False if whole numbers, and real ones, are shown not to satisfy relations."""
    translated, given = [], list(relations)
    for x in sympy.Tuple(*given).free_symbols:
        # Signs that a letter is declared with.
        given += [sympy.Gt(x, 0, evaluate=False)] if x.is_positive else []
        given += [sympy.Ge(x, 0, evaluate=False)] if x.is_nonnegative else []
    for relation in given:
        try:
            translated.append(_relation(relation))
        except _Untranslated:
            # A relation less is more that is possible.
            continue
    return solvers.solver(translated, EFFORT).check() != z3.unsat


class _Untranslated(ValueError):
    """Raised for an expression that cannot be written as a polynomial."""


def _relation(relation: sympy.Basic) -> Any:
    if relation in (sympy.true, sympy.false):
        return z3.BoolVal(relation is sympy.true)
    if isinstance(relation, sympy.And | sympy.Or):
        parts = [_relation(part) for part in relation.args]
        return z3.And(parts) if isinstance(relation, sympy.And) else z3.Or(parts)
    if isinstance(relation, sympy.Not):
        return z3.Not(_relation(relation.args[0]))
    if not isinstance(relation, sympy.Rel):
        raise _Untranslated
    return _MEANING[relation.rel_op](_number(relation.lhs - relation.rhs), 0)


_MEANING: dict[str, Any] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}


def _number(e: sympy.Expr) -> Any:
    if e.is_Integer:
        return z3.IntVal(int(e))
    if e.is_Rational:
        return z3.RealVal(str(e))
    if isinstance(e, sympy.Symbol):
        name = f"{e.name} {e.dummy_index}" if isinstance(e, sympy.Dummy) else e.name
        return z3.Int(name) if e.is_integer else z3.Real(name)
    if isinstance(e, sympy.Add | sympy.Mul):
        first, *rest = map(_number, e.args)
        for other in rest:
            first = first + other if isinstance(e, sympy.Add) else first * other
        return first
    if isinstance(e, sympy.Pow) and e.exp.is_Integer and 0 < e.exp <= 8:
        base = found = _number(e.base)
        for _ in range(int(e.exp) - 1):
            found = found * base
        return found
    raise _Untranslated
