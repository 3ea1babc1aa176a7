"""Report an implementation that departs from the reference: the line, the slip, the smallest problem.

An implementation that agrees with a slip in everything that was seen, on every problem, gets it as a hint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, TypeVar

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves, support_of
from verify.conformance import claimed, matching, series
from verify.conformance.matching import Mismatch, Tracked
from verify.conformance.references import line
from verify.conformance.report import Failure, rounding_of
from verify.conformance.scenarios import Scenario, distinguishable, shown
from verify.conformance.seen import Letters, Observations, Run, Setup, Transition
from verify.conformance.slips import Slip, diagnose, read_by

_Seen = TypeVar("_Seen")

# Transitions on each problem that an explanation has to cover: so many that depart, and so many that do not.
_EXPLAINED = 6
# Runs on each problem that it has to cover, likewise.
_FOLLOWED = 3
# Departures that are examined for clients drawn twice: at least so many, if there are, and less than twice as many.
_REPEATED = 6
# Steps, or runs, that may all make the same draws by chance if they are fewer.
_ENOUGH = 8
# One draw explains all steps if it is possible in each, and so likely on average: some steps may not tell draws apart.
_ALWAYS = 0.9
# A run departs early if it does within so many rounds, or within the first quarter of its rounds.
_SOON = 3
# Runs are compared up to the first number of this size: squares of larger ones may overflow.
_HUGE = 1e150


def _replaced(setup: Setup, cases: Sequence[tuple[Scenario, Any, Mismatch]], tol: float) -> Slip | None:
    """The slip of participants that are drawn with replacement, where it explains every departure that can tell."""
    drawn, thrice = [], 0
    for scenario, state, mismatch in cases[:: max(1, len(cases) // _REPEATED)]:
        picks = _drawn_twice(setup.algorithm, scenario, state, mismatch, tol)
        if picks is None and scenario.params.tau == 2:
            return None
        # A third draw of the same client is not examined.
        thrice += picks is None
        drawn += [picks] if picks else []
    several = [set(picks) for picks in drawn if len(picks) > 2]
    if len(drawn) <= thrice or (several and all(len(clients) == 1 for clients in several)):
        # A median is always one client's model, which three picks in a row hardly are.
        return None
    clients = ", ".join(map(str, drawn[0]))
    text = f"participants are drawn with replacement: the model is the mean over the clients {clients}"
    return Slip(text, setup.algorithm, "")


def _drawn_twice(
    algorithm: Algorithm, scenario: Scenario, state: Any, mismatch: Mismatch, tol: float
) -> tuple[int, ...] | None:
    """Clients, one of them twice, whose mean the model is; None if there are none, empty if that cannot be decided."""
    problem, params, seen = scenario.problem, scenario.params, mismatch.seen
    tau, letter = getattr(params, "tau", None), algorithm.State._fields[0]
    draws = algorithm.draws(problem, params, state)
    single = getattr(getattr(draws, "make", None), "_fields", ())
    if "clients" not in single or letter not in seen or not isinstance(tau, int) or not 2 <= tau <= 6 or problem.n > 8:
        return ()
    alone = params._replace(tau=1)
    one, _ = support_of(algorithm.draws(problem, alone, state))
    after = matching.advanced(algorithm, problem, alone, matching.stacked(state), one)
    models, clients = getattr(after, letter)[0], one.clients.argmax(axis=1)
    again = _again(algorithm, problem, alone, state, after, one)
    counts = getattr(params, "counts", None)
    weights = np.ones(problem.n) if counts is None else np.asarray(counts, dtype=float)
    size = max(float(abs(models).max(initial=0)), 1e-300)
    for picks in combinations_with_replacement(range(len(models)), tau):
        if len(set(picks)) < tau:
            w = weights[clients[list(picks)]][:, None]
            visits = [again[i] if i in picks[:t] else models[i] for t, i in enumerate(picks)]
            means = [(w * np.array(m)).sum(axis=0) / w.sum() for m in (models[list(picks)], visits)]
            if any(abs(mean - seen[letter]).max(initial=0) <= max(tol, 1e-9) * size for mean in means):
                return tuple(int(clients[i]) for i in picks)
    return None


def _again(algorithm: Algorithm, problem: Problem, alone: Any, state: Any, after: Any, one: Any) -> Array:
    """The models ``(n, d)`` of clients that are visited a second time, with what they kept of the first."""
    found = []
    for i in range(len(one.clients)):
        own = {name: value[0, i] for name, value in zip(state._fields, after, strict=True) if value.ndim == 4}
        second = map_leaves(lambda a, i=i: a[i : i + 1], one)
        later = matching.advanced(algorithm, problem, alone, matching.stacked(state._replace(**own)), second)
        found.append(later[0][0, 0])
    return np.array(found)


def often(
    setup: Setup, scenario: Scenario, draws: Any, p: Array, weights: Sequence[Array], level: float, rounds: int = 1
) -> tuple[list[Failure], float]:
    """The failure of draws that do not occur as often as they should; ``rounds``: of each of the runs, one after
    another, that made them."""
    found = matching.frequencies(draws, p, weights, level)
    if not found.wrong:
        return [], found.defect
    more = f"; {len(found.wrong) - 1} more such" if len(found.wrong) > 1 else ""
    reason = _reason(weights, rounds, draws)
    text = f"{reason}{found.wrong[0]} in {found.samples} steps (level {level:.1g}){more}; {scenario.text}"
    failure = Failure(f"reference/{setup.algorithm.name}/draws", "the draws of a step", text, setup.call)
    return [failure], found.defect


def dependent(
    setup: Setup, scenario: Scenario, draws: Any, p: Array, weights: Sequence[Array], level: float
) -> list[Failure]:
    """The failure of draws, in the order in which they were made, that are not independent."""
    dependence = series.apart(series.of_weights(draws, p, weights), level) if len(weights) and len(p) > 1 else ""
    if not dependence:
        return []
    text = f"draws are not independent of earlier ones ({dependence}, level {level:.1g}); {scenario.text}"
    return [Failure(f"reference/{setup.algorithm.name}/draws", "the draws of a step", text, setup.call)]


def _reason(weights: Sequence[Array], rounds: int, draws: Any) -> str:
    """Return in words what frequencies that are off suggest."""
    rows = np.stack(weights)
    if len(rows) >= _ENOUGH and ((rows > 0).all(axis=0) & (rows.mean(axis=0) > _ALWAYS)).any():
        return (
            "every step makes the same draw (a generator seeded anew at every call, one that is not used, or draws "
            "that are never made): "
        )
    if rounds > 1 and len(rows) >= _ENOUGH * rounds and len(rows) % rounds == 0:
        # The draws that are possible in a round of all runs.
        common = np.all(rows.reshape(-1, rounds, rows.shape[1]) > 0, axis=0)
        if np.all(np.any(common, axis=1)):
            which = ", ".join(matching.words(map_leaves(lambda a, k=k: a[k], draws)) for k in common.argmax(axis=1))
            return (
                f"all runs make the same draws in the same rounds, {which} (a schedule in place of draws, such as one "
                "round in so many, or a generator seeded anew in every run): "
            )
    return "draws are not distributed as in the method (shared between clients, or with another probability): "


def missed(followed: Iterable[tuple[Run, Tracked]]) -> list[tuple[Run, Tracked]]:
    """The runs that no draws explain."""
    return [(path, tracked) for path, tracked in followed if tracked.mismatch is not None and tracked.complete]


def lost(setup: Setup, followed: Sequence[tuple[Run, Tracked]]) -> tuple[Failure, bool]:
    """The failure of runs that no draws explain, of those that were followed on all problems; and True if a slip
    explains them."""
    wrong = missed(followed)
    path, tracked = min(wrong, key=lambda pair: (*pair[0].scenario.size, len(pair[1].weights)))
    assert tracked.mismatch is not None
    right = [path for path, tracked in followed if tracked.mismatch is None]
    amiss = list(_of_each([p for p, _ in wrong], _FOLLOWED))
    others = list(_of_each(right, _FOLLOWED))

    def agrees(other: Algorithm) -> bool:
        return _agrees(lambda run: _follows(setup, other, run), amiss, others)

    # Only at the beginning of a run is the state before known whole.
    early = [(p.scenario, t.state, t.mismatch) for p, t in wrong if t.mismatch is not None and t.mismatch.round == 1]
    read = _read(setup, [p.scenario for p, _ in wrong])
    slip = diagnose(setup.algorithm, agrees, read, _begun_at_zero(setup, path)) or _replaced(
        setup, early or [(path.scenario, tracked.state, tracked.mismatch)], max(1e-7, 2 * setup.tolerance)
    )
    departing = [(p.scenario, t.mismatch) for p, t in wrong if t.mismatch is not None]
    soon = [t for p, t in wrong if len(t.weights) < max(_SOON, len(p.seen) // 4)]
    usual = 2 * len(soon) >= len(followed)
    return _reported_failure(setup, path.scenario, tracked.mismatch, slip, None, departing, usual), slip is not None


def _begun_at_zero(setup: Setup, run: Run) -> Iterator[Slip]:
    """Yield the slips of letters that begin at 0, and not where the method has them: those that a run does not show,
    all of them or one."""
    start = setup.algorithm.init(run.scenario.problem, run.scenario.params)
    hidden = [name for name in start._fields if name not in run.seen[0] and np.any(getattr(start, name) != 0)]
    for names in dict.fromkeys([tuple(hidden), *((name,) for name in hidden)] if hidden else []):

        def init(problem: Any, params: Any, names: tuple[str, ...] = names) -> Any:
            own = setup.algorithm.init(problem, params)
            return own._replace(**{name: 0 * getattr(own, name) for name in names})

        zero = ", ".join(f"{name}^0 = 0" for name in names)
        due = ", ".join(f"{name}^0 = {shown(np.asarray(getattr(start, name), dtype=float))}" for name in names)
        yield Slip(f"the run begins at {zero}, the method at {due}", replace(setup.algorithm, init=init), names[0])


def _agrees(explains: Callable[[_Seen], bool | None], amiss: Sequence[_Seen], others: Sequence[_Seen]) -> bool:
    """Return True if a hypothesis explains at least one case that is amiss, contradicts none, and explains all other
    cases.
    """
    explained = False
    for seen in amiss:
        found = explains(seen)
        if found is False:
            return False
        explained = explained or found is True
    return explained and not any(explains(seen) is False for seen in others)


def _follows(setup: Setup, other: Algorithm, run: Run) -> bool | None:
    """Return True if an algorithm, from its own initial state, explains a run; None if it has too many draws, or if the
    run has no finite values.
    """
    problem, params = run.scenario.problem, run.scenario.params
    # A slip may be that of another start.
    start = matching.begun(other, setup.start if other.init is setup.algorithm.init else None, problem, params)
    seen = _finite(run.seen)
    if start is None or not seen:
        return None
    rng = np.random.default_rng(setup.seed)
    draws, p, complete = matching.enumerated(other, problem, params, start.first, setup.largest, rng)
    if not complete:
        return None
    return matching.track(other, problem, params, start, seen, draws, p, setup.tolerance).mismatch is None


def _finite(seen: Letters) -> Letters:
    """A run up to where its numbers overflow, which compare with nothing."""
    ends = (t for t, letters in enumerate(seen) if not all((abs(v) < _HUGE).all() for v in letters.values()))
    return seen[: next(ends, len(seen))]


def departs(setup: Setup, found: Observations) -> Failure:
    """The failure of steps that differ from the reference's, at the smallest problem where they do."""
    case, mismatch = min(found.wrong, key=lambda pair: (*pair[0].scenario.size, _complexity(pair[0].before)))
    wrong = [c for c, _ in found.wrong]
    these = set(map(id, wrong))
    right = [c for c in found.cases if id(c) not in these]
    amiss, others = list(_of_each(wrong, _EXPLAINED)), list(_of_each(right, _EXPLAINED))

    def agrees(other: Algorithm) -> bool:
        if other.State is setup.algorithm.State:
            return _agrees(lambda c: _explains(setup, other, c), amiss, others)
        # Other entries of such states are known along runs only.
        return _agrees(lambda run: _follows(setup, other, run), found.paths, ())

    slip = diagnose(setup.algorithm, agrees, _read(setup, [c.scenario for c in wrong]))
    if slip is None and case.draw is None:
        slip = _replaced(setup, [(c.scenario, c.before, m) for c, m in found.wrong], setup.tolerance)
    departing = [(c.scenario, m) for c, m in found.wrong]
    return _reported_failure(setup, case.scenario, mismatch, slip, case, departing, 2 * len(wrong) >= len(found.cases))


def _read(setup: Setup, departing: Iterable[Scenario]) -> set[str]:
    """The parameters that the reference reads wherever something departs, one of which may be taken for another."""
    distinct = {id(s): s for s in departing}.values()
    return read_by(setup.algorithm, ((s.problem, s.params, s.states[0]) for s in distinct))


def _explains(setup: Setup, other: Algorithm, case: Transition) -> bool | None:
    """Return True if an algorithm explains a transition; None if it has too many draws to try."""
    if case.draw is None:
        count = other.draws(case.scenario.problem, case.scenario.params, case.before).count
        if count is None or count > setup.largest:
            return None
    return explained_by(setup, other, case).mismatch is None


def _of_each(seen: Iterable[_Seen], most: int) -> Iterator[_Seen]:
    """Return this many of the observations on each problem, evenly spaced, with the first and the last."""
    grouped: dict[int, list[_Seen]] = {}
    for one in seen:
        grouped.setdefault(id(one.scenario), []).append(one)  # type: ignore[attr-defined]
    for own in grouped.values():
        for place in np.unique(np.linspace(0, len(own) - 1, min(most, len(own))).astype(int)):
            yield own[place]


def _only_at(setup: Setup, slip: Slip, departing: Sequence[Scenario]) -> str:
    """Why a slip that explains all that was seen may be another one: what was the same wherever it was seen."""
    if _recorded(setup):
        return " (with the parameters of the trace: others might tell more)"
    distinct = list({id(s): s for s in departing}.values())
    if len(distinct) == 1:
        return " (seen on one problem only)"
    usual = setup.algorithm.Params._field_defaults
    same = [
        f"{name} = {value}"
        for name, value in distinct[0].params._asdict().items()
        if (name == slip.of or (type(value) is int and usual.get(name) != value))
        and all(getattr(other.params, name) == value for other in distinct)
    ]
    return f" (seen at {', '.join(same)} only)" if same else ""


def _complexity(state: Any) -> float:
    """Zeros and small numbers are simpler."""
    return float(sum(np.count_nonzero(f) + abs(np.asarray(f)).sum() * 1e-3 for f in state))


def explained_by(setup: Setup, other: Algorithm, case: Transition) -> matching.Matched:
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


def _recorded(setup: Setup) -> bool:
    """Return True if the test is of a trace."""
    return setup.implementation.step is None and setup.implementation.run is None


def _rounded(setup: Setup, departing: Sequence[tuple[Scenario, Mismatch]]) -> str:
    """Return advice if all departures are as small as the rounding errors of float32; empty otherwise."""
    off = max(max(mismatch.off.values()) for _, mismatch in departing)
    if not 0 < off <= rounding_of("float32"):
        return ""
    enough = min(max(10.0 ** math.ceil(math.log10(30 * off)), 1e-6), 1e-4)
    if enough <= setup.tolerance:
        return ""
    option = f"--tolerance {enough:g}, or tolerance={enough:g}" if _recorded(setup) else f"tolerance={enough:g}"
    return f"its differences are as small as rounding errors of float32: if it computes in float32, pass {option}"


def _reported_failure(
    setup: Setup,
    scenario: Scenario,
    mismatch: Mismatch,
    slip: Slip | None,
    case: Transition | None,
    departing: Sequence[tuple[Scenario, Mismatch]],
    usual: bool,
) -> Failure:
    """The failure; ``usual``: whether more departs than not."""
    letter = mismatch.departing
    expected, got = (np.asarray(v) for v in (getattr(mismatch.expected, letter), mismatch.seen[letter]))
    others = [other for other in mismatch.letters if other != letter]
    at = f" after round {mismatch.round}" if mismatch.round else ""
    lines = [text for text in [_rounded(setup, departing)] if text and usual]
    lines += [] if slip is None else [slip.text + _only_at(setup, slip, [own for own, _ in departing])]
    if not np.isfinite(got).all():
        lines.append(f"{letter} is not finite")
    where = slip.letter if slip is not None and slip.letter else letter
    due_line = "it" if letter == where else f"`{line(setup.algorithm, letter)}`"
    mine, due = distinguishable(got, expected)
    lines.append(
        f"{letter} departs from {due_line}{at}: it is {mine}, the reference has {due}"
        f"{_ratio(got, expected, case, letter)}, off by {mismatch.off[letter]:.2g} of the numbers that it is "
        f"computed from{_drawn(mismatch, case)}"
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
    return Failure(claim, f"{where}, `{line(setup.algorithm, where)}`", "; ".join(lines), setup.call, data)


def _drawn(mismatch: Mismatch, case: Transition | None) -> str:
    words = matching.words(mismatch.draw)
    if not words:
        return ""
    return (
        f"; draw {words}" if case is not None and case.draw is not None else f"; no draw explains it, nearest {words}"
    )


def _ratio(got: Array, expected: Array, case: Transition | None, letter: str) -> str:
    """The factor by which the change of a letter is off, where it is one factor for all entries."""
    if case is None:
        return ""
    before = np.asarray(getattr(case.before, letter), dtype=float)
    mine, due = np.ravel(got - before), np.ravel(expected - before)
    big = abs(due) > 1e-9 * max(abs(due).max(initial=0), 1e-300)
    if not big.any() or abs(mine[~big]).max(initial=0) > 1e-9 * abs(due).max():
        return ""
    factors = mine[big] / due[big]
    if (
        not math.isfinite(factors[0])
        or abs(factors[0] - 1) < 1e-5
        or np.ptp(factors) > 1e-6 * max(1e-12, abs(factors).max())
    ):
        return ""
    return f" (its change is {factors[0]:.6g} times what it should be)"
