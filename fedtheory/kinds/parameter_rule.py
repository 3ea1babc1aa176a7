"""Choices of constants, and the relations that they must meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import sympy

from fedtheory.kinds.base import Changes, Statement, Written, measured
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.sums import own_indices
from fedtheory.numbers.symbols import T
from fedtheory.settings.relations import Comparison, Quantity


@dataclass(frozen=True)
class ParameterRule(Statement):
    """A choice of constants meets the relations that it must meet.

    Args:
        assignments: The constants as printed, by letter.
        relations: The relations that they must satisfy, once assigned, for all values of the symbols that remain and of
            the quantities.
        quantities: The quantities that the relations mention.

    Examples:
        >>> import fedtheory as ft
        >>> mu, L, gamma = ft.letters("mu L gamma")
        >>> rule = ft.ParameterRule({gamma: 2 / (mu + L)}, (gamma * L <= 2,))
        >>> rule.comparisons[0]
        Comparison(left=2*L/(L + mu), relation='<=', right=2)
    """

    assignments: Mapping[sympy.Symbol, sympy.Expr]
    relations: tuple[sympy.Basic, ...]
    quantities: tuple[Quantity, ...] = ()
    kind: ClassVar[str] = "parameter-rule"
    scope: ClassVar[Scope] = Scope.LETTERS
    pointwise: ClassVar[bool] = True
    rewritable: ClassVar[tuple[str, ...]] = ("assignments", "relations")

    @property
    def printed(self) -> tuple[Comparison, ...]:
        """The relations, before the assignments are put in."""
        found = []
        for r in self.relations:
            left, right = (r.rhs, r.lhs) if r.rel_op in (">=", ">") else (r.lhs, r.rhs)
            found.append(Comparison(left, r.rel_op.replace(">", "<"), right))
        return tuple(found)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The relations with the assignments put in, and that these are of the signs that their letters are declared to
        have: where sympy does not see it, it has simplified the relations by what may be false. Of other letters they
        are that the values are real numbers, since what is undefined may cancel."""
        return _assigned(tuple(self.assignments.items()), self.printed)

    def lines(self, plain: Written) -> list[str]:
        return [f"{name} = {plain(value)}" for name, value in self.assignments.items()] + super().lines(plain)

    def formulas(self, latex: Written) -> list[str]:
        constants = [f"{latex(name)} = {latex(value)}" for name, value in self.assignments.items()]
        return constants + super().formulas(latex)

    def perturbations(self, changes: Changes) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        for symbol, value in self.assignments.items():
            for sort, text, result in changes(value, frozenset()):
                yield sort, str(symbol), text, {"assignments": {**self.assignments, symbol: result}}
        fixed = frozenset({T} | measured(self))
        for index, relation in enumerate(self.relations):
            for sort, text, result in changes(relation, fixed):
                relations = (*self.relations[:index], result, *self.relations[index + 1 :])
                yield sort, f"relation {index + 1}", text, {"relations": relations}


@lru_cache(maxsize=1024)
def _assigned(
    put: tuple[tuple[sympy.Symbol, sympy.Expr], ...], printed: tuple[Comparison, ...]
) -> tuple[Comparison, ...]:
    """Comparisons with values put in, and what must hold of these; kept, since every instance asks for them."""
    sides = [(own_indices(left), relation, own_indices(right)) for left, relation, right in printed]
    found = [Comparison(left.subs(put), relation, right.subs(put)) for left, relation, right in sides]
    for letter, value in put:
        if letter.is_positive and not value.is_positive:
            found.append(Comparison(sympy.S.Zero, "<", value))
        elif letter.is_nonnegative and not value.is_nonnegative:
            found.append(Comparison(sympy.S.Zero, "<=", value))
        elif not letter.is_nonnegative and not value.is_polynomial():
            # A square that is worked out may be a number where its root is none.
            found.append(Comparison(sympy.S.Zero, "<=", sympy.Pow(value, 2, evaluate=False)))
    return tuple(found)
