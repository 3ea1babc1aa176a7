"""Two algorithms that show the same."""

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
class Agreement(Statement):
    """Two algorithms that are given the same draws show the same after every step, sample by sample.

    ``counterpart(problem, params, state) -> (params, state)``: those of the second, from those of the first;
    ``seen``: what is compared, of the first and of the second. Where that determines the state, or what its next steps
    depend on, agreement after one step from every state is agreement along every run.
    """

    algorithm: Algorithm
    second: Algorithm
    counterpart: Callable[[Any, Any, Any], tuple[Any, Any]]
    seen: tuple[Callable[[Any, Any, Any], Array], Callable[[Any, Any, Any], Array]]
    text: str
    kind: ClassVar[str] = "equivalence"
    scope: ClassVar[Scope] = Scope.CODE
    pointwise: ClassVar[bool] = True

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        names = (self.algorithm.name, self.second.name)
        left, right = (sympy.Symbol(name) for name in names)
        return (Comparison(left, "==", right),)

    def lines(self, plain: Written) -> list[str]:
        return [self.text]

    def formulas(self, latex: Written) -> list[str]:
        return []
