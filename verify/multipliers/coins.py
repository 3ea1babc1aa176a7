"""Expectations of what each client adds, over coins that are tossed in a step: those of each client, and one of all.

A client's density is multilinear in the masks of that client and of all, which are independent, so that each is its
chance in the mean. Nothing else in it may be drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.multipliers.clients import GenericClients, symbols
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import Term
from verify.reading.worlds import ONE, Atom, WorldValue


@dataclass(frozen=True, eq=False)
class CoinChances:
    """The chances that masks of a step are true, by their names."""

    clients: GenericClients
    chances: Mapping[str, WorldValue]

    @classmethod
    def of(cls, clients: GenericClients, law: Any) -> CoinChances:
        """Return the chances of the coins of a distribution. Raise ``Unread`` if it is not one of coins with
        chances that are rational functions of the letters."""
        chances = {name: evaluated(clients.world, [p])[0] for name, p in tossed(law, "draw")}
        if not all(set(chance.of) <= {ONE} for chance in chances.values()):
            raise Unread("the probability of a coin is not a rational function of the letters")
        return cls(clients, chances)

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


def tossed(law: Any, name: str) -> Iterator[tuple[str, Term]]:
    """The masks of a distribution, by name, and the chance of each, which may be each client's own."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from tossed(of, f"{name}.{part}")
    elif law.name in ("bernoulli", "coins"):
        yield name, law.of[0]
    elif law.name == "independent" and law.of[0].name == "bernoulli":
        yield name, law.of[0].of[0]
    elif law.name != "constant":
        raise Unread(f"with letters of each client's own, expectations over a {law.name} are not taken")
