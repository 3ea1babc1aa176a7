"""What is said of an implementation that departs from the reference: the line, the slip, the smallest problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from fedtheory.randomness import map_leaves
from verify.conformance import claimed, diagnosis, matching, series
from verify.conformance.matching import Mismatch, Tracked
from verify.conformance.report import Failure
from verify.conformance.scenarios import Scenario, shown, told_apart
from verify.conformance.seen import Case, Letters, Seen, Setup

# Transitions that a diagnosis must explain, of each kind.
_EXPLAINED = 12


def often(
    setup: Setup, scenario: Scenario, draws: Any, p: Array, weights: Sequence[Array], level: float
) -> tuple[list[Failure], float]:
    """The failure of draws that do not occur as often as they should."""
    found = matching.frequencies(draws, p, weights, level)
    if not found.wrong:
        return [], found.defect
    more = f"; {len(found.wrong) - 1} more such" if len(found.wrong) > 1 else ""
    reason = _reason(weights)
    text = f"{reason}{found.wrong[0]} in {found.samples} steps (level {level:.1g}){more}; {scenario.text}"
    failure = Failure(f"reference/{setup.algorithm.name}/draws", "the draws of a step", text, setup.call)
    return [failure], found.defect


def dependent(
    setup: Setup, scenario: Scenario, draws: Any, p: Array, weights: Sequence[Array], level: float
) -> list[Failure]:
    """The failure of draws, in the order in which they were made, that are not independent."""
    told = series.apart(series.of_weights(draws, p, weights), level) if len(weights) and len(p) > 1 else ""
    if not told:
        return []
    text = f"draws are not independent of earlier ones ({told}, level {level:.1g}); {scenario.text}"
    return [Failure(f"reference/{setup.algorithm.name}/draws", "the draws of a step", text, setup.call)]


def _reason(weights: Sequence[Array]) -> str:
    """What frequencies that are off look like, in words."""
    rows = np.stack(weights)
    if len(rows) >= 8 and (rows > 0).all(axis=0).any():
        return (
            "every step makes the same draw (a generator seeded anew at every call, one that is not used, or draws "
            "that are never made): "
        )
    return "draws are not distributed as in the method (shared between clients, or with another probability): "


def lost(
    setup: Setup,
    scenario: Scenario,
    followed: Sequence[tuple[Letters, Tracked]],
    missed: Sequence[tuple[Letters, Tracked]],
) -> Failure:
    """The failure of runs that no draws explain."""
    problem, params = scenario.problem, scenario.params
    _, tracked = min(missed, key=lambda pair: len(pair[1].weights))
    assert tracked.mismatch is not None
    chosen = [letters for letters, _ in (*missed[:3], *followed[:3])]

    def agrees(other: Algorithm) -> bool:
        return all(_follows(setup, other, scenario, letters) for letters in chosen)

    slip = diagnosis.diagnose(setup.algorithm, agrees) or diagnosis.replaced(
        setup.algorithm, problem, params, tracked.state, tracked.mismatch.seen, max(1e-7, 2 * setup.tolerance)
    )
    return _told(setup, scenario, tracked.mismatch, slip, None)


def _follows(setup: Setup, other: Algorithm, scenario: Scenario, seen: Letters) -> bool:
    """Whether an algorithm, from its own beginning, explains a run."""
    problem, params = scenario.problem, scenario.params
    start = other.init(problem, params)
    rng = np.random.default_rng(setup.seed)
    draws, p, _ = matching.enumerated(other, problem, params, start, setup.largest, rng)
    return matching.track(other, problem, params, start, seen, draws, p, setup.tolerance).mismatch is None


def departs(setup: Setup, found: Seen) -> Failure:
    """The failure of steps that differ from the reference's, at the smallest problem where they do."""
    cases, wrong = found.cases, found.wrong
    case, mismatch = min(wrong, key=lambda pair: (*pair[0].scenario.size, _complexity(pair[0].before)))
    kept = [c for c, _ in (*wrong[:: max(1, len(wrong) // _EXPLAINED)], *wrong[-3:])]
    kept += list(cases[:: max(1, len(cases) // _EXPLAINED)])

    def agrees(other: Algorithm) -> bool:
        if other.State is setup.algorithm.State:
            return all(explained_by(setup, other, c).mismatch is None for c in kept)
        # What else such states hold is known along runs only.
        return all(_follows(setup, other, path.scenario, path.seen) for path in found.paths[:6])

    slip = diagnosis.diagnose(setup.algorithm, agrees)
    if slip is None and case.draw is None:
        problem, params = case.scenario.problem, case.scenario.params
        slip = diagnosis.replaced(setup.algorithm, problem, params, case.before, mismatch.seen, setup.tolerance)
    return _told(setup, case.scenario, mismatch, slip, case)


def _complexity(state: Any) -> float:
    """Zeros and small numbers are simpler."""
    return float(sum(np.count_nonzero(f) + abs(np.asarray(f)).sum() * 1e-3 for f in state))


def explained_by(setup: Setup, other: Algorithm, case: Case) -> matching.Matched:
    """How an algorithm explains a transition, by the draw that was made or by any."""
    problem, params = case.scenario.problem, case.scenario.params
    if case.draw is None:
        rng = np.random.default_rng(0)
        draws, p, _ = matching.enumerated(other, problem, params, case.before, setup.largest, rng)
    else:
        draws, p = map_leaves(lambda a: np.asarray(a)[None], case.draw), np.ones(1)
    after = matching.advanced(other, problem, params, matching.stacked(case.before), draws)
    scale = matching.sizes(setup.algorithm, problem, params, case.before, draws)
    flat = type(after)(*(f[0] for f in after))
    return matching.match(flat, p, draws, case.after._asdict(), scale, setup.tolerance)


def _told(setup: Setup, scenario: Scenario, mismatch: Mismatch, slip: Any, case: Case | None) -> Failure:
    name, letter = setup.algorithm.name, mismatch.departing
    expected, got = (np.asarray(v) for v in (getattr(mismatch.expected, letter), mismatch.seen[letter]))
    others = [other for other in mismatch.letters if other != letter]
    at = f" after round {mismatch.round}" if mismatch.round else ""
    lines = [] if slip is None else [slip.text]
    if not np.isfinite(got).all():
        lines.append(f"{letter} is not finite")
    where = slip.letter if slip is not None and slip.letter else letter
    due_line = "it" if letter == where else f"`{algorithms.line(name, letter)}`"
    mine, due = told_apart(got, expected)
    lines.append(
        f"{letter} departs from {due_line}{at}: it is {mine}, the reference has {due}"
        f"{_ratio(got, expected, case, letter)}, {mismatch.off[letter]:.2g} of its size{_drawn(mismatch, case)}"
    )
    for other in others:
        ratio = _ratio(np.asarray(mismatch.seen[other]), np.asarray(getattr(mismatch.expected, other)), case, other)
        lines.append(f"{other} departs too{ratio}")
    lines.append(f"the smallest problem where it does: {scenario.text}")
    if case is not None:
        pairs = zip(case.before._fields, case.before, strict=True)
        lines.append(f"from the state {', '.join(f'{n} = {shown(np.asarray(v))}' for n, v in pairs)}")
    claim = claimed.broken_by(setup.algorithm, slip.algorithm if slip is not None else None, scenario, case)
    data = {
        "problem": scenario.problem,
        "params": scenario.params,
        "state": None if case is None else case.before,
        "draw": mismatch.draw,
        "got": dict(mismatch.seen),
        "expected": mismatch.expected,
        "slip": None if slip is None else slip.text,
    }
    return Failure(claim, f"{where}, `{algorithms.line(name, where)}`", "; ".join(lines), setup.call, data)


def _drawn(mismatch: Mismatch, case: Case | None) -> str:
    words = matching.words(mismatch.draw)
    if not words:
        return ""
    return (
        f"; draw {words}" if case is not None and case.draw is not None else f"; no draw explains it, nearest {words}"
    )


def _ratio(got: Array, expected: Array, case: Case | None, letter: str) -> str:
    """The factor by which the change of a letter is off, where it is one factor for all entries."""
    if case is None:
        return ""
    before = np.asarray(getattr(case.before, letter), dtype=float)
    mine, due = np.ravel(got - before), np.ravel(expected - before)
    big = abs(due) > 1e-9 * max(abs(due).max(initial=0), 1e-300)
    if not big.any() or abs(mine[~big]).max(initial=0) > 1e-9 * abs(due).max():
        return ""
    factors = mine[big] / due[big]
    if not math.isfinite(factors[0]) or np.ptp(factors) > 1e-6 * max(1e-12, abs(factors).max()):
        return ""
    return f" (its change is {factors[0]:.6g} times what it should be)"
