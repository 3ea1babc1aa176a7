"""Mixing matrices in a program of a generic client: what W makes of the clients' vectors, and what is known of it.

W leaves what all clients share. On deviations, vectors whose mean over the clients is 0, it is symmetric, and its
eigenvalues have absolute values of at most 1 - delta. So I - W has an inverse there: each deviation v has a preimage z,
another deviation, with z - W z = v. Both are linear: the image of a sum is the sum of the images of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import sympy

from verify.multipliers.generic_functions import KnownInequality
from verify.multipliers.reasons import Phrase
from verify.reading.source import Unread
from verify.reading.worlds import ONE, Atom, World, WorldValue


@dataclass(eq=False)
class MixedVectors:
    """The mixing matrix ``name``, with 1 - delta as ``largest``, and the deviations that were mixed.

    ``mixed``: these and what they became, by name; ``solved``: deviations and their preimages, by name; ``images`` and
    ``preimages``: of single vectors.
    """

    world: World
    name: str
    largest: WorldValue
    mixed: dict[str, tuple[WorldValue, WorldValue]] = field(default_factory=dict)
    solved: dict[str, tuple[WorldValue, WorldValue]] = field(default_factory=dict)
    images: dict[Atom, WorldValue] = field(default_factory=dict)
    preimages: dict[Atom, WorldValue] = field(default_factory=dict)

    def mix(self, value: WorldValue) -> WorldValue:
        """Return W v."""
        shared, apart = self._split(value)
        after = _linear(apart, self._image)
        self.mixed[apart.name()] = apart, after
        return shared + after

    def solve(self, value: WorldValue) -> WorldValue:
        """Return z, of mean 0, with z - W z = v less its mean."""
        _, apart = self._split(value)
        found = _linear(apart, self._preimage)
        self.solved[apart.name()] = apart, found
        return found

    def _split(self, value: WorldValue) -> tuple[WorldValue, WorldValue]:
        """The part that all clients share, and deviations from it."""
        shared, apart = WorldValue({}), WorldValue({})
        for (draws, atoms), c in value.of.items():
            part, own = WorldValue({(draws, atoms): c}), [atom for atom in atoms if atom.own]
            if draws or len(atoms) != 1 or atoms[0].degree != 1:
                raise Unread(f"{self.name} mixes what is drawn, or more than vectors")
            if not own:
                shared += part
                continue
            if not own[0].balanced or any(str(s) in self.world.indexed for s in c.as_expr().free_symbols):
                raise Unread(f"{self.name} mixes vectors with factors of each client's own")
            apart += part
        return shared, apart

    def _deviation(self, of: str) -> tuple[Atom, WorldValue]:
        atom = Atom(f"deviation of {of}", 1, True, True)
        self.world.meaning[atom.name] = ("deviation", of)
        return atom, self._vector(atom)

    def _vector(self, atom: Atom) -> WorldValue:
        return WorldValue({(frozenset(), (atom,)): self.world.field.one})

    def _image(self, atom: Atom) -> WorldValue:
        if atom not in self.images:
            self.images[atom] = self._deviation(f"{self.name} {atom.name}")[1]
        return self.images[atom]

    def _preimage(self, atom: Atom) -> WorldValue:
        if atom not in self.preimages:
            source = next((of for of, image in self.images.items() if set(image.of) == {(frozenset(), (atom,))}), None)
            if source is not None:
                # With z - W z = v, W v has the preimage z - v.
                self.preimages[atom] = self._preimage(source) - self._vector(source)
            else:
                found, self.preimages[atom] = self._deviation(f"(I - {self.name})^-1 {atom.name}")
                self.images[found] = self.preimages[atom] - self._vector(atom)
        return self.preimages[atom]

    def inequalities(self) -> Iterator[KnownInequality]:
        """Yield what is known of mixed vectors: they are nearer to their mean, and the matrix is symmetric."""
        world, largest = self.world, self.largest
        for k, (before, after) in enumerate(self.mixed.values()):
            square = world.total(world.inner(before * before))
            form, both = world.total(world.inner(after * after)), world.total(world.inner(after * before))
            why = Phrase((f"eigenvalues of {self.name} lie within its gap, v = ", before))
            yield KnownInequality(f"{self.name}[{k}]", why, form - largest * largest * square)
            # These follow too, but for a division by 1 - delta.
            yield KnownInequality(f"{self.name} above[{k}]", why, both - largest * square)
            yield KnownInequality(f"{self.name} below[{k}]", why, -both - largest * square)
        for k, (v, z) in enumerate(self.solved.values()):
            # The eigenvalues of I - W lie between delta and 2 - delta.
            why = Phrase((f"eigenvalues of I - {self.name} lie within its gap, z - {self.name} z = ", v))
            both, shorter = world.total(world.inner(z * v)), world.total(world.inner(z * z))
            one = world.constant(sympy.Integer(1))
            yield KnownInequality(f"{self.name} solved least[{k}]", why, (one - largest) * shorter - both)
            longer = world.total(world.inner(v * v))
            yield KnownInequality(f"{self.name} solved most[{k}]", why, longer - (one + largest) * both)
        # Preimages of the parts of a vector may leave no part in its own.
        pairs = (*self.mixed.values(), *self.solved.values())
        used = {atom for pair in pairs for value in pair for _, (atom,) in value.of}
        single = [(self._vector(atom), image) for atom, image in self.images.items() if atom in used]
        for (i, (one, into)), (j, (other, onto)) in combinations(enumerate(single), 2):
            form = world.total(world.inner(into * other)) - world.total(world.inner(one * onto))
            why = Phrase((f"{self.name} is symmetric, for ", one, " and ", other))
            yield KnownInequality(f"{self.name} symmetric[{i},{j}] +", why, form)
            yield KnownInequality(f"{self.name} symmetric[{i},{j}] -", why, -form)


def _linear(value: WorldValue, of: Callable[[Atom], WorldValue]) -> WorldValue:
    """A linear map of a sum of multiples of single vectors, from what it makes of these."""
    found = WorldValue({})
    for (_, (atom,)), c in value.of.items():
        found += of(atom) * WorldValue({ONE: c})
    return found
