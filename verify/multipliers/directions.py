"""Expectations over directions, random vectors u of which only moments are used.

The direction is symmetric and has no preferred axis: of a product of m inner products of u with other vectors, times
|u|^(2k), the expectation is 0 for odd m. For even m it is E|u|^(m + 2k) / (d (d + 2) ... (d + m - 2)) times the sum,
over all ways to pair the vectors, of the products of the inner products of pairs. For standard normal numbers E|u|^2j
is d (d + 2) ... (d + 2j - 2), and on the unit sphere it is 1. The other vectors do not depend on u.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from verify.reading.oracles import DIRECTIONS
from verify.reading.source import Unread
from verify.reading.worlds import Atom, World, WorldValue

#: Vectors in a product that are paired, at most.
PAIRED = 4


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of a step: ``kinds``, the distribution of each, by the name of its vector. ``drawn``: the names of
    numbers that may depend on any draw."""

    world: World
    kinds: Mapping[str, str]
    drawn: frozenset[str] = frozenset()

    def expectation(self, value: WorldValue) -> WorldValue:
        """The expectation of a number over all directions, given all else that is drawn."""
        for name in self.kinds:
            found = WorldValue({})
            for (draws, atoms), c in value.of.items():
                found += self._mean(name, atoms) * WorldValue({(draws, ()): c})
            value = found
        return value

    def _mean(self, name: str, atoms: tuple[Atom, ...]) -> WorldValue:
        """The expectation of a product of numbers over one direction."""
        others: list[Atom] = []
        fixed: list[Atom] = []
        squares = 0
        for atom in atoms:
            kind, *of = self.world.meaning.get(atom.name, ("",))
            if kind != "inner product" or all(vector.name != name for vector in of):
                fixed.append(atom)
            elif all(vector.name == name for vector in of):
                squares += 1
            else:
                others += [vector for vector in of if vector.name != name]
        moved = squares or others
        if any(self._depends(name, atom) for atom in (*fixed, *others)):
            raise Unread("a sum over the clients of products with a direction is compared")
        if moved and any(atom.name in self.drawn for atom in fixed):
            raise Unread("a function's value at a point that is drawn is multiplied by a direction")
        if len(others) % 2:
            return WorldValue({})
        if len(others) > PAIRED:
            raise Unread(f"more than {PAIRED} inner products with one direction are multiplied")
        rest = WorldValue({(frozenset(), tuple(sorted(fixed))): self._moment(name, squares, len(others))})
        found = WorldValue({})
        for pairs in _pairings(others):
            product = rest
            for one, other in pairs:
                both = WorldValue({(frozenset(), tuple(sorted((one, other)))): self.world.field.one})
                product = product * self.world.inner(both)
            found += product
        return found

    def _depends(self, name: str, atom: Atom) -> bool:
        """Return True if a vector or a number depends on a direction by what it is made of."""
        if atom.name == name:
            return True
        kind, *of = self.world.meaning.get(atom.name, ("",))
        parts = of[2] if kind == "sum" else of if kind == "inner product" else ()
        return any(self._depends(name, part) for part in parts)

    def _moment(self, name: str, squares: int, others: int) -> Any:
        """E|u|^(others + 2 squares) / (d (d + 2) ... (d + others - 2))."""
        d, found = self.world.field(sympy.Symbol("d")), self.world.field.one
        for j in range(others // 2):
            found /= d + 2 * j
        for j in range(others // 2 + squares if self.kinds[name] == "gaussian" else 0):
            found *= d + 2 * j
        return found


def _pairings(of: list[Atom]) -> Iterator[tuple[tuple[Atom, Atom], ...]]:
    """Yield all ways to pair vectors, of which there is an even number."""
    if not of:
        yield ()
        return
    first, *rest = of
    for k, other in enumerate(rest):
        for pairs in _pairings(rest[:k] + rest[k + 1 :]):
            yield ((first, other), *pairs)


def directions(law: Any, name: str = "draw") -> Iterator[tuple[str, str]]:
    """Yield the name of each direction that a distribution draws, and the kind of its distribution."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from directions(of, f"{name}.{part}")
    elif law.name in DIRECTIONS:
        yield name, law.name
