"""Inequalities between quantities of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.settings.relations import Comparison, Quantity, Relation, stated


@dataclass(frozen=True)
class Inequality(Statement):
    """left <= right (or left <= middle <= right) for every instance of the setting; ``strict`` for <.

    ``also``: further comparisons that the statement makes with this one.
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...] = ()
    middle: sympy.Expr | None = None
    strict: bool = False
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "inequality"
    bounding: ClassVar[bool] = True
    statewise: ClassVar[bool] = True
    algebraic: ClassVar[bool] = True
    perturbed: ClassVar[tuple[str, ...]] = ("left", "middle", "right")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        relation = "<" if self.strict else "<="
        if self.middle is None:
            return (Comparison(self.left, relation, self.right), *self.also)
        first, second = Comparison(self.left, relation, self.middle), Comparison(self.middle, relation, self.right)
        return (first, second, *self.also)


def inequality(relation: Relation) -> Inequality:
    """The inequality that is written so: ``inequality(distance <= gap / mu)``."""
    relation = stated(relation, times=())
    return Inequality(relation.left.expression, relation.right.expression, relation.quantities, strict=relation.strict)
