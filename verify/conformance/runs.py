"""A training loop, of which only the models are seen, against the reference."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.conformance import matching
from verify.conformance.adapter import BadAnswer, Unanswered
from verify.conformance.beyond import LARGEST_BEYOND
from verify.conformance.departures import dependent, lost, missed, often
from verify.conformance.matching import Tracked
from verify.conformance.report import Failure
from verify.conformance.scenarios import Scenario, shown
from verify.conformance.seen import Findings, Letters, Run, Setup, interface, long_one, reach, unanswered, usable

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


def runs(setup: Setup, observes: str | None) -> Findings:
    """Test the loop of an implementation and return the findings."""
    chosen = usable(setup)
    longest, smallest = long_one(chosen), min(chosen, key=lambda s: s.size)
    failures: list[Failure] = []
    notes: list[str] = []
    followed: list[tuple[Run, Tracked]] = []
    worst, incomplete = 0.0, 0
    try:
        for number, scenario in enumerate(chosen):
            # A long run from far away, and one that has converged long before its end.
            lengths = {id(smallest): _CONVERGED, id(longest): _LONG_ROUNDS}
            for rounds in (_ROUNDS, lengths[id(scenario)]) if id(scenario) in lengths else (_ROUNDS,):
                try:
                    found = _loops(setup, scenario, number, observes, _count(scenario, rounds), rounds)
                except Unanswered as asked:
                    notes += unanswered(scenario, asked)
                    break
                followed += found.followed
                incomplete += sum(not t.complete for _, t in found.followed)
                if missed(followed):
                    break
                failed, defect = _drawn(setup, scenario, found, setup.level / (len(chosen) + 2))
                failures += failed
                worst = worst if scenario.role else max(worst, defect)
            if missed(followed):
                failure = lost(setup, [*followed, *_elsewhere(setup, chosen[number + 1 :], number + 1, observes)])
                prefix = f"{_CHANGING}; " if found.changing else ""
                failures = [dataclasses.replace(failure, evidence=f"{prefix}{failure.evidence}")]
            if failures:
                break
    except BadAnswer as broken:
        return Findings((interface(setup, broken),), ("the interface",), {})
    checked = (
        f"{len(followed)} runs of {_ROUNDS} rounds on {len(chosen)} problems, of {_LONG_ROUNDS} and {_CONVERGED} on "
        "one each, each iterate explained by draws and the hidden states that they lead to, how often each draw "
        "occurs, dependence of draws",
    )
    detects = {"an iterate off by, relative to its numbers": setup.tolerance}
    if worst:
        detects["probability of a draw off by"] = worst
    if incomplete:
        notes.append(f"{incomplete} runs had too many hidden states to follow to their end")
    return Findings(tuple(failures[:1]), checked, detects | reach(chosen, _LONG_ROUNDS), tuple(notes))


def _drawn(setup: Setup, scenario: Scenario, found: _Loops, level: float) -> tuple[list[Failure], float]:
    """Test the draws of runs that some draws explain; return the failures and the smallest detectable defect."""
    failures, defect = often(setup, scenario, found.draws, found.p, found.weights, level / 2)
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
            yield from _loops(setup, scenario, number, observes, _ELSEWHERE, _ROUNDS).followed


def _loops(setup: Setup, scenario: Scenario, number: int, observes: str | None, count: int, rounds: int) -> _Loops:
    """So many runs of the loop, each followed by the reference."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    start = setup.algorithm.init(problem, params)
    rng = np.random.default_rng([setup.seed, 12, number])
    draws, p, _ = matching.enumerated(setup.algorithm, problem, params, start, LARGEST_BEYOND, rng)
    found = _Loops([], draws, p, [], [])
    scales: dict[int, dict[str, float]] = {}
    for i in range(count):
        seeds = [setup.seed, 13, number, i, *([rounds] if rounds > _ROUNDS else [])]
        iterates = own.iterates(problem, params, rounds, np.random.default_rng(seeds))
        seen = [own.observed(iterate, start, observes) for iterate in iterates]
        if len(seen) > rounds:
            _check_first(start, seen.pop(0), setup)
        tracked = matching.track(setup.algorithm, problem, params, start, seen, draws, p, setup.tolerance, scales)
        if tracked.mismatch is not None and rounds == _ROUNDS:
            ends = _ends(setup, scenario, rounds, seeds, observes)
            if any(not np.array_equal(a[n], b[n]) for a, b in zip(seen, ends, strict=True) for n in a):
                if _same_memory(iterates):
                    text = "iterates of several rounds are the same array, which later ones overwrite: copy it"
                    raise BadAnswer("iterates", text)
                seen = ends
                found.changing.append(Run(scenario, seen))
                tracked = matching.track(
                    setup.algorithm, problem, params, start, seen, draws, p, setup.tolerance, scales
                )
                if tracked.mismatch is None:
                    raise BadAnswer("iterates", f"{_CHANGING}: copy the models that are returned")
        found.followed.append((Run(scenario, seen), tracked))
        found.weights.extend(tracked.weights)
        if sum(t.mismatch is not None for _, t in found.followed) >= (4 if rounds == _ROUNDS else 1):
            break
    return found


def _ends(setup: Setup, scenario: Scenario, rounds: int, seeds: Sequence[int], observes: str | None) -> Letters:
    """The last iterates of runs of 1, 2, ... rounds, which no later round can have changed."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    start = setup.algorithm.init(problem, params)
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


def _check_first(start: Any, letters: Mapping[str, Array], setup: Setup) -> None:
    for name, value in letters.items():
        expected = np.asarray(getattr(start, name), dtype=float)
        if not abs(value - expected).max(initial=0) <= setup.tolerance * max(1.0, float(abs(expected).max(initial=0))):
            raise BadAnswer(
                "init", f"the first iterate has {name} = {shown(value)}, the method starts at {shown(expected)}"
            )
