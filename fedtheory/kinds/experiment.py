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
    """What a text states of figures or tables, looked for on data.

    ``figures``: the ids of those of :mod:`fedtheory.experiments` that hold it; ``about``: the beginnings of the texts
    of those of their statements that are meant, none for all. Where there are none yet, ``run(seed)`` gives one
    sighting for each ordering, none where nothing was run; ``data``: their name.
    """

    text: str
    data: str = ""
    run: Callable[[int], tuple[Sighting, ...]] | None = None
    figures: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    kind: ClassVar[str] = "experiment"
    searched: ClassVar[bool] = False
    perturbable: ClassVar[bool] = False

    def lines(self, plain: Written) -> list[str]:
        return [f"seen: {self.text}"]
