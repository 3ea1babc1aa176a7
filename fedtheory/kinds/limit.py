"""Potentials that tend to 0 almost surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement
from fedtheory.relations import Quantity


@dataclass(frozen=True)
class Limit(Statement):
    """The potential tends to 0 almost surely, from every state that satisfies the algorithm's invariant."""

    algorithm: Algorithm
    potential: Quantity
    text: str
    kind: ClassVar[str] = "limit"
