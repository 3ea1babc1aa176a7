"""An implementation of an algorithm against the reference, step for step, and against the algorithm's claims."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.starts import OtherStart
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from verify.base.plain import counted
from verify.conformance import claimed, matching
from verify.conformance.adapter import BadAnswer, Implementation, Unanswered, takes_draws
from verify.conformance.beyond import LARGEST_BEYOND, takes
from verify.conformance.departures import departs, dependent, explained_by, often
from verify.conformance.features import checked_features
from verify.conformance.kept import chosen, next_to_nothing
from verify.conformance.references import reference as known_as
from verify.conformance.report import Failure, Report, check_seed, rounding_of
from verify.conformance.runs import runs
from verify.conformance.scenarios import LARGEST_SUPPORT, Scenario, distinguishable, draw_at, lasts, later, posed
from verify.conformance.seen import (
    Findings,
    Observations,
    Run,
    Setup,
    Transition,
    elsewhere_begun,
    interface,
    long_one,
    reach,
    unanswered,
    usable,
)
from verify.statistics.e_process import check_level

# Draws at one state.
_DRAWS = 16
# Rounds of a trajectory.
_ROUNDS = 4
# Steps with the implementation's own draws on a small problem.
_STEPS = 560
# Such steps on a problem beyond the small ones.
_STEPS_BEYOND = 24
# Such steps on the problems that come after enough departures.
_ELSEWHERE = 8
# Rounds of the long trajectory with the reference's draws.
_LONG = 80
# Rounds of the long trajectory with the implementation's own draws.
_LONG_DRAWN = 160


def algorithm(
    name: str | Algorithm,
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
    """Test an implementation of an algorithm against the reference, step by step, and against the algorithm's claims.

    One of ``step`` and ``run`` is given. Problems and parameters are the reference's (``problem.f.gradient(x)`` for ``x
    (n, d)``, or :func:`client`; ``params.gamma``, ...). States are mappings from the paper's letters, NamedTuples or
    dataclasses; what else they hold is left alone. Errors of the implementation are in the report.

    Args:
        name: One of ``fedtheory.algorithms.names()``; or anybody's own: an algorithm (``fedtheory.method``), or where
            it is, as "FILE.py:NAME". Its problems and parameters are those of the ``CLAIMS`` about it, or ``problems``.
        init: ``init(problem, params) -> state``, at a start of the method; by default the reference's.
        step: ``step(problem, params, state, draw)``, with the reference's draws, or ``step(problem, params, state,
            rng)``, with draws of its own.
        run: ``run(problem, params, rounds, rng) -> iterates``, a plain loop. Iterates are arrays of one letter's shape
            (the first that fits, or ``observes``) or mappings of some letters.
        randomness: "draw" or "rng"; by default "rng" if the step's fourth parameter is called so.
        problems: Pairs (problem, params) instead of the chosen ones.
        features: What the implementation does beyond the plain method, of ``scenarios.FEATURES``.
        keep: ``keep(problem, params)``: False for what it does not do (as when all clients take part); where few are
            left, others are made.
        observes: The letter that the iterates of ``run`` are.
        seed: The seed of the draws.
        level: The chance that a right implementation is rejected; a comparison of numbers has none.
        tolerance: Relative errors that are rounding, by default by ``dtype``.
        dtype: The type of the states handed in.

    Returns:
        The report.

    Raises:
        ValueError: For arguments that make no sense.

    Examples:
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> from verify import conformance
        >>> problem = Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]]))
        >>> def step(problem, params, state, draw):
        ...     slope = problem.f.gradient(state["x"][None, :]).mean(axis=0)
        ...     return {"x": state["x"] - params.gamma * slope}
        >>> conformance.algorithm("gradient-descent", step=step, problems=[(problem, {"gamma": 0.25})]).ok
        True
    """
    reference = known_as(name)
    name = reference.name if isinstance(name, Algorithm) else name
    if (step is None) == (run is None) or not callable(run if step is None else step):
        raise ValueError("give either step or run, as functions")
    if run is not None and init is not None:
        raise ValueError("init= belongs to step=: a run makes its own start, one of the method's")
    check_level(level)
    check_seed(seed)
    if tolerance is not None and not 0 < tolerance < 1:
        raise ValueError(f"the tolerance must be between 0 and 1, got {tolerance}")
    letters = reference.State._fields
    if observes is not None and observes not in letters:
        raise ValueError(f"the state of {reference.name} has no {observes!r}: it has {', '.join(letters)}")
    wanted = checked_features(reference, features, problems)
    draws = step is not None and takes_draws(step, randomness)
    if problems:
        found = tuple(s for s in _posed(reference, problems, seed) if takes(keep, s.problem, s.params))
        if not found:
            raise ValueError("no problems are left to test on")
    else:
        found = chosen(reference, seed, wanted, keep, not draws)
    few = next_to_nothing(found) if problems or keep is not None else ""
    implementation = Implementation(reference, init, step, run, draws, dtype)
    given = "run=run" if run is not None else "step=step" + ("" if init is None else ", init=init")
    call = f"conformance.algorithm({name!r}, {given}, seed={seed})"
    setup = Setup(implementation, found, seed, level, rounding_of(dtype) if tolerance is None else tolerance, call)
    before = [_numbers(s) for s in found]
    with np.errstate(all="ignore"):
        result = runs(setup, observes) if run is not None else _steps(setup)
    for scenario, numbers in zip(found, before, strict=True):
        after = _numbers(scenario)
        changed = [
            name for name, value in numbers.items() if name not in after or not np.array_equal(value, after[name])
        ]
        if changed:
            broken = BadAnswer("in-place", f"changes the problem that it was given in place: its {changed[0]}")
            result = Findings((interface(setup, broken),), ("the interface",), {})
    return Report(f"the implementation of {reference.name}", level, setup.tolerance, *result, few=few)


def _posed(reference: Algorithm, given: Sequence[tuple[Problem, Any]], seed: int) -> tuple[Scenario, ...]:
    problems = [_with_params(reference, pair) for pair in given]
    for pair in problems:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], reference.Params)):
            fields = ", ".join(reference.Params._fields)
            raise ValueError(
                f"problems are pairs (problem, params), params those of {reference.name}: Params({fields})"
            )
        if not isinstance(pair[0], Problem):
            raise ValueError(f"problems are pairs (problem, params), problem a Problem(f), not {_what(pair[0])}")
    for number, (problem, params) in enumerate(problems):
        if not lasts(reference, problem, params):
            raise ValueError(f"{reference.name} itself diverges on problems[{number}]: give a smaller stepsize")
    return tuple(posed(reference, problem, params, seed) for problem, params in problems)


def _with_params(reference: Algorithm, pair: Any) -> Any:
    """A pair with its parameters as the method has them, where they are a mapping of all their names."""
    kind: Any = reference.Params
    if isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Mapping):
        names = set(pair[1])
        if names <= set(kind._fields) and names >= set(kind._fields) - set(kind._field_defaults):
            return pair[0], kind(**pair[1])
    return pair


def _what(value: Any) -> str:
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    return f"the {'class' if isinstance(value, type) else 'object'} {name}"


def _numbers(scenario: Scenario) -> dict[str, Array]:
    """Copies of the arrays of a problem and its parameters."""
    parts = {
        "f": vars(scenario.problem.f),
        "g": vars(scenario.problem.g) if scenario.problem.g is not None else {},
        "params": scenario.params._asdict(),
    }
    found = {f"{part}.{name}": v for part, own in parts.items() for name, v in own.items() if not name.startswith("_")}
    return {name: value.copy() for name, value in found.items() if isinstance(value, np.ndarray)}


def _steps(setup: Setup) -> Findings:
    try:
        start = _start(setup)
        if isinstance(start, Failure):
            return Findings((start,), ("the initial state",), {})
        found = _with_draws(setup) if setup.implementation.draws else _with_generator(setup)
        return found._replace(notes=elsewhere_begun(start) + found.notes)
    except BadAnswer as broken:
        return Findings((interface(setup, broken),), ("the interface",), {})


def _start(setup: Setup) -> OtherStart | Failure | None:
    """The start of the method that the implementation's initial states are, None for the reference's own; the failure
    of states that are none."""
    if setup.implementation.init is None:
        return None
    due = _begins(setup, None)
    others = algorithms.starts_of(setup.algorithm) if due is not None else ()
    return next((other for other in others if _begins(setup, other) is None), due)


def _begins(setup: Setup, other: OtherStart | None) -> Failure | None:
    """The failure of an initial state that is not that of the reference, or of another start; or None."""
    own = setup.implementation
    for scenario in setup.scenarios:
        begun = matching.begun(setup.algorithm, other, scenario.problem, scenario.params)
        if begun is None:
            continue
        got = own.read(own.start(scenario.problem, scenario.params), begun.first)
        fitting = np.ones(len(begun.weights), dtype=bool)
        for letter, a, b in zip(own.names, got, begun.states, strict=True):
            axes = tuple(range(1, b.ndim))
            size = np.maximum(abs(b).max(axis=axes, initial=0), 1.0)
            fitting &= abs(a - b).max(axis=axes, initial=0) <= setup.tolerance * size
            if not fitting.any():
                mine, due = distinguishable(a, b[0])
                text = f"{letter}^0 is {mine}, the method starts at {due} ({scenario.text})"
                return Failure(_step_id(setup), f"init, {letter}", text, setup.call)
    return None


def _step_id(setup: Setup) -> str:
    return f"reference/{setup.algorithm.name}/step"


# Steps with the reference's draws


def _with_draws(setup: Setup) -> Findings:
    own = setup.implementation
    found = Observations([], [], [])
    notes: list[str] = []
    longest = long_one(setup.scenarios)
    for number, scenario in enumerate(setup.scenarios):
        problem, params = scenario.problem, scenario.params
        rng = np.random.default_rng([setup.seed, 10, number])
        elsewhere = found.enough
        try:
            template = own.start(problem, params) if own.init is not None else None
            for state in scenario.states:
                for draw in _some_draws(setup, scenario, state, rng, 1 if elsewhere else _DRAWS):
                    after = own.stepped(problem, params, own.handed(state, template), draw)
                    compare(setup, Transition(scenario, state, draw, own.read(after, state)), found)
            rounds = _LONG if scenario is longest and not elsewhere else _ROUNDS
            _trajectory(setup, scenario, rng, found, rounds)
        except BadAnswer as asked:
            notes += _asked(scenario, asked, elsewhere)
    checked = [
        f"{counted(len(found.cases), 'step')} on {counted(len(setup.scenarios), 'problem')}, with the reference's "
        f"draws; a run of {_LONG}"
    ]
    detects = {"a step off by, relative to its numbers": setup.tolerance, **reach(setup.scenarios, _LONG)}
    if found.wrong:
        return Findings((departs(setup, found),), tuple(checked), detects, tuple(notes))
    broken, names = claimed.exactly(setup.algorithm, own, setup.scenarios, setup.call, setup.tolerance)
    if names:
        checked.append(f"at the worst states: {', '.join(names)}")
    return Findings(broken, tuple(checked), detects, tuple(notes))


def _asked(scenario: Scenario, broken: BadAnswer, elsewhere: bool) -> tuple[str, ...]:
    """The note of an answer that is missing; raises it if it is a failure, and none was found ``elsewhere`` before."""
    if elsewhere:
        return ()
    if isinstance(broken, Unanswered):
        return unanswered(scenario, broken)
    raise broken


def _some_draws(setup: Setup, scenario: Scenario, state: Any, rng: np.random.Generator, most: int) -> Iterable[Any]:
    draws, p, _ = matching.enumerated(setup.algorithm, scenario.problem, scenario.params, state, LARGEST_SUPPORT, rng)
    chosen = np.arange(len(p)) if len(p) <= most else rng.choice(len(p), most, replace=False)
    return [draw_at(draws, int(k)) for k in chosen]


def _trajectory(setup: Setup, scenario: Scenario, rng: np.random.Generator, found: Observations, rounds: int) -> None:
    """Rounds in which the implementation keeps its own states, with all that they may hold."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    like = setup.algorithm.init(problem, params)
    state = own.start(problem, params)
    before = own.read(state, like)
    path = Run(scenario, [])
    for t in range(rounds):
        now = later(setup.algorithm, scenario, t)
        draw = setup.algorithm.draws(problem, now.params, before).sample(rng, ())
        state = own.stepped(problem, now.params, state, draw)
        after = own.read(state, like)
        if t < _ROUNDS:
            path.seen.append(after._asdict())
        if compare(setup, Transition(now, before, draw, after), found).mismatch is not None and t >= _ROUNDS:
            break
        before = after
    found.paths.append(path)


def compare(setup: Setup, case: Transition, found: Observations) -> matching.Matched:
    """How the reference explains a transition, which is added to what was seen; one in which the reference itself
    overflows, as at the end of a run that diverges, compares with nothing."""
    matched = explained_by(setup, setup.algorithm, case)
    if matched.mismatch is not None and _overflows(matched.mismatch.expected):
        return matched
    found.cases.append(case)
    if matched.mismatch is not None:
        found.wrong.append((case, matched.mismatch))
    return matched


def _overflows(state: Any) -> bool:
    return not all(np.isfinite(np.asarray(part, dtype=float)).all() for part in state)


# Steps with draws of the implementation's own


def _with_generator(setup: Setup) -> Findings:
    own = setup.implementation
    chosen = usable(setup)
    longest = long_one(chosen)
    found = Observations([], [], [])
    failures: list[Failure] = []
    notes: list[str] = []
    worst = 0.0
    for number, scenario in enumerate(chosen):
        elsewhere = found.enough
        many = _ELSEWHERE if elsewhere else (_STEPS_BEYOND if scenario.role else _STEPS)
        rounds = _LONG_DRAWN if scenario is longest and not elsewhere else 3 * _ROUNDS
        try:
            seen, defect = _own_draws(setup, scenario, number, setup.level / len(chosen) / 2, found, many, rounds)
        except BadAnswer as asked:
            notes += _asked(scenario, asked, elsewhere)
            continue
        failures += seen
        worst = worst if scenario.role else max(worst, defect)
        if failures:
            break
    checked = [
        f"{counted(len(found.cases), 'step')} on {counted(len(chosen), 'problem')}, {_LONG_DRAWN} of them a run, each "
        "explained by a draw, how often each draw occurs, and dependence between draws"
    ]
    detects = {"a step off by, relative to its numbers": setup.tolerance}
    # Of steps that none of the draws explains nothing is counted.
    detects |= {"probability of a draw off by": worst} if worst else {}
    detects |= reach(chosen, _LONG_DRAWN)
    if found.wrong:
        return Findings((departs(setup, found),), tuple(checked), detects, tuple(notes))
    if failures:
        return Findings(tuple(failures[:1]), tuple(checked), detects, tuple(notes))
    broken, names, excess = claimed.sampled(setup.algorithm, own, chosen, setup.call, setup.level / 2, setup.seed)
    if names:
        checked.append(f"expected decrease by sampled steps: {', '.join(names)}")
        detects |= {"expected decrease exceeded by, of its size": excess}
    return Findings(broken, tuple(checked), detects, tuple(notes))


def _own_draws(
    setup: Setup, scenario: Scenario, number: int, level: float, found: Observations, many: int, rounds: int
) -> tuple[list[Failure], float]:
    """So many steps from one state, fewer from others, then a run of its own; the failure of their draws, if any."""
    own, problem, params = setup.implementation, scenario.problem, scenario.params
    rng = np.random.default_rng([setup.seed, 11, number])
    template = own.start(problem, params) if own.init is not None else None
    draws, p, _ = matching.enumerated(setup.algorithm, problem, params, scenario.states[0], LARGEST_BEYOND, rng)
    weights: list[Array] = []

    def explained(target: _Target, got: Any) -> bool:
        case = Transition(target.scenario, target.state, None, got)
        found.cases.append(case)
        matched = target.match(got, setup.tolerance)
        if matched.mismatch is not None:
            found.wrong.append((case, matched.mismatch))
            return False
        assert matched.weights is not None
        weights.append(matched.weights)
        return True

    # Fewer where draws are counted too; the one far away among them.
    states = (*scenario.states[:4], *scenario.states[4:][-1:]) if scenario.support > 1 else scenario.states
    for i, state in enumerate(states):
        target = _Target(setup.algorithm, scenario, state, draws, p)
        repeats = 4 if scenario.support == 1 else many // (8 if i else 1)
        for _ in range(repeats):
            explained(target, own.read(own.stepped(problem, params, own.handed(state, template), rng), state))
            if found.enough and many > _ELSEWHERE:
                break
    like = setup.algorithm.init(problem, params)
    current = own.start(problem, params)
    before = own.read(current, like)
    path = Run(scenario, [])
    for t in range(rounds):
        now = later(setup.algorithm, scenario, t)
        current = own.stepped(problem, now.params, current, rng)
        got = own.read(current, like)
        if t < _ROUNDS:
            path.seen.append(got._asdict())
        if not explained(_Target(setup.algorithm, now, before, draws, p), got) and t >= _ROUNDS:
            break
        before = got
    found.paths.append(path)
    if found.wrong:
        return [], 0.0
    failures, defect = often(setup, scenario, draws, p, weights, level / 2)
    return failures or dependent(setup, scenario, draws, p, weights, level / 2), defect


class _Target:
    """The states that the reference can reach from one state, for the draws ``(K, ...)``."""

    def __init__(self, algorithm: Algorithm, scenario: Scenario, state: Any, draws: Any, p: Array) -> None:
        problem, params = scenario.problem, scenario.params
        after = matching.advanced(algorithm, problem, params, matching.stacked(state), draws)
        self.scenario, self.state, self.draws, self.p = scenario, state, draws, p
        self.after = type(after)(*(f[0] for f in after))
        self.scale = matching.sizes(algorithm, problem, params, state, draws)

    def match(self, got: Any, tolerance: float) -> matching.Matched:
        return matching.match(self.after, self.p, self.draws, got._asdict(), self.scale, tolerance)
