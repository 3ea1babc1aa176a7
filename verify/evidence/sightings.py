"""What is seen of the statements of a paper's experiments: no verdict, and told apart from those on theorems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

#: What is said of a statement on data, in the order in which it is counted.
SAID = ("seen", "not seen", "undecided", "no such data", "not run")


class Sighting(NamedTuple):
    """A statement of a ``figure`` on the data ``source``; what is ``said`` of it (one of :data:`SAID`); the ``numbers``
    behind that; over how many ``seeds``, of which ``date`` and ``commit``: none where it was not run."""

    figure: str
    source: str
    text: str
    said: str
    numbers: str
    seeds: int
    date: str
    commit: str

    def __str__(self) -> str:
        run = f" ({self.numbers})" if self.numbers else ""
        return f"{self.figure} on {self.source}: {self.text}: {self.said}{run}"


def tally(sightings: Sequence[Sighting]) -> str:
    """How many statements are seen, and how many not."""
    counts = Counter(one.said for one in sightings)
    return ", ".join(f"{counts[said]} {said}" for said in SAID if counts[said])
