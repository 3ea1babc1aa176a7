"""Trials of changed claims: at the counterexamples found so far, by a short search, and by all methods."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np
import sympy
from threadpoolctl import threadpool_limits

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.numbers.rational import Undefined, holds
from verify.base import limits
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting
from verify.checking import check
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Evidence
from verify.repair import misread_code
from verify.search import hostile, hunting, refutation

#: Instances of a short search.
SHORT = 24
#: Counterexamples to the printed claim that are collected.
FIRST = 10
#: Counterexamples at which changes are tried, those that refuted most of late first.
POOL = 24
#: Instances that are proposed to see what a hypothesis leaves.
PROPOSED = 200
#: The number of them of which a share is counted.
SOME = 6
#: The cost of a short search.
SHORT_SEARCH = 1
#: The cost of a longer search.
LONG_SEARCH = 4
#: The cost of a check by all methods.
CHECK = 10
#: The total effort.
EFFORT = 600
#: Seconds of processor time of one trial: changed code may never end.
ENDLESS = 3600
#: The number of other seeds at which a supported repair is searched again.
FURTHER = 3


class Place(NamedTuple):
    """A violation: the instance, its state, and the number of rounds."""

    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int


class Searched(NamedTuple):
    """The result of a search: the violations; the number of instances that met the hypotheses; the largest ratio of the
    sides; and why the claim cannot be examined, empty if it can.
    """

    places: tuple[Place, ...]
    instances: int
    worst: float
    why: str


class Verdict(NamedTuple):
    """The result of all methods on a claim: the word, the note, the margin, the number of instances, and the
    violations.
    """

    word: str
    note: str
    margin: float | None
    instances: int
    places: tuple[Place, ...]


class Ended(Exception):
    """The end of the trials for a repair, or of their time."""


@dataclass
class Bench:
    """The trials of changes of a claim, until they count as much as ``effort``. ``pool``: violations of the claim and
    of changes of it; ``until``: once the ``clock`` is past it no further trial begins either.
    """

    claim: Claim
    seed: int = 0
    effort: float = EFFORT
    until: float = math.inf
    clock: Callable[[], float] = time.monotonic
    pool: list[Place] = field(default_factory=list)

    def fails_at_once(self, changed: Claim) -> bool:
        """Return True if a changed claim fails at a known violation of another one."""
        self._goes_on()
        for index, place in enumerate(self.pool):
            if fails(changed, place):
                self.pool.insert(0, self.pool.pop(index))
                return True
        return False

    def share(self, changed: Claim) -> float:
        """Return the share of some known counterexamples at which a changed claim does not fail."""
        self._goes_on()
        some = self.pool[:SOME]
        return sum(not fails(changed, place) for place in some) / max(1, len(some))

    def search(self, changed: Claim, size: int = SHORT, seed: int | None = None, enough: int = 3) -> Searched:
        """Search for violations; the counterexamples found are kept."""
        seconds, at = self._begin(SHORT_SEARCH if size == SHORT else LONG_SEARCH), self.seed if seed is None else seed
        try:
            found = limits.limited(lambda: _searched(changed, at, size, enough), seconds)
        except ValueError as error:
            return Searched((), 0, float("inf"), str(error))
        self._keep(found.places)
        return found

    def check(self, changed: Claim) -> Verdict:
        """Run all methods; a counterexample that they find is kept."""
        seconds = self._begin(CHECK)
        try:
            found = limits.limited(lambda: _verdict(check(changed, self.seed)), seconds)
        except ValueError as error:
            return Verdict("failed", str(error), None, 0, ())
        self._keep(found.places)
        return found

    def misreadings(self) -> list[tuple[misread_code.Misreading, ...]]:
        """Return the other readings that the code of quantities may use, found in a separate process: changed code may
        do anything.
        """
        seconds, places = self._begin(CHECK), [(place.recipe, place.point) for place in self.pool]
        try:
            return limits.limited(lambda: misread_code.found(self.claim, places), seconds)
        except ValueError:
            return []

    def _keep(self, places: tuple[Place, ...]) -> None:
        self.pool = [*places, *(place for place in self.pool if place not in places)][:POOL]

    def _goes_on(self) -> None:
        if self.effort <= 0 or self.clock() > self.until:
            raise Ended

    def _begin(self, counted: int) -> int:
        """Count a trial. Return the seconds that it may take."""
        self._goes_on()
        self.effort -= counted
        return max(1, int(min(ENDLESS, self.until - self.clock())))


def fails(claim: Claim, place: Place) -> bool:
    """Return True if a claim certainly fails at a violation of another one."""
    case = Case(claim, place.recipe)
    try:
        if not hypotheses_hold(case):
            return False
        with np.errstate(all="ignore"):
            return refutation.refute(case.anew(), place.point, place.rounds) is not None
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, Undefined):
        # It does not have this instance, or the sides are not numbers there.
        return False


def collapsed(changed: Claim, claim: Claim) -> bool:
    """Return True if the hypotheses that only the changed claim has leave little: an equality wherever they are met, as
    L <= mu, unless it is one of counts; or single clients, if the claim is about several.
    """
    added = [hypothesis for hypothesis in changed.requires if hypothesis not in claim.requires]
    if not added:
        return False
    met = _met(changed)
    if _clients(met) == {1} != _clients(_met(claim)):
        return True
    for hypothesis in added:
        relation = hypothesis.relation
        if not isinstance(relation, sympy.Le | sympy.Lt | sympy.Ge | sympy.Gt):
            continue
        strict = sympy.Lt(relation.lts, relation.gts, evaluate=False)
        counts = all(letter.is_integer for letter in relation.free_symbols)
        if not counts and not any(holds(strict, changed.setting.bind(at.problem, at.params)) for at in met):
            return True
    return False


def _met(claim: Claim) -> list[Instance]:
    proposed = islice(claim.instances.recipes(np.random.default_rng(0)), PROPOSED)
    return [instance for _, instance in meeting(claim, proposed)]


def _clients(instances: list[Instance]) -> set[int]:
    """Return the numbers of clients of instances that have functions."""
    return {at.problem.n for at in instances if hasattr(at.problem, "n")}


def _searched(claim: Claim, seed: int, size: int, enough: int) -> Searched:
    with threadpool_limits(limits=1), np.errstate(all="ignore"):
        found = hunting.hunt(claim, hunting.generator(claim, seed), size, enough, climbing=size != SHORT)
    why = found.failed_assertion or (found.undefined[0] if found.undefined else "")
    if not found.refutations and not found.instances:
        why = why or "no instance meets the hypotheses"
    # A short search draws the answers of adversaries, of which the worst are climbed to: a check would do so at length.
    against = found.refutations or (() if why or size != SHORT else _worst_answers(claim, seed))
    places = tuple(Place(c.recipe, c.point, c.rounds) for c in against)
    return Searched(places, found.instances, float(found.worst), why)


def _worst_answers(claim: Claim, seed: int) -> tuple[Counterexample, ...]:
    """Return a violation by the worst answers of adversaries, if there are any."""
    tried = hostile.worst(claim, (), hunting.generator(claim, seed))
    return tuple(islice((one.found for one in tried if one.found is not None), 1))


def _verdict(evidence: Evidence) -> Verdict:
    example = evidence.counterexample
    places = () if example is None else (Place(example.recipe, example.point, example.rounds),)
    return Verdict(str(evidence.verdict), evidence.note, evidence.margin, evidence.instances, places)
