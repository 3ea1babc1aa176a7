"""Expectations of what each client adds, over coins that are tossed in a step: those of each client, and one of all;
or over the choice of one client.

A client's density is multilinear in the masks of that client and of all, which are independent, so that each is its
chance in the mean. Nothing else in it may be drawn.

Where a step multiplies sums over the clients that take part, the expectation is taken of the whole number. With the
masks m_i of chances p_i, for vectors a_i and b_i that are not drawn,

- E<sum_i m_i a_i, sum_j m_j b_j> = <sum_i p_i a_i, sum_j p_j b_j> + sum_i (p_i - p_i^2) <a_i, b_i> for coins, those of
  different clients being independent;
- E<sum_i m_i a_i, sum_j m_j b_j> = sum_i p_i <a_i, b_i> where one client is chosen, as no two are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from verify.multipliers.clients import GenericClients, symbols
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import Term
from verify.reading.worlds import ONE, Atom, WorldValue


@dataclass(frozen=True, eq=False)
class CoinChances:
    """The chances that masks of a step are true, by their names; ``choices``: the masks that are true of one client."""

    clients: GenericClients
    chances: Mapping[str, WorldValue]
    choices: frozenset[str] = frozenset()

    @classmethod
    def of(cls, clients: GenericClients, law: Any) -> CoinChances:
        """Return the chances of the coins of a distribution. Raise ``Unread`` if it is not one of coins with
        chances that are rational functions of the letters."""
        chances = {name: evaluated(clients.world, [p])[0] for name, p, _ in tossed(law, "draw")}
        choices = frozenset(name for name, _, one in tossed(law, "draw") if one)
        clients.world.totals.update((name, clients.world.constant(sympy.Integer(1))) for name in choices)
        if not all(set(chance.of) <= {ONE} for chance in chances.values()):
            raise Unread("the probability of a coin is not a rational function of the letters")
        return cls(clients, chances, choices)

    def expected(self, value: WorldValue) -> WorldValue:
        """Return the expectation of what a client adds. Raise ``Unread`` if it depends on what others draw."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            if self._is_drawn_by_others(atoms, c, set()):
                raise Unread("a client's contribution depends on other clients' coins")
            term = WorldValue({(frozenset(draws - set(self.chances)), atoms): c})
            for name in sorted(draws & set(self.chances)):
                term *= self.chances[name]
            found += term
        return found

    def multiplies(self, value: WorldValue) -> bool:
        """Return True if sums over the clients are multiplied in a number."""
        return any(sum(map(self.clients.is_summed, self._factors(atoms))) > 1 for _, atoms in value.of)

    def _factors(self, atoms: tuple[Atom, ...]) -> list[Atom]:
        return [part for atom in atoms for part in self.clients.parts(atom)]

    def _is_random(self, atom: Atom) -> bool:
        return self._is_drawn_by_others((atom,), self.clients.world.field.one, set())

    def expectation(self, value: WorldValue) -> WorldValue:
        """Return the expectation of a number that is a sum of products of at most two sums over the clients.

        Raise ``Unread`` if it is anything else.
        """
        world, found = self.clients.world, WorldValue({})
        for (draws, atoms), c in value.of.items():
            if draws & set(self.chances) & world.indexed or self._is_drawn_by_others((), c, set()):
                raise Unread("a number depends on coins by more than sums of vectors, or of numbers, of the clients")
            fixed = tuple(atom for atom in atoms if not any(map(self._is_random, self.clients.parts(atom))))
            random = [atom for atom in atoms if atom not in fixed]
            if len(random) > 1:
                raise Unread("a product of random numbers is compared")
            term = self.expected(WorldValue({(draws, fixed): c}))
            found += term * self._mean(random[0]) if random else term
        return found

    def _mean(self, atom: Atom) -> WorldValue:
        """The expectation of a sum over the clients, or of an inner product of one or two such sums."""
        parts = self.clients.parts(atom)
        random = [part for part in parts if self._is_random(part)]
        if len(parts) == 1:
            return self._summed(self._of_sum(atom))
        if len(random) == 1:
            (other,) = (part for part in parts if part != random[0])
            return self._inner(self._summed(self._of_sum(random[0])), self._vector(other))
        one, other_one = map(self._of_sum, parts)
        both = self._summed(self._inner(one, other_one))
        shared = _masks(one) & _masks(other_one) & set(self.chances)
        if shared & self.choices:
            return both
        means = [self.expected(each) for each in (one, other_one)]
        apart = self._inner(*map(self.clients.summed, means)) - self.clients.summed(self._inner(*means))
        return both + apart

    def _summed(self, each: WorldValue) -> WorldValue:
        return self.clients.summed(self.expected(each))

    def _inner(self, one: WorldValue, other: WorldValue) -> WorldValue:
        return self.clients.world.inner(one * other)

    def _vector(self, atom: Atom) -> WorldValue:
        return WorldValue({(frozenset(), (atom,)): self.clients.world.field.one})

    def _of_sum(self, atom: Atom) -> WorldValue:
        """Return the term of a generic client in a sum."""
        kind, *of = self.clients.world.meaning.get(atom.name, ("",))
        if kind != "sum":
            raise Unread(f"what {atom.name} is in expectation is not known")
        letters, draws, own = of
        return WorldValue({(draws, own): letters})

    def check_asked(self) -> None:
        """``Unread`` where a function is asked at a point that is drawn: what is known of it is of one point."""
        for asked in self.clients.asked.values():
            if any(self.is_drawn(value) for value in (asked.point, asked.gradient, asked.value)):
                raise Unread("a function is evaluated at a point that depends on other clients' coins")

    def is_drawn(self, value: WorldValue) -> bool:
        """Return True if a value depends on coins, or on a sum over the clients that contains some."""
        return self._is_drawn(value, set())

    def _is_drawn(self, value: WorldValue, seen: set[str]) -> bool:
        tossed = set(self.chances)
        return any(draws & tossed or self._is_drawn_by_others(atoms, c, seen) for (draws, atoms), c in value.of.items())

    def _is_drawn_by_others(self, atoms: tuple[Atom, ...], c: Any, seen: set[str]) -> bool:
        """Return True if a product, or its coefficient, contains a sum whose terms are drawn."""
        world, clients = self.clients.world, self.clients
        sums = {str(symbol): name for name, symbol in world.sums.items()}
        names = [part.name for atom in atoms for part in clients.parts(atom)]
        names += [sums[str(symbol)] for symbol in symbols(c) if str(symbol) in sums]
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            within = [of[name] for of in (clients.totals, clients.relations) if name in of]
            kind, *of = world.meaning.get(name, ("",))
            if kind == "sum":
                letters, draws, own = of
                within.append(WorldValue({(draws, own): letters}))
            if any(self._is_drawn(value, seen) for value in within):
                return True
        return False


def _masks(value: WorldValue) -> frozenset[str]:
    return frozenset(name for draws, _ in value.of for name in draws)


def tossed(law: Any, name: str) -> Iterator[tuple[str, Term, bool]]:
    """The masks of a distribution, by name, the chance of each, which may be each client's own, and True if one client
    is chosen."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from tossed(of, f"{name}.{part}")
    elif law.name in ("bernoulli", "coins"):
        yield name, law.of[0], False
    elif law.name == "independent" and law.of[0].name == "bernoulli":
        yield name, law.of[0].of[0], False
    elif law.name == "categorical":
        yield name, law.of[0], True
    elif law.name != "constant":
        raise Unread(f"with letters of each client's own, expectations over a {law.name} are not taken")
