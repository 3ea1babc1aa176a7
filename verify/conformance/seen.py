"""What is tested of an algorithm, and all that was seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from verify.conformance.adapter import Implementation
from verify.conformance.matching import Mismatch
from verify.conformance.scenarios import LARGEST_SUPPORT, Scenario

#: Departures after which no more are looked for.
ENOUGH = 36

#: The letters that were seen after each round.
Letters = list[dict[str, Array]]


class Case(NamedTuple):
    """A transition that was seen: ``after`` in the reference's types; ``draw``: None where it is not known."""

    scenario: Scenario
    before: Any
    draw: Any
    after: Any


class Path(NamedTuple):
    """A run in which the implementation kept whatever else its states hold: the letters after each round."""

    scenario: Scenario
    seen: Letters


class Seen(NamedTuple):
    """All that was seen: transitions, those that no draw explains, and runs."""

    cases: list[Case]
    wrong: list[tuple[Case, Mismatch]]
    paths: list[Path]

    @property
    def enough(self) -> bool:
        """Whether so much is wrong that no more need be looked at."""
        return len(self.wrong) >= ENOUGH


@dataclass(frozen=True)
class Setup:
    """What is tested: ``implementation`` in ``scenarios``.

    ``level``: the chance of a false alarm; ``tolerance``: of floats, relative; ``call``: how the test was asked for, in
    code; ``largest``: the outcomes of a draw that are enumerated at most.
    """

    implementation: Implementation
    scenarios: tuple[Scenario, ...]
    seed: int
    level: float
    tolerance: float
    call: str
    largest: int = LARGEST_SUPPORT

    @property
    def algorithm(self) -> Algorithm:
        """The reference, whose name the implementation has."""
        return self.implementation.algorithm
