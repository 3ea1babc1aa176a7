"""Orderings that a paper sees in an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kinds.base import Statement, Written
from fedtheory.kinds.scope import Scope


@dataclass(frozen=True)
class Experiment(Statement):
    """An assertion of a text on figures or tables, tested on data.

    ``figures``: the ids of those of :mod:`fedtheory.experiments` that hold it; ``about``: the beginnings of the texts
    of those of their statements that are meant, none for all.
    """

    text: str
    figures: tuple[str, ...]
    about: tuple[str, ...] = ()
    kind: ClassVar[str] = "experiment"
    scope: ClassVar[Scope] = Scope.NONE

    def lines(self, plain: Written) -> list[str]:
        return [f"seen: {self.text}"]
