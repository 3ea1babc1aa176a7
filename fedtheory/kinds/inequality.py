"""Inequalities between quantities of one instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.kinds.scope import Scope
from fedtheory.settings.relations import Comparison, Quantity, Relation, stated


@dataclass(frozen=True)
class Inequality(Statement):
    """left <= right (or left <= middle <= right) for every instance of the setting.

    Args:
        left: The left side, an expression in letters and quantities.
        right: The right side.
        quantities: The quantities of the sides; none for a relation between constants.
        middle: A side between the two.
        strict: True for <.
        also: Further comparisons that the statement makes with this one.

    Examples:
        >>> import fedtheory as ft
        >>> x, y = ft.letters("x y")
        >>> ft.Inequality(4 * x * y, (x + y) ** 2).lines(str)
        ['4*x*y <= (x + y)**2']
    """

    left: sympy.Expr
    right: sympy.Expr
    quantities: tuple[Quantity, ...] = ()
    middle: sympy.Expr | None = None
    strict: bool = False
    also: tuple[Comparison, ...] = ()
    kind: ClassVar[str] = "inequality"
    scope: ClassVar[Scope] = Scope.STATE
    perturbed: ClassVar[tuple[str, ...]] = ("left", "middle", "right")

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        relation = "<" if self.strict else "<="
        if self.middle is None:
            return (Comparison(self.left, relation, self.right), *self.also)
        first, second = Comparison(self.left, relation, self.middle), Comparison(self.middle, relation, self.right)
        return (first, second, *self.also)


def inequality(relation: Relation) -> Inequality:
    """State an inequality between quantities of one instance: ``inequality(distance <= gap / mu)``.

    Args:
        relation: The relation, by <=, <, >= or >.

    Returns:
        The statement.

    Raises:
        ValueError: If it is not a relation.

    Examples:
        >>> import fedtheory as ft
        >>> mu = ft.letters("mu")
        >>> D, F = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap)
        >>> ft.inequality(mu / 2 * D <= F).lines(str)
        ['D*mu/2 <= F']
    """
    relation = stated(relation, times=())
    return Inequality(relation.left.expression, relation.right.expression, relation.quantities, strict=relation.strict)
