"""Anybody's implementation of an algorithm against the reference, step for step, and against the algorithm's claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves
from fedtheory.rational import Array
from verify.conformance import claimed, diagnosis, matching
from verify.conformance.adapter import Broken, Implementation, takes_draws
from verify.conformance.compressors import rounding_of
from verify.conformance.lines import line
from verify.conformance.matching import Mismatch, Tracked
from verify.conformance.report import Failure, Report
from verify.conformance.scenarios import LARGEST_SUPPORT, Scenario, draw_at, posed, scenarios, shown
from verify.statistics.e_process import check_level

# Draws at one state, rounds of a trajectory, runs and rounds of a loop, and steps with the implementation's own draws.
_DRAWS, _ROUNDS, _RUN_ROUNDS, _RUN_STEPS, _STEPS = 16, 4, 6, 240, 800
# Transitions that a diagnosis must explain, of each kind.
_EXPLAINED = 12


#: The letters that were seen after each round.
_Letters = list[dict[str, Array]]


class Case(NamedTuple):
    """A transition that was seen: ``after`` in the reference's types; ``draw``: None where it is not known."""

    scenario: Scenario
    before: Any
    draw: Any
    after: Any


class _Path(NamedTuple):
    """A run in which the implementation kept whatever else its states hold: the letters after each round."""

    scenario: Scenario
    seen: _Letters


class Seen(NamedTuple):
    """All that was seen: transitions, those that no draw explains, and runs."""

    cases: list[Case]
    wrong: list[tuple[Case, Mismatch]]
    paths: list[_Path]

    @property
    def enough(self) -> bool:
        return len(self.wrong) >= 3 * _EXPLAINED


@dataclass(frozen=True)
class Setup:
    implementation: Implementation
    scenarios: tuple[Scenario, ...]
    seed: int
    level: float
    tolerance: float
    call: str
    largest: int = LARGEST_SUPPORT

    @property
    def algorithm(self) -> Algorithm:
        return self.implementation.algorithm


def algorithm(
    name: str,
    *,
    init: Callable[..., Any] | None = None,
    step: Callable[..., Any] | None = None,
    run: Callable[..., Any] | None = None,
    randomness: str | None = None,
    problems: Sequence[tuple[Problem, Any]] | None = None,
    features: Collection[str] = (),
    keep: Callable[[Problem, Any], bool] | None = None,
    observes: str | None = None,
    seed: int = 0,
    level: float = 1e-6,
    tolerance: float | None = None,
    dtype: str = "float64",
) -> Report:
    """Test an implementation of the algorithm called ``name`` (see ``fedtheory.algorithms.names()``).

    One of ``step(problem, params, state, draw)``, with the reference's draws; ``step(problem, params, state, rng)``,
    with draws of its own; ``run(problem, params, rounds, rng) -> iterates``, a plain loop. Problems and parameters are
    the reference's (``problem.f.gradient(x)`` for ``x (n, d)``, or :func:`client`; ``params.gamma``, ...). States are
    mappings from the paper's letters, NamedTuples or dataclasses; what else they hold is left alone. ``init(problem,
    params) -> state``: by default the reference's. Iterates are arrays of one letter's shape (the first that fits, or
    ``observes``) or mappings of some letters.

    ``randomness``: "draw" or "rng", by default "rng" if the step's fourth parameter is called so. ``problems``: pairs
    (problem, params) instead of the chosen ones. ``features``: what the implementation does beyond the plain method,
    of ``scenarios.FEATURES``. ``keep(problem, params)``: False for what it does not do (as when all clients take
    part). ``level``: the chance that a right implementation is rejected; a comparison of numbers has none.
    ``tolerance``: relative errors that are rounding, by default by ``dtype``, the type of the states handed in.
    ``ValueError`` for arguments that make no sense; whatever the implementation does wrong is in the report.
    """
    reference = algorithms.get(name)
    if (step is None) == (run is None):
        raise ValueError("give either step or run, as functions")
    check_level(level)
    if tolerance is not None and not 0 < tolerance < 1:
        raise ValueError(f"the tolerance must be between 0 and 1, got {tolerance}")
    found = tuple(posed(reference, *pair, seed) for pair in problems) if problems else scenarios(name, seed, features)
    if keep is not None:
        found = tuple(s for s in found if keep(s.problem, s.params))
    if not found:
        raise ValueError("no problems are left to test on")
    draws = step is not None and takes_draws(step, randomness)
    implementation = Implementation(reference, init, step, run, draws, dtype)
    given = "run=run" if run is not None else "step=step" + ("" if init is None else ", init=init")
    call = f"conformance.algorithm({name!r}, {given}, seed={seed})"
    setup = Setup(implementation, found, seed, level, rounding_of(dtype) if tolerance is None else tolerance, call)
    with np.errstate(all="ignore"):
        result = _run(setup, observes) if run is not None else _steps(setup)
    return Report(f"the implementation of {name}", level, setup.tolerance, *result)


class _Result(NamedTuple):
    failures: tuple[Failure, ...]
    checked: tuple[str, ...]
    detects: Mapping[str, float]
    notes: tuple[str, ...] = ()


def _steps(setup: Setup) -> _Result:
    try:
        started = _starts(setup)
        if started:
            return _Result((started,), ("the initial state",), {})
        return _with_draws(setup) if setup.implementation.draws else _with_generator(setup)
    except Broken as broken:
        return _Result((_interface(setup, broken),), ("the interface",), {})


def _interface(setup: Setup, broken: Broken) -> Failure:
    where = "run" if setup.implementation.run is not None else "step"
    return Failure(f"interface/{broken.part}", where, broken.text, setup.call)


def _starts(setup: Setup) -> Failure | None:
    """The failure of an initial state that is not the reference's, or None."""
    own = setup.implementation
    if own.init is None:
        return None
    for scenario in setup.scenarios:
        expected = setup.algorithm.init(scenario.problem, scenario.params)
        got = own.read(own.start(scenario.problem, scenario.params), expected)
        for letter, a, b in zip(own.names, got, expected, strict=True):
            size = max(float(abs(np.asarray(b, dtype=float)).max(initial=0)), 1.0)
            if not abs(a - b).max(initial=0) <= setup.tolerance * size:
                due = shown(np.asarray(b, dtype=float))
                text = f"{letter}^0 is {shown(a)}, the method starts at {due} ({scenario.text})"
                return Failure(_step_id(setup), f"init, {letter}", text, setup.call)
    return None


def _step_id(setup: Setup) -> str:
    return f"reference/{setup.algorithm.name}/step"


# Steps with the reference's draws


def _with_draws(setup: Setup) -> _Result:
    own = setup.implementation
    found = Seen([], [], [])
    for number, scenario in enumerate(setup.scenarios):
        problem, params = scenario.problem, scenario.params
        rng = np.random.default_rng([setup.seed, 10, number])
        template = own.start(problem, params) if own.init is not None else None
        for state in scenario.states:
            for draw in _some_draws(setup, scenario, state, rng):
                after = own.stepped(problem, params, own.handed(state, template), draw)
                compare(setup, Case(scenario, state, draw, own.read(after, state)), found)
        _trajectory(setup, scenario, rng, found)
        if found.enough:
            break
    checked = [f"{len(found.cases)} steps on {len(setup.scenarios)} problems, with the reference's draws"]
    detects = {"a step off by, relative to its numbers": setup.tolerance}
    if found.wrong:
        return _Result((departs(setup, found),), tuple(checked), detects)
    broken, names = claimed.exactly(setup.algorithm, own, setup.scenarios, setup.call, setup.tolerance)
    if names:
        checked.append(f"at the worst states: {', '.join(names)}")
    return _Result(broken, tuple(checked), detects)


def _some_draws(setup: Setup, scenario: Scenario, state: Any, rng: np.random.Generator) -> Iterable[Any]:
    draws, p, _ = matching.enumerated(setup.algorithm, scenario.problem, scenario.params, state, LARGEST_SUPPORT, rng)
    chosen = np.arange(len(p)) if len(p) <= _DRAWS else rng.choice(len(p), _DRAWS, replace=False)
    return [draw_at(draws, int(k)) for k in chosen]


def _trajectory(setup: Setup, scenario: Scenario, rng: np.random.Generator, found: Seen) -> None:
    """A few rounds in which the implementation keeps whatever else its states hold."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    like = setup.algorithm.init(problem, params)
    state = own.start(problem, params)
    before = own.read(state, like)
    path = _Path(scenario, [])
    for _ in range(_ROUNDS):
        draw = setup.algorithm.draws(problem, params, before).sample(rng, ())
        state = own.stepped(problem, params, state, draw)
        after = own.read(state, like)
        path.seen.append(after._asdict())
        compare(setup, Case(scenario, before, draw, after), found)
        before = after
    found.paths.append(path)


def compare(setup: Setup, case: Case, found: Seen) -> matching.Matched:
    """How the reference explains a transition, which is added to what was seen."""
    matched = explained_by(setup, setup.algorithm, case)
    found.cases.append(case)
    if matched.mismatch is not None:
        found.wrong.append((case, matched.mismatch))
    return matched


# Steps with draws of the implementation's own


def _with_generator(setup: Setup) -> _Result:
    own = setup.implementation
    usable = _usable(setup)
    found = Seen([], [], [])
    failures: list[Failure] = []
    worst = 0.0
    for number, scenario in enumerate(usable):
        seen, defect = _own_draws(setup, scenario, number, setup.level / len(usable) / 2, found)
        failures += seen
        worst = max(worst, defect)
        if found.enough or failures:
            break
    checked = [
        f"{len(found.cases)} steps on {len(usable)} problems, each explained by a draw, and how often each draw occurs"
    ]
    detects = {"a step off by, relative to its numbers": setup.tolerance, "probability of a draw off by": worst}
    if found.wrong:
        return _Result((departs(setup, found),), tuple(checked), detects)
    if failures:
        return _Result(tuple(failures[:1]), tuple(checked), detects)
    broken, names, excess = claimed.sampled(setup.algorithm, own, usable, setup.call, setup.level / 2, setup.seed)
    if names:
        checked.append(f"expected decrease by sampled steps: {', '.join(names)}")
        detects |= {"expected decrease exceeded by, of its size": excess}
    return _Result(broken, tuple(checked), detects)


def _usable(setup: Setup) -> list[Scenario]:
    usable = [s for s in setup.scenarios if s.support <= LARGEST_SUPPORT]
    if not usable:
        raise ValueError("all problems have too many draws to tell which one was made: give smaller ones")
    return usable


def _own_draws(setup: Setup, scenario: Scenario, number: int, level: float, found: Seen) -> tuple[list[Failure], float]:
    """Steps from fresh states, and then a run of the implementation's own; the failure of their draws, if any."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    rng = np.random.default_rng([setup.seed, 11, number])
    template = own.start(problem, params) if own.init is not None else None
    draws, p, _ = matching.enumerated(setup.algorithm, problem, params, scenario.states[0], LARGEST_SUPPORT, rng)
    weights: list[Array] = []

    def explained(target: _Target, got: Any) -> bool:
        case = Case(scenario, target.state, None, got)
        found.cases.append(case)
        matched = target.match(got, setup.tolerance)
        if matched.mismatch is not None:
            found.wrong.append((case, matched.mismatch))
            return False
        assert matched.weights is not None
        weights.append(matched.weights)
        return True

    for i, state in enumerate(scenario.states[: 4 if scenario.support > 1 else None]):
        target = _Target(setup.algorithm, scenario, state, draws, p)
        repeats = 4 if scenario.support == 1 else _STEPS // (8 if i else 1)
        for _ in range(repeats):
            explained(target, own.read(own.stepped(problem, params, own.handed(state, template), rng), state))
            if found.enough:
                break
    like = setup.algorithm.init(problem, params)
    current = own.start(problem, params)
    before = own.read(current, like)
    path = _Path(scenario, [])
    for t in range(3 * _ROUNDS):
        current = own.stepped(problem, params, current, rng)
        got = own.read(current, like)
        if t < _ROUNDS:
            path.seen.append(got._asdict())
        if not explained(_Target(setup.algorithm, scenario, before, draws, p), got) and t >= _ROUNDS:
            break
        before = got
    found.paths.append(path)
    return ([], 0.0) if found.wrong else often(setup, scenario, draws, p, weights, level)


class _Target:
    """What the reference can make of one state, by the draws ``(K, ...)``."""

    def __init__(self, algorithm: Algorithm, scenario: Scenario, state: Any, draws: Any, p: Array) -> None:
        problem, params = scenario.problem, scenario.params
        after = matching.advanced(algorithm, problem, params, matching.stacked(state), draws)
        self.state, self.draws, self.p = state, draws, p
        self.after = type(after)(*(f[0] for f in after))
        self.scale = matching.sizes(algorithm, problem, params, state, draws)

    def match(self, got: Any, tolerance: float) -> matching.Matched:
        return matching.match(self.after, self.p, self.draws, got._asdict(), self.scale, tolerance)


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


def _reason(weights: Sequence[Array]) -> str:
    """What frequencies that are off look like, in words."""
    rows = np.stack(weights)
    if len(rows) >= 8 and (rows == rows[0]).all():
        return "every step makes the same draw (a generator seeded anew at every call, or one that is not used): "
    return "draws are not distributed as in the method (shared between clients, or with another probability): "


# Runs


def _run(setup: Setup, observes: str | None) -> _Result:
    usable = _usable(setup)
    failures: list[Failure] = []
    worst, runs, incomplete = 0.0, 0, 0
    try:
        for number, scenario in enumerate(usable):
            followed, found = _loops(setup, scenario, number, observes)
            runs += len(followed)
            missed = [(seen, t) for seen, t in followed if t.mismatch is not None and t.complete]
            incomplete += sum(not t.complete for _, t in followed)
            if missed:
                failures.append(lost(setup, scenario, followed, missed))
                break
            wrong, defect = often(setup, scenario, *found, setup.level / len(usable))
            failures += wrong
            worst = max(worst, defect)
            if failures:
                break
    except Broken as broken:
        return _Result((_interface(setup, broken),), ("the interface",), {})
    checked = (
        f"{runs} runs of {_RUN_ROUNDS} rounds on {len(usable)} problems, each iterate explained by draws and the "
        "hidden states that they lead to, and how often each draw occurs",
    )
    detects = {"an iterate off by, relative to its numbers": setup.tolerance, "probability of a draw off by": worst}
    notes = (f"{incomplete} runs had too many hidden states to follow to their end",) if incomplete else ()
    return _Result(tuple(failures[:1]), checked, detects, notes)


def _loops(
    setup: Setup, scenario: Scenario, number: int, observes: str | None
) -> tuple[list[tuple[_Letters, Tracked]], tuple[Any, Array, list[Array]]]:
    """Runs of the loop, each followed by the reference; the draws, their probabilities, and what was made of them."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    start = setup.algorithm.init(problem, params)
    rng = np.random.default_rng([setup.seed, 12, number])
    draws, p, _ = matching.enumerated(setup.algorithm, problem, params, start, LARGEST_SUPPORT, rng)
    followed: list[tuple[_Letters, Tracked]] = []
    weights: list[Array] = []
    for i in range(_RUN_STEPS // _RUN_ROUNDS if scenario.support > 1 else 2):
        iterates = own.iterates(problem, params, _RUN_ROUNDS, np.random.default_rng([setup.seed, 13, number, i]))
        seen = [own.observed(iterate, start, observes) for iterate in iterates]
        if len(seen) > _RUN_ROUNDS:
            _check_first(start, seen.pop(0), setup)
        tracked = matching.track(setup.algorithm, problem, params, start, seen, draws, p, setup.tolerance)
        followed.append((seen, tracked))
        weights += tracked.weights
        if sum(t.mismatch is not None for _, t in followed) >= 4:
            break
    return followed, (draws, p, weights)


def _check_first(start: Any, letters: Mapping[str, Array], setup: Setup) -> None:
    for name, value in letters.items():
        expected = np.asarray(getattr(start, name), dtype=float)
        if not abs(value - expected).max(initial=0) <= setup.tolerance * max(1.0, float(abs(expected).max(initial=0))):
            raise Broken(
                "init", f"the first iterate has {name} = {shown(value)}, the method starts at {shown(expected)}"
            )


def lost(
    setup: Setup,
    scenario: Scenario,
    followed: Sequence[tuple[_Letters, Tracked]],
    missed: Sequence[tuple[_Letters, Tracked]],
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


def _follows(setup: Setup, other: Algorithm, scenario: Scenario, seen: _Letters) -> bool:
    """Whether an algorithm, from its own beginning, explains a run."""
    problem, params = scenario.problem, scenario.params
    start = other.init(problem, params)
    rng = np.random.default_rng(setup.seed)
    draws, p, _ = matching.enumerated(other, problem, params, start, setup.largest, rng)
    return matching.track(other, problem, params, start, seen, draws, p, setup.tolerance).mismatch is None


# What is said of a departure


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
        draws, p, _ = matching.enumerated(setup.algorithm, problem, params, case.before, setup.largest, rng)
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
    lines.append(
        f"{letter} departs from `{line(name, letter)}`{at}: it is {shown(got)}, the reference has {shown(expected)}"
        f"{_ratio(got, expected, case, letter)}, {mismatch.off[letter]:.2g} of its size{_drawn(mismatch, case)}"
    )
    for other in others:
        due, mine = np.asarray(getattr(mismatch.expected, other)), np.asarray(mismatch.seen[other])
        lines.append(f"{other} departs too{_ratio(mine, due, case, other)}")
    lines.append(f"the smallest problem where it does: {scenario.text}")
    if case is not None:
        pairs = zip(case.before._fields, case.before, strict=True)
        lines.append(f"from the state {', '.join(f'{n} = {shown(np.asarray(v))}' for n, v in pairs)}")
    where = slip.letter if slip is not None and slip.letter else letter
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
    return Failure(claim, f"{where}, `{line(name, where)}`", "; ".join(lines), setup.call, data)


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


def client(problem: Problem, i: int) -> Client:
    """The i-th client of a problem by itself, for implementations made of clients."""
    if not 0 <= i < problem.n:
        raise ValueError(f"the clients are numbered 0 to {problem.n - 1}, got {i}")
    return Client(problem, i)


@dataclass(frozen=True)
class Client:
    """One f_i: ``gradient(x)`` and ``value(x)`` for ``x (d,)``."""

    problem: Problem
    i: int

    def gradient(self, x: Any) -> Array:
        """grad f_i(x), ``(d,) -> (d,)``."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return self.problem.f.gradient(points)[self.i]

    def value(self, x: Any) -> float:
        """f_i(x)."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return float(self.problem.f.value(points)[self.i])
