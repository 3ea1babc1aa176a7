"""Orderings that a paper sees in an experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fedtheory.kinds.base import Statement, Written


class Sighting(NamedTuple):
    """One ordering that a text says is seen in an experiment: whether it is seen on the data at hand, None where these
    do not decide."""

    text: str
    seen: bool | None
    numbers: str


@dataclass(frozen=True)
class Experiment(Statement):
    """Orderings that a paper sees in an experiment, looked for on named data that are at hand.

    ``run(seed)``: one sighting for each, none where nothing was run; ``data``: their name.
    """

    text: str
    data: str
    run: Callable[[int], tuple[Sighting, ...]]
    kind: ClassVar[str] = "experiment"
    searched: ClassVar[bool] = False
    perturbable: ClassVar[bool] = False

    def lines(self, plain: Written) -> list[str]:
        return [f"seen: {self.text}"]
