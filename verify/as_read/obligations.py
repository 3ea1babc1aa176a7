"""Discharge the obligations of a proof from read code, using the hypotheses: divisors, errors, cases that
never occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import sympy

from fedtheory.claims import Claim
from verify.exact import reals, symbolic
from verify.reading import terms
from verify.reading.claimed import CodePath
from verify.reading.declarations import declarations
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Type
from verify.reading.values import Condition, relation_of
from verify.reading.worlds import ONE, World, WorldValue, at_client, symbol_of

#: The relations of the least, and the largest, of the clients' numbers to that of any of them.
BOUNDS: Mapping[Op, Any] = {Op.LEAST: sympy.Le, Op.MOST: sympy.Ge}


@dataclass(frozen=True, eq=False)
class Ground:
    """The known relations between the letters of a world in one case, and the names of its symbols in them. ``before``:
    the number of ``relations`` known before the conditions of the case, which follow them.
    """

    world: World
    names: Mapping[sympy.Symbol, sympy.Expr]
    relations: list[sympy.Basic]
    before: int = 0

    def expression(self, c: Any) -> sympy.Expr:
        """Return an element of the field, in the letters of the claim as far as it has some."""
        return c.as_expr().xreplace(self.names)

    def number(self, value: WorldValue) -> sympy.Expr:
        """Return a value that is a number made of letters. Raise ``Unread`` for any other."""
        if not set(value.of) <= {ONE}:
            raise Unread("a letter, or a side of a condition, is not a number composed of letters")
        return self.expression(value.of.get(ONE, self.world.field.zero))

    def relation(self, condition: Condition) -> sympy.Basic:
        """Return a condition as a relation between letters."""
        return relation_of(condition, lambda side: self.number(evaluated(self.world, [side])[0]))

    def implies(self, relation: sympy.Basic) -> bool:
        """Return True if a relation follows from the known ones."""
        return relation is sympy.true or reals.implied(relation, self.relations)

    def never_occurs(self) -> bool:
        """Return True if no values of the letters satisfy all known relations."""
        return sympy.false in self.relations or reals.contradictory(self.relations)

    def is_never_zero(self, c: Any) -> bool:
        """Return True if an element of the field is nonzero for all values of the letters."""
        _, factors = c.numer.factor_list()
        return all(self._nonzero(self.expression(self.world.field(factor))) for factor, _ in factors)

    def _nonzero(self, factor: sympy.Expr) -> bool:
        return bool(factor.is_nonzero) or self.implies(sympy.Ne(factor, 0))


def ground(claim: Claim, case: CodePath, world: World) -> Ground:
    """Return the known relations of a world's letters: the hypotheses, the values of the claim's letters, and the
    case.
    """
    names: dict[sympy.Symbol, sympy.Expr] = {}
    links: list[tuple[sympy.Expr, Any]] = []
    bounds: list[tuple[Any, sympy.Expr, WorldValue]] = []
    for letter, term in case.letters.items():
        if term.op in BOUNDS and set((of := evaluated(world, term.of)[0]).of) <= {ONE}:
            bounds.append((BOUNDS[term.op], letter, of))
        value = evaluated(world, [term])[0]
        if not set(value.of) <= {ONE}:
            continue
        c = value.of.get(ONE, world.field.zero)
        symbol = next((s for s, g in zip(world.field.symbols, world.field.gens, strict=True) if g == c), None)
        if symbol is not None and symbol not in names:
            names[symbol] = letter
        else:
            links.append((letter, c))
    _name_of_anybody(case, names, world)
    for symbol in world.field.symbols:
        whole = str(symbol) in ("n", "d") or symbol == world.examples or symbol == world.held
        size = {"positive": True, "integer": True} if whole else {"real": True}
        names.setdefault(symbol, sympy.Dummy(str(symbol), **size))
    found = Ground(world, names, list(symbolic.assumed(claim)))
    found.relations.extend(sympy.Eq(letter, found.expression(c), evaluate=False) for letter, c in links)
    found.relations.extend(by(letter, found.number(value), evaluate=False) for by, letter, value in bounds)
    found.relations.extend(_between_constants(claim, names))
    for term, strict in case.signs:
        number = found.number(evaluated(world, [term])[0])
        found.relations.append((sympy.Gt if strict else sympy.Ge)(number, 0, evaluate=False))
    found = replace(found, before=len(found.relations))
    for condition, answer in case.conditions:
        relation = found.relation(condition)
        found.relations.append(relation if answer else sympy.Not(relation))
    return found


def _between_constants(claim: Claim, names: Mapping[sympy.Symbol, sympy.Expr]) -> Iterator[sympy.Basic]:
    """Yield that the least and the largest of the mu_i, and of the L_i, lie between the constants of the class, if a
    claim requires the f_i to be members: they are smooth, and convex, with constants of their own, mu_i <= L_i.
    """
    of: Any = claim.setting.functions
    sources = claim.setting.sources
    if not declarations(of).between or not any(h.states_membership((of,), ("contains",)) for h in claim.requires):
        return
    if (sources.get(of.mu), sources.get(of.L)) != ("mu", "L"):
        return
    for op, name in product(BOUNDS, ("f.mu", "f.L")):
        term = terms.extreme(op, terms.leaf(Op.GIVEN, name, Type((Axis.CLIENTS,))))
        if (extreme := names.get(symbol_of(term))) is not None:
            yield sympy.And(sympy.Le(of.mu, extreme, evaluate=False), sympy.Le(extreme, of.L, evaluate=False))


def _name_of_anybody(case: CodePath, names: dict[sympy.Symbol, sympy.Expr], world: World) -> None:
    """Add names for the letters of a generic client, if the claim names that of one client alone.

    The assumptions on that client, as on the sign of its letter, are not made of the others: their signs are those that
    the setting declares for the numbers of all clients.
    """
    signs = [(evaluated(world, [term])[0], strict) for term, strict in case.signs]
    for symbol in list(names):
        own = next((s for s in world.field.symbols for i in case.whose if str(symbol) == at_client(str(s), i)), None)
        if own is not None and own not in names:
            strict = [strict for value, strict in signs if value.of == {ONE: world.field(own)}]
            sign = {"positive": True} if any(strict) else {"nonnegative": True} if strict else {"real": True}
            names[own] = sympy.Dummy(f"{names[symbol]} of any client", **sign)


def learn_sums(ground: Ground) -> None:
    """Add the known properties of sums of numbers over the clients: they are positive if all of their terms are."""
    world = ground.world
    for name, symbol in world.sums.items():
        _, letters, draws, _ = world.meaning[name]
        somebody = not draws or (len(draws) == 1 and _is_positive(ground, world.totals.get(min(draws))))
        if somebody and ground.implies(sympy.Gt(ground.expression(letters), 0)):
            ground.relations.append(sympy.Gt(ground.names[symbol], 0))


def _is_positive(ground: Ground, total: WorldValue | None) -> bool:
    return total is not None and ground.implies(sympy.Gt(ground.number(total), 0))


def unmet(ground: Ground, case: CodePath) -> Iterator[str]:
    """Yield the obligations that do not follow from the hypotheses: a nonzero divisor, or that no error is raised."""
    for where, condition in case.raising:
        if not ground.implies(sympy.Not(ground.relation(condition))):
            yield f"an error may be raised ({where})"
    seen = set()
    for quotient, met in case.quotients:
        # A condition that divides does not show that its own quotient is a number.
        first, after = ground.before + met, ground.before + len(case.conditions)
        there = replace(ground, relations=[*ground.relations[:first], *ground.relations[after:]])
        values = evaluated(ground.world, [quotient.of[-1]])
        for c in (c for value in values for c in value.of.values()):
            if (c, met) not in seen and not there.is_never_zero(c):
                yield f"{c} may be zero, and the code divides by it"
            seen.add((c, met))
    for c in ground.world.divided:
        if c not in seen and not ground.is_never_zero(c):
            yield f"{c} may be zero, and the code divides by it"
        seen.add(c)
