"""A training loop, of which only the models are seen, against the reference."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fedtheory import algorithms
from fedtheory.numbers.rational import Array
from verify.base.plain import counted
from verify.conformance import matching
from verify.conformance.adapter import BadAnswer, Unanswered
from verify.conformance.beyond import LARGEST_BEYOND
from verify.conformance.departures import dependent, lost, missed, often
from verify.conformance.matching import Begun, Tracked
from verify.conformance.report import Failure
from verify.conformance.scenarios import Scenario, shown
from verify.conformance.seen import (
    Findings,
    Letters,
    Run,
    Setup,
    elsewhere_begun,
    interface,
    long_one,
    reach,
    unanswered,
    usable,
)

# Rounds of a short loop.
_ROUNDS = 6
# Rounds of all short loops on a small problem together; three times as many where the support is small.
_STEPS = 162
# Short loops on a problem beyond the small ones.
_BEYOND = 3
# Short loops on each problem that is left when a departure is found.
_ELSEWHERE = 2
# Long loops on the problem that is chosen for them.
_LONG = 5
# Rounds of a long loop.
_LONG_ROUNDS = 64
# Rounds of the one loop on the smallest problem that has converged long before its end.
_CONVERGED = 160
# The largest support that is small: that of a coin.
_FEW = 2


_CHANGING = (
    "the model after a round is another one if more rounds follow: they change it in place, or what is drawn depends "
    "on their number"
)


class _Loops(NamedTuple):
    """Runs on one problem, each with what the reference makes of it; the draws, their probabilities, and those of each
    step given what was seen; those runs whose models are others once more rounds follow."""

    followed: list[tuple[Run, Tracked]]
    draws: Any
    p: Array
    weights: list[Array]
    changing: list[Run]


class _Attempt(NamedTuple):
    """The findings from one start: all runs, those that change among them; failures of draws, notes, the smallest
    defect of draws that is found, problems looked at; an answer that no test can use."""

    setup: Setup
    followed: list[tuple[Run, Tracked]]
    changing: bool = False
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    worst: float = 0.0
    reached: int = 0
    broken: BadAnswer | None = None

    @property
    def agreeing(self) -> float:
        """The rounds that are explained on the way to the first that is not; infinite if all are, and the more so if
        nothing else is wrong."""
        if (self.broken is not None and self.broken.part == "init") or not (self.followed or self.broken):
            return -1.0
        wrong = [t.mismatch.round for _, t in missed(self.followed) if t.mismatch is not None]
        right = not self.failures and self.broken is None
        return min(wrong) if wrong else (math.inf if right else 1e9)


def runs(setup: Setup, observes: str | None) -> Findings:
    """Test the loop of an implementation and return the findings.

    A run may begin at any start of the method, but all runs at the same one.
    """
    chosen = usable(setup)
    attempts = [_attempt(setup, chosen, observes)]
    for other in algorithms.starts_of(setup.algorithm):
        if attempts[-1].agreeing < math.inf:
            attempts.append(_attempt(replace(setup, start=other), chosen, observes))
    most = max((a.agreeing, a.reached) for a in attempts)
    # Of those that explain the same, the reference's own start is the likeliest one, unless a slip explains more.
    best, *tied = [a for a in attempts if (a.agreeing, a.reached) == most]
    if best.broken is not None:
        return Findings((interface(setup, best.broken),), ("the interface",), {})
    failures = list(best.failures)
    if missed(best.followed):
        failure, slipped = _lost(best, chosen, observes)
        for other_start in tied if not slipped else ():
            found, slipped = _lost(other_start, chosen, observes)
            if slipped:
                best, failure = other_start, found
                break
        failures = [failure]
    checked = (
        f"{counted(len(best.followed), 'run')} of {_ROUNDS} rounds on {counted(len(chosen), 'problem')}, of "
        f"{_LONG_ROUNDS} and {_CONVERGED} on one each, each iterate explained by draws and the hidden states that they "
        "lead to, how often each draw occurs, dependence of draws",
    )
    detects = {"an iterate off by, relative to its numbers": setup.tolerance}
    if best.worst:
        detects["probability of a draw off by"] = best.worst
    notes = elsewhere_begun(best.setup.start) + best.notes
    if incomplete := sum(not t.complete for _, t in best.followed):
        notes += (f"{counted(incomplete, 'run')} had too many hidden states to be followed to the end",)
    return Findings(tuple(failures[:1]), checked, detects | reach(chosen, _LONG_ROUNDS), notes)


def _lost(attempt: _Attempt, chosen: Sequence[Scenario], observes: str | None) -> tuple[Failure, bool]:
    """The failure of runs that no draws explain from one start, and True if a slip explains them."""
    rest = _elsewhere(attempt.setup, chosen[attempt.reached :], attempt.reached, observes)
    failure, slipped = lost(attempt.setup, [*attempt.followed, *rest])
    prefix = f"{_CHANGING}; " if attempt.changing else ""
    return replace(failure, evidence=f"{prefix}{failure.evidence}"), slipped


def _attempt(setup: Setup, chosen: Sequence[Scenario], observes: str | None) -> _Attempt:
    """Follow runs from one start, up to the first problem where something is wrong."""
    longest, smallest = long_one(chosen), min(chosen, key=lambda s: s.size)
    so_far = _Attempt(setup, [])
    for number, scenario in enumerate(chosen):
        so_far = so_far._replace(reached=number + 1)
        begun = matching.begun(setup.algorithm, setup.start, scenario.problem, scenario.params)
        if begun is None:
            left_out = f"not tested on a problem whose start has too many draws: {scenario.text}"
            so_far = so_far._replace(notes=(*so_far.notes, left_out))
            continue
        # A long run from far away, and one that has converged long before its end.
        lengths = {id(smallest): _CONVERGED, id(longest): _LONG_ROUNDS}
        for rounds in (_ROUNDS, lengths[id(scenario)]) if id(scenario) in lengths else (_ROUNDS,):
            try:
                found = _loops(setup, scenario, begun, number, observes, _count(scenario, rounds), rounds)
            except Unanswered as asked:
                try:
                    so_far = so_far._replace(notes=so_far.notes + unanswered(scenario, asked))
                except BadAnswer as broken:
                    return so_far._replace(broken=broken)
                break
            except BadAnswer as broken:
                return so_far._replace(broken=broken)
            so_far.followed.extend(found.followed)
            if missed(so_far.followed):
                return so_far._replace(changing=bool(found.changing))
            failed, defect = _drawn(setup, scenario, found, setup.level / (len(chosen) + 2), rounds)
            worst = so_far.worst if scenario.role else max(so_far.worst, defect)
            so_far = so_far._replace(failures=so_far.failures + tuple(failed), worst=worst)
        if so_far.failures:
            break
    return so_far


def _drawn(setup: Setup, scenario: Scenario, found: _Loops, level: float, rounds: int) -> tuple[list[Failure], float]:
    """Test the draws of runs that some draws explain; return the failures and the smallest detectable defect."""
    failures, defect = often(setup, scenario, found.draws, found.p, found.weights, level / 2, rounds)
    if not failures:
        failures = dependent(setup, scenario, found.draws, found.p, found.weights, level / 2)
    return failures, defect


def _elsewhere(
    setup: Setup, rest: Sequence[Scenario], first: int, observes: str | None
) -> Iterator[tuple[Run, Tracked]]:
    """Runs on the problems after the one where something departs, which a name for it must explain too."""
    for number, scenario in enumerate(rest, first):
        # Other faults in them are reported once this one is fixed.
        with contextlib.suppress(BadAnswer):
            begun = matching.begun(setup.algorithm, setup.start, scenario.problem, scenario.params)
            if begun is not None:
                yield from _loops(setup, scenario, begun, number, observes, _ELSEWHERE, _ROUNDS).followed


def _loops(
    setup: Setup, scenario: Scenario, begun: Begun, number: int, observes: str | None, count: int, rounds: int
) -> _Loops:
    """So many runs of the loop, each followed by the reference from where it may have begun."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    start = begun.first
    rng = np.random.default_rng([setup.seed, 12, number])
    draws, p, _ = matching.enumerated(setup.algorithm, problem, params, start, LARGEST_BEYOND, rng)
    found = _Loops([], draws, p, [], [])
    scales: dict[int, dict[str, float]] = {}
    for i in range(count):
        seeds = [setup.seed, 13, number, i, *([rounds] if rounds > _ROUNDS else [])]
        iterates = own.iterates(problem, params, rounds, np.random.default_rng(seeds))
        seen = [own.observed(iterate, start, observes) for iterate in iterates]
        own_start = _beginning_so(begun, seen.pop(0), setup) if len(seen) > rounds else begun
        tracked = matching.track(setup.algorithm, problem, params, own_start, seen, draws, p, setup.tolerance, scales)
        if tracked.mismatch is not None and rounds == _ROUNDS:
            ends = _ends(setup, scenario, start, rounds, seeds, observes)
            if any(not np.array_equal(a[n], b[n], equal_nan=True) for a, b in zip(seen, ends, strict=True) for n in a):
                if _same_memory(iterates):
                    text = "iterates of several rounds are the same array, which later ones overwrite: copy it"
                    raise BadAnswer("iterates", text)
                seen = ends
                found.changing.append(Run(scenario, seen))
                tracked = matching.track(
                    setup.algorithm, problem, params, own_start, seen, draws, p, setup.tolerance, scales
                )
                if tracked.mismatch is None:
                    raise BadAnswer("iterates", f"{_CHANGING}: copy the models that are returned")
        found.followed.append((Run(scenario, seen), tracked))
        found.weights.extend(tracked.weights)
        if sum(t.mismatch is not None for _, t in found.followed) >= (4 if rounds == _ROUNDS else 1):
            break
    return found


def _ends(
    setup: Setup, scenario: Scenario, start: Any, rounds: int, seeds: Sequence[int], observes: str | None
) -> Letters:
    """The last iterates of runs of 1, 2, ... rounds, which no later round can have changed."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    last = (own.iterates(problem, params, t, np.random.default_rng(seeds))[-1] for t in range(1, rounds + 1))
    return [own.observed(iterate, start, observes) for iterate in last]


def _count(scenario: Scenario, rounds: int) -> int:
    """The number of runs: without draws all are the same, and have to be."""
    if scenario.support == 1:
        return 2 if rounds == _ROUNDS else 1
    if rounds > _ROUNDS:
        return _LONG if rounds == _LONG_ROUNDS else 1
    if scenario.role:
        return _BEYOND
    # A coin is cheap to follow, and its probability quickly estimated.
    return (3 if scenario.support <= _FEW else 1) * _STEPS // _ROUNDS


def _same_memory(iterates: Sequence[Any]) -> bool:
    arrays = [v for v in iterates if isinstance(v, np.ndarray)]
    return len(arrays) > 1 and all(np.may_share_memory(a, b) for a, b in pairwise(arrays))


def _beginning_so(begun: Begun, letters: Mapping[str, Array], setup: Setup) -> Begun:
    """The starts that have these letters. Raise :class:`BadAnswer` if there are none."""
    fitting = np.ones(len(begun.weights), dtype=bool)
    for name, value in letters.items():
        starts = np.asarray(getattr(begun.states, name), dtype=float)
        axes = tuple(range(1, starts.ndim))
        size = np.maximum(1.0, abs(starts).max(axis=axes, initial=0))
        fitting &= abs(starts - value).max(axis=axes, initial=0) <= setup.tolerance * size
        if not fitting.any():
            due = shown(starts[0])
            raise BadAnswer("init", f"the first iterate has {name} = {shown(value)}, the method starts at {due}")
    weights = np.where(fitting, begun.weights, 0.0)[fitting]
    return Begun(type(begun.states)(*(f[fitting] for f in begun.states)), weights / weights.sum())
