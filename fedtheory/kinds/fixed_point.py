"""States that a step leaves unchanged."""

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
class Stays(Statement):
    """A step changes nothing that is ``observed``, for every draw, from every state of the setting.

    Where the states of the setting are those at the optimum, it says that the optimum is a fixed point.

    Args:
        algorithm: The method.
        observed: ``observed(problem, params, state)``: what does not change.
        text: The statement in words.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import algorithms
        >>> gd = algorithms.get("gradient-descent")
        >>> ft.Stays(gd, lambda problem, params, state: state.x, "x stays at x*").lines(str)
        ['x stays at x*']
    """

    algorithm: Algorithm
    observed: Callable[[Any, Any, Any], Array]
    text: str
    kind: ClassVar[str] = "fixed-point"
    scope: ClassVar[Scope] = Scope.CODE
    pointwise: ClassVar[bool] = True

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (Comparison(sympy.Symbol("after"), "==", sympy.Symbol("before")),)

    def lines(self, plain: Written) -> list[str]:
        return [self.text]

    def formulas(self, latex: Written) -> list[str]:
        return []
