"""Identities: two sides that are equal on every instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.settings.relations import Comparison, Quantity, Relation, side, taken_at


@dataclass(frozen=True)
class Identity(Statement):
    """left == right for every instance of the setting. Sides may be arrays; they are compared entry by entry.

    ``also``: further comparisons that the statement makes with this one.
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...]
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "identity"
    statewise: ClassVar[bool] = True
    algebraic: ClassVar[bool] = True
    pointwise: ClassVar[bool] = True
    perturbed: ClassVar[tuple[str, ...]] = ("left", "right")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (Comparison(self.left, "==", self.right), *self.also)


def identity(left: Any, right: Any) -> Identity:
    """left == right, each a quantity or what is composed of some."""
    sides = Relation(side(left), side(right))
    taken_at((), sides.quantities)
    return Identity(sides.left.expression, sides.right.expression, sides.quantities)
