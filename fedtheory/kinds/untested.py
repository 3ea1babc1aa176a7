"""Statements that no computation here decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope


@dataclass(frozen=True)
class Untested(Statement):
    """A statement that no computation here decides, such as a cited order.

    ``text``: the statement; ``reason``: why it is not tested. ``kind`` is the claim's own.
    """

    text: str
    reason: str
    kind: ClassVar[str] = "untested"
    scope: ClassVar[Scope] = Scope.NONE

    def lines(self, plain: Written) -> list[str]:
        return [self.text]
