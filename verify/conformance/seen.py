"""The subject of an algorithm's test, and all observations of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.starts import OtherStart
from fedtheory.numbers.rational import Array
from fedtheory.problems.quadratic import Quadratics
from verify.conformance.adapter import BadAnswer, Implementation
from verify.conformance.beyond import LARGEST_BEYOND, SLOW
from verify.conformance.matching import Mismatch
from verify.conformance.report import Failure
from verify.conformance.scenarios import LARGEST_SUPPORT, Scenario

#: Departures after which no more are looked for.
ENOUGH = 36

#: The letters that were seen after each round.
Letters = list[dict[str, Array]]


class Transition(NamedTuple):
    """A transition that was seen: ``after`` in the reference's types; ``draw``: None where it is not known."""

    scenario: Scenario
    before: Any
    draw: Any
    after: Any


class Run(NamedTuple):
    """A run in which the implementation kept its own state, with all that it may hold: the letters after each round."""

    scenario: Scenario
    seen: Letters


class Observations(NamedTuple):
    """All that was seen: transitions, those that no draw explains, and runs."""

    cases: list[Transition]
    wrong: list[tuple[Transition, Mismatch]]
    paths: list[Run]

    @property
    def enough(self) -> bool:
        """True if enough failures were found to stop looking."""
        return len(self.wrong) >= ENOUGH


@dataclass(frozen=True)
class Setup:
    """The subject of a test: ``implementation`` in ``scenarios``.

    ``level``: the probability of a false alarm; ``tolerance``: relative, of floats; ``call``: the code that asked for
    the test; ``largest``: the largest number of outcomes of a draw that are enumerated;
    ``start``: where runs begin, if not as the reference's ``init`` has it.
    """

    implementation: Implementation
    scenarios: tuple[Scenario, ...]
    seed: int
    level: float
    tolerance: float
    call: str
    largest: int = LARGEST_BEYOND
    start: OtherStart | None = None

    @property
    def algorithm(self) -> Algorithm:
        """The reference, whose name the implementation has."""
        return self.implementation.algorithm


class Findings(NamedTuple):
    """The contents of a report besides its subject, level and tolerance."""

    failures: tuple[Failure, ...]
    checked: tuple[str, ...]
    detects: Mapping[str, float]
    notes: tuple[str, ...] = ()


def interface(setup: Setup, broken: BadAnswer) -> Failure:
    """The failure of an interface that is not kept to."""
    where = "run" if setup.implementation.run is not None else "step"
    return Failure(f"interface/{broken.part}", where, broken.text, setup.call)


def elsewhere_begun(start: OtherStart | None) -> tuple[str, ...]:
    """The note of runs that begin at another start than that of the reference's ``init``."""
    return () if start is None else (f"runs begin at {start.text}, which is a start of the method too",)


def unanswered(scenario: Scenario, asked: BadAnswer) -> tuple[str, ...]:
    """The note of a problem that is left out, as it has not what is asked of it; raises of the ordinary problems."""
    if isinstance(scenario.problem.f, Quadratics) or not scenario.role:
        raise asked
    return (f"not tested on a problem that is not quadratic: {asked.text}",)


def usable(setup: Setup) -> list[Scenario]:
    """The scenarios whose draws can all be tried. Raise ``ValueError`` if there are none."""
    found = [s for s in setup.scenarios if s.support <= (LARGEST_BEYOND if s.role else LARGEST_SUPPORT)]
    if not found:
        raise ValueError("all problems have too many draws to tell which one was made: give smaller ones")
    return found


def long_one(scenarios: Sequence[Scenario]) -> Scenario:
    """The scenario on which a run is long: the one made for it, else one with several clients and few draws."""
    return min(scenarios, key=lambda s: (s.role != SLOW, s.support == 1, s.problem.n == 1, s.support))


def reach(scenarios: Sequence[Scenario], rounds: int) -> dict[str, float]:
    """The defects that are sure to be found: not those that begin later, or with more clients or dimensions."""
    curved = any(not isinstance(s.problem.f, Quadratics) for s in scenarios)
    return {
        "a step that is wrong from some round on, up to round": rounds,
        f"a step that is wrong for many clients{'' if curved else ', on quadratics'}, up to": max(
            s.problem.n for s in scenarios
        ),
        f"a step that is wrong in many dimensions{'' if curved else ', on quadratics'}, up to": max(
            s.problem.d for s in scenarios
        ),
    }
