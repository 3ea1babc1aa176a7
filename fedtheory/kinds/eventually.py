"""Properties of every run in the limit: quantities that vanish, stay bounded or converge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import BOUNDED, CONVERGES, VANISHES, Statement, Written
from fedtheory.kinds.scope import Scope
from fedtheory.settings.iterations import Iteration
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True)
class Eventually(Statement):
    """Along every run of the algorithm ``vanishing`` quantities tend to 0 and ``bounded`` ones stay bounded.

    Quantities of more than one number are meant entry by entry.

    Args:
        algorithm: The method.
        vanishing: Quantities that tend to 0.
        bounded: Quantities that stay bounded.
        converging: Vectors that converge.
        steps: The length of the runs by which this is supported, in rounds.
        iteration: The iteration that the quantities are about, where that is not a state of the algorithm
            (:class:`fedtheory.settings.iterations.Iteration`).

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> gd = algorithms.get("gradient-descent")
        >>> ft.Eventually(gd, vanishing=(ft.Quantity("D", ft.distance),)).text
        'D -> 0'
    """

    algorithm: Algorithm
    vanishing: tuple[Quantity, ...] = ()
    bounded: tuple[Quantity, ...] = ()
    converging: tuple[Quantity, ...] = ()
    steps: int = 400
    iteration: Iteration | None = None
    kind: ClassVar[str] = "eventually"
    scope: ClassVar[Scope] = Scope.RUNS

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All quantities whose behaviour is asserted."""
        return (*self.vanishing, *self.bounded, *self.converging)

    @property
    def ends(self) -> tuple[tuple[str, Quantity], ...]:
        parts = ((VANISHES, self.vanishing), (BOUNDED, self.bounded), (CONVERGES, self.converging))
        return tuple((end, q) for end, quantities in parts for q in quantities)

    @property
    def text(self) -> str:
        """The statement, in words."""
        return ", ".join(f"{q.expression} {'-> 0' if end == VANISHES else end}" for end, q in self.ends)

    def lines(self, plain: Written) -> list[str]:
        return [self.text]

    def formulas(self, latex: Written) -> list[str]:
        return [
            f"{latex(q.expression)} " + (r"\to 0" if end == VANISHES else rf"\text{{ {end}}}") for end, q in self.ends
        ]
