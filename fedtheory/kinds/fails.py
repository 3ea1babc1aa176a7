"""Statements that some instance contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kinds.base import Statement, Written


@dataclass(frozen=True)
class Fails(Statement):
    """Some instance of the setting contradicts the statement ``of``; ``text``: what that is, in words."""

    of: Statement
    text: str
    kind: ClassVar[str] = "counterexample"
    searched: ClassVar[bool] = False
    perturbable: ClassVar[bool] = False

    def lines(self, plain: Written) -> list[str]:
        return [f"on some data it is false that {self.text}"]
