"""Potentials that tend to 0 almost surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import VANISHES, Statement, Written
from fedtheory.kinds.scope import Scope
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True)
class Limit(Statement):
    """The potential tends to 0 almost surely, from every state at which a run may begin.

    Args:
        algorithm: The method.
        potential: The quantity that tends to 0.
        text: The statement in words.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> gd = algorithms.get("gradient-descent")
        >>> ft.Limit(gd, ft.Quantity("D", ft.distance), "x -> x*").lines(str)
        ['D -> 0 almost surely along gradient-descent']
    """

    algorithm: Algorithm
    potential: Quantity
    text: str
    kind: ClassVar[str] = "limit"
    scope: ClassVar[Scope] = Scope.LIMIT
    pointwise: ClassVar[bool] = True

    @property
    def named(self) -> tuple[Quantity, ...]:
        return (self.potential,)

    @property
    def ends(self) -> tuple[tuple[str, Quantity], ...]:
        return ((VANISHES, self.potential),)

    def lines(self, plain: Written) -> list[str]:
        return [f"{self.potential.expression} -> 0 almost surely along {self.algorithm.name}"]

    def formulas(self, latex: Written) -> list[str]:
        return [rf"{latex(self.potential.expression)} \to 0 \quad\text{{almost surely}}"]
