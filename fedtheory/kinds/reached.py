"""The fraction of a potential that remains after some rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Array
from fedtheory.settings.relations import Comparison


@dataclass(frozen=True)
class Reached(Statement):
    """After ``rounds`` rounds E[potential] <= ``share`` * (potential at the start), from every state of the setting.

    ``share`` 0: the optimum itself is reached.
    """

    algorithm: Algorithm
    potential: Callable[[Any, Any, Any], Array]
    rounds: int = 1
    share: sympy.Expr = sympy.S.Zero
    kind: ClassVar[str] = "rounds"
    scope: ClassVar[Scope] = Scope.CODE

    def check(self) -> None:
        """Raise ``ValueError`` unless the number of rounds and the share are nonnegative numbers."""
        if self.rounds < 0 or not self.share.is_nonnegative or self.share.free_symbols:
            raise ValueError(f"at least 0 rounds and a share of at least 0 are due, got {self.rounds} and {self.share}")

    @property
    def pointwise(self) -> bool:
        return bool(self.share == 0)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        relation = "==" if self.share == 0 else "<="
        return (Comparison(sympy.Symbol("V_T"), relation, self.share * sympy.Symbol("V_0")),)

    def lines(self, plain: Written) -> list[str]:
        rounds = f"{self.rounds} round{'s' if self.rounds != 1 else ''} of {self.algorithm.name}"
        left = "nothing" if self.share == 0 else f"at most {self.share}"
        return [f"{rounds} leave{'s' if self.rounds == 1 else ''} {left} of the gap, from any start"]

    def formulas(self, latex: Written) -> list[str]:
        return []
