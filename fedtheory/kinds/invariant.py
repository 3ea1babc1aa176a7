"""Residuals that every step keeps at zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope
from fedtheory.problems.base import StateFunction
from fedtheory.settings.relations import Quantity


@dataclass(frozen=True)
class Invariant(Statement):
    """A residual that is zero before a step is zero after it, for every draw.

    That it is zero where runs begin is tested at instances, and not proved.

    Args:
        algorithm: The method.
        residual: ``residual(problem, params, state)``: the numbers that stay 0.
        text: The statement in words, such as "sum_i u_i = 0".

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> scaffnew = algorithms.get("scaffnew")
        >>> ft.Invariant(scaffnew, lambda problem, params, state: state.h.sum(axis=-2), "sum_i h_i = 0").lines(str)
        ['sum_i h_i = 0, which every step of scaffnew keeps so']
    """

    algorithm: Algorithm
    residual: StateFunction
    text: str
    kind: ClassVar[str] = "invariant"
    scope: ClassVar[Scope] = Scope.RESIDUAL
    pointwise: ClassVar[bool] = True

    @property
    def named(self) -> tuple[Quantity, ...]:
        return (Quantity(self.text, self.residual),) if "=" in self.text else ()

    def lines(self, plain: Written) -> list[str]:
        return [f"{self.text}, which every step of {self.algorithm.name} keeps so"]

    def formulas(self, latex: Written) -> list[str]:
        return [latex(q.expression) for q in self.named]
