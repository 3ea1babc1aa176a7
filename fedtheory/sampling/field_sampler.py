"""The base of samplers of what a method holds in one field of its parameters: compressors, noise, an adversary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from fedtheory.classes import Met
from fedtheory.instances import Recipe

MetT = TypeVar("MetT", bound=Met)


@dataclass(frozen=True)
class FieldSampler(Generic[MetT]):
    """A sampler of members of the class ``of``."""

    of: MetT

    @property
    def field(self) -> str:
        """The field of ``Params`` in which the member is."""
        return self.of.field

    def clients(self, recipe: Recipe, n: int) -> int:
        """Return the number of clients, at most n, whose draws can be enumerated: n unless something is drawn."""
        return n
