"""Choices of constants, and the relations that they must meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.relations import Comparison, Quantity


@dataclass(frozen=True)
class ParameterRule(Statement):
    """A choice of constants meets the relations that it must meet.

    ``assignments``: the constants as printed. ``relations``: what they must satisfy, once assigned, for all values of
    the symbols that remain and of the quantities.
    """

    assignments: Mapping[sympy.Symbol, sympy.Expr]
    relations: tuple[sympy.Basic, ...]
    quantities: tuple[Quantity, ...] = ()
    kind: ClassVar[str] = "parameter-rule"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The relations with the assignments put in."""
        found = []
        for r in self.relations:
            left, right = (side.subs(self.assignments) for side in (r.lhs, r.rhs))
            if r.rel_op in (">=", ">"):
                left, right = right, left
            found.append(Comparison(left, r.rel_op.replace(">", "<"), right))
        return tuple(found)
