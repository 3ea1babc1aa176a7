"""Statements that use what is not defined, and the readings that settle them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope


@dataclass(frozen=True)
class Readings(Statement):
    """A statement that uses what is not defined, or in two ways: ``open`` says what, in a sentence, and ``readings``
    are claims that settle it.

    Where some of the admissible readings are true and others false, the statement is ill-posed. ``denied``: the
    statement denies what the readings say.
    """

    open: str
    readings: tuple[Any, ...]
    denied: bool = False
    kind: ClassVar[str] = "readings"
    scope: ClassVar[Scope] = Scope.NONE

    @property
    def text(self) -> str:
        """The statement, in words."""
        of, also = ("read as the contrary of", "; or of: ") if self.denied else ("readings", "; or ")
        return f"{self.open}; {of}: " + also.join(c.gist for c in self.readings)

    def lines(self, plain: Written) -> list[str]:
        return [self.text]
