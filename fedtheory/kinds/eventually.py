"""What holds of every run in the end: quantities that vanish, stay bounded or converge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement, Written
from fedtheory.settings.iterations import Iteration
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True)
class Eventually(Statement):
    """Along every run of the algorithm ``vanishing`` quantities tend to 0 and ``bounded`` ones stay bounded.

    ``converging``: vectors that converge. ``steps``: how long the runs are by which this is supported. Quantities of
    more than one number are meant entry by entry. ``iteration``: of what the quantities speak, where that is one
    iteration (:class:`fedtheory.settings.iterations.Iteration`) and not a state of the algorithm.
    """

    algorithm: Algorithm
    vanishing: tuple[Quantity, ...] = ()
    bounded: tuple[Quantity, ...] = ()
    converging: tuple[Quantity, ...] = ()
    steps: int = 400
    iteration: Iteration | None = None
    kind: ClassVar[str] = "eventually"
    searched: ClassVar[bool] = False
    perturbable: ClassVar[bool] = False

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All quantities of which something is said."""
        return (*self.vanishing, *self.bounded, *self.converging)

    @property
    def text(self) -> str:
        """The statement, in words."""
        said = [f"{q.expression} -> 0" for q in self.vanishing]
        said += [f"{q.expression} is bounded" for q in self.bounded]
        said += [f"{q.expression} converges" for q in self.converging]
        return ", ".join(said)

    def lines(self, plain: Written) -> list[str]:
        return [self.text]

    def formulas(self, latex: Written) -> list[str]:
        ends = (
            (self.vanishing, r"\to 0"),
            (self.bounded, r"\text{ is bounded}"),
            (self.converging, r"\text{ converges}"),
        )
        return [f"{latex(q.expression)} {end}" for quantities, end in ends for q in quantities]
