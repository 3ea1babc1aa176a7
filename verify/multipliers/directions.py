"""Expectations over directions, random vectors u of which only moments are used.

The direction is symmetric and has no preferred axis: of a product of m inner products of u with other vectors, times
|u|^(2k), the expectation is 0 for odd m. For even m it is E|u|^(m + 2k) / (d (d + 2) ... (d + m - 2)) times the sum,
over all ways to pair the vectors, of the products of the inner products of pairs. For standard normal numbers E|u|^2j
is d (d + 2) ... (d + 2j - 2), and on the unit sphere it is 1. The other vectors do not depend on u.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import sympy

from verify.multipliers.answers import OffTangent
from verify.multipliers.generic_functions import KnownInequality
from verify.multipliers.reasons import Phrase
from verify.reading.oracles import DIRECTIONS
from verify.reading.source import Unread
from verify.reading.worlds import ONE, Atom, World, WorldValue

#: Vectors in a product that are paired, at most.
PAIRED = 4


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of a step: ``kinds``, the distribution of each, by the name of its vector.

    ``drawn``: the names of numbers that may depend on any draw; ``off``: those by which values are off tangents.
    ``along``: the vectors <a, u>u that stand beside the vectors (such a number) * u, each with a and the name of u.
    """

    world: World
    kinds: Mapping[str, str]
    drawn: frozenset[str] = frozenset()
    off: Sequence[OffTangent] = ()
    along: dict[str, tuple[WorldValue, str]] = field(default_factory=dict)

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
        off: list[Atom] = []
        squares = 0
        numbers = {a for of in self.off if of.direction == name for _, atoms in of.total.of for a in atoms}
        for atom in atoms:
            kind, *of = self.world.meaning.get(atom.name, ("",))
            if atom in numbers:
                off.append(atom)
            elif kind != "inner product" or all(vector.name != name for vector in of):
                fixed.append(atom)
            elif all(vector.name == name for vector in of):
                squares += 1
            else:
                others += [vector for vector in of if vector.name != name]
        moved = squares or others or len(off) > 1
        if any(self._depends(name, atom) for atom in (*fixed, *others)):
            raise Unread("a sum over the clients of products with a direction is compared")
        if moved and any(self._is_drawn(atom) for atom in fixed):
            raise Unread("a function's value at a point that is drawn is multiplied by a direction")
        rest = WorldValue({(frozenset(), tuple(sorted(fixed))): self.world.field.one})
        if off and moved:
            return rest * self._beside(name, off, others, squares)
        if len(others) % 2:
            return WorldValue({})
        if len(others) > PAIRED:
            raise Unread(f"more than {PAIRED} inner products with one direction are multiplied")
        rest = rest * WorldValue({(frozenset(), tuple(off)): self._moment(name, squares, len(others))})
        found = WorldValue({})
        for pairs in _pairings(others):
            product = rest
            for one, other in pairs:
                product = product * self.world.inner(_vector(self.world, one) * _vector(self.world, other))
            found += product
        return found

    def _beside(self, name: str, off: list[Atom], others: list[Atom], squares: int) -> WorldValue:
        """The expectation of a product with numbers by which values are off tangents, as one of an inner product."""
        of = [self.world.atom(f"({atom.name}) times {name}", 1) for atom in off]
        if (len(off), len(others), squares) == (2, 0, 1):
            return self.world.inner(of[0] * of[1])
        if (len(off), len(others)) == (1, 1) and squares < 2:
            other = _vector(self.world, others[0])
            if squares:
                along = f"{others[0].name} along {name}"
                self.along[along] = other, name
                other = self.world.atom(along, 1)
            return self.world.inner(of[0] * other)
        raise Unread("a product of values at points moved along a direction is compared")

    def _is_drawn(self, atom: Atom) -> bool:
        kind, *of = self.world.meaning.get(atom.name, ("",))
        return atom.name in self.drawn or (kind == "sum" and any(map(self._is_drawn, of[2])))

    def _depends(self, name: str, atom: Atom) -> bool:
        """Return True if a vector or a number depends on a direction by what it is made of."""
        if atom.name == name or any(
            of.direction == name and (frozenset(), (atom,)) in of.each.of and of.each.of != of.total.of
            for of in self.off
        ):
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

    def known(self) -> Iterator[tuple[KnownInequality, bool]]:
        """Yield what is known of values at points moved along directions, and of vectors <a, u>u, which is an equality
        if True."""
        world = self.world
        half, count = WorldValue({ONE: world.field.one / 2}), world.count("n")
        for k, of in enumerate(self.off):
            assert of.functions.curvatures is not None and of.functions.curvatures[1] is not None
            most = half * of.functions.curvatures[1] * of.by * of.by
            most = most * count if of.functions.own else most
            size = [WorldValue({ONE: self._moment(of.direction, j, 0)}) for j in (1, 3)]
            ((_, (atom,)),) = of.total.of
            moved = world.atom(f"({atom.name}) times {of.direction}", 1)
            why = Phrase(("a value is near the tangent at ", of.base))
            yield KnownInequality(f"off {k} above", why, of.total - most * size[0]), False
            yield KnownInequality(f"off {k} below", why, -of.total - most * size[0]), False
            yield KnownInequality(f"off {k}", why, world.inner(moved * moved) - most * most * size[1]), False
        for (one, (a, u)), (other, (b, w)) in combinations_with_replacement(self.along.items(), 2):
            if u == w:
                form = world.inner(world.atom(one, 1) * world.atom(other, 1))
                form -= WorldValue({ONE: self._moment(u, 1, 2)}) * world.inner(a * b)
                why = Phrase(("two vectors along one direction: of ", a, " and ", b))
                yield KnownInequality(f"{one}, {other}", why, form), True


def _vector(world: World, atom: Atom) -> WorldValue:
    return WorldValue({(frozenset(), (atom,)): world.field.one})


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
