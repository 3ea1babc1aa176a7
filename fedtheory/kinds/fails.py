"""Statements that some instance contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope


@dataclass(frozen=True)
class Fails(Statement):
    """Some instance of the setting contradicts the statement ``of``.

    Args:
        of: The statement that is false.
        text: That statement, in words.

    Examples:
        >>> import fedtheory as ft
        >>> x = ft.letters("x")
        >>> ft.Fails(ft.Inequality(x, x**2), "x is at most its square").lines(str)
        ['on some data it is false that x is at most its square']
    """

    of: Statement
    text: str
    kind: ClassVar[str] = "counterexample"
    scope: ClassVar[Scope] = Scope.NONE

    def lines(self, plain: Written) -> list[str]:
        return [f"on some data it is false that {self.text}"]
