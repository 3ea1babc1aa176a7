"""Signs of the coordinates of vectors, as vectors.

The signs s of v have |s|^2 <= d, and <v, s> is the sum of the absolute values of the coordinates of v: at least +-<v,
t> for the signs t of any vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from verify.multipliers.generic_functions import KnownInequality
from verify.multipliers.reasons import Phrase
from verify.reading.worlds import World, WorldValue


@dataclass(eq=False)
class Signs:
    """The vectors whose signs were taken, with these, by name: of vectors of each client's own (``True``), and of
    vectors that all clients share."""

    world: World
    asked: dict[tuple[bool, str], tuple[WorldValue, WorldValue]] = field(default_factory=dict)

    def of(self, vector: WorldValue) -> WorldValue:
        """Return the signs of a vector that is not drawn."""
        if vector.is_zero():
            return vector
        own = any(atom.own for _, atoms in vector.of for atom in atoms)
        name = f"signs {len(self.asked)}"
        if (key := (own, vector.name())) not in self.asked:
            self.asked[key] = vector, self.world.of_client(name, 1) if own else self.world.atom(name, 1)
        return self.asked[key][1]

    def inequalities(self) -> Iterator[KnownInequality]:
        """All that is known of them."""
        world = self.world
        for k, ((own, _), (vector, signs)) in enumerate(self.asked.items()):
            size = world.inner(signs * signs) - world.count("d")
            known = [(Phrase(("the signs of ", vector, " have at most the square d")), size)]
            for (other_own, _), (_, others) in self.asked.items():
                least = Phrase(("no signs have a larger inner product with ", vector, " than its own"))
                if own or not other_own:
                    by_signs = world.inner(vector * signs)
                    known += [(least, world.inner(vector * others) * sign - by_signs) for sign in _both(world)]
            for j, (why, form) in enumerate(known):
                yield KnownInequality(f"signs {k}, {j}", why, world.total(form) if own else form)


def _both(world: World) -> tuple[WorldValue, WorldValue]:
    """1 and -1."""
    return world.constant(1), -world.constant(1)
