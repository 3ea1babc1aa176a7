"""Identities: two sides that are equal on every instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.kinds.scope import Scope
from fedtheory.settings.relations import Comparison, Quantity, Relation, side, taken_at


@dataclass(frozen=True)
class Identity(Statement):
    """left == right for every instance of the setting. Sides may be arrays; they are compared entry by entry.

    Args:
        left: The left side.
        right: The right side.
        quantities: The quantities of both sides.
        also: Further comparisons that the statement makes with this one.

    Examples:
        >>> import fedtheory as ft
        >>> x, y = ft.letters("x y")
        >>> ft.Identity((x + y) ** 2 - (x - y) ** 2, 4 * x * y, ()).lines(str)
        ['-(x - y)**2 + (x + y)**2 == 4*x*y']
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...]
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "identity"
    scope: ClassVar[Scope] = Scope.STATE
    pointwise: ClassVar[bool] = True
    perturbed: ClassVar[tuple[str, ...]] = ("left", "right")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (Comparison(self.left, "==", self.right), *self.also)


def identity(left: object, right: object) -> Identity:
    """State that two sides are equal.

    Args:
        left: A quantity, or an expression in quantities, letters and numbers.
        right: The same.

    Returns:
        The statement.

    Examples:
        >>> import fedtheory as ft
        >>> V, W = ft.Quantity("V", ft.distance), ft.Quantity("W", ft.gap)
        >>> ft.identity(V, 2 * W).lines(str)
        ['V == 2*W']
    """
    sides = Relation(side(left), side(right))
    taken_at((), sides.quantities)
    return Identity(sides.left.expression, sides.right.expression, sides.quantities)
