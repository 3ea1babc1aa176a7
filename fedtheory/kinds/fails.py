"""Statements that some instance contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kinds.base import Statement


@dataclass(frozen=True)
class Fails(Statement):
    """Some instance of the setting contradicts the statement ``of``; ``text``: what that is, in words."""

    of: Statement
    text: str
    kind: ClassVar[str] = "counterexample"
