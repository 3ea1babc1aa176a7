"""What is said of an implementation that departs from the reference: the line, the slip, the smallest problem.

Known slips come first, then every change of one place in the reference's source, as the self-test makes them. An
implementation that agrees with one of them in everything that was seen gets it as a hint.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.examples import StepFunction
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import map_leaves, support_of
from verify.base import changed_code
from verify.conformance import claimed, matching, series
from verify.conformance.matching import Mismatch, Tracked
from verify.conformance.report import Failure
from verify.conformance.scenarios import Scenario, shown, told_apart
from verify.conformance.seen import Letters, Observations, Setup, Transition


class Slip(NamedTuple):
    """``text``: what is done, in words; ``algorithm``: the reference with it; ``letter``: the first that departs."""

    text: str
    algorithm: Algorithm
    letter: str = ""


#: Whether an algorithm does what was seen.
Agrees = Callable[[Algorithm], bool]


def diagnose(algorithm: Algorithm, agrees: Agrees) -> Slip | None:
    """The first slip that agrees with what was seen, or None."""
    for slip in candidates(algorithm):
        # A changed reference may do anything.
        with np.errstate(all="ignore"):
            try:
                found = agrees(slip.algorithm)
            except Exception:
                continue
        if found:
            return slip
    return None


def candidates(algorithm: Algorithm) -> Iterator[Slip]:
    """What may have been done instead."""
    yield from slips(algorithm.name)
    yield from _changed(algorithm)


def slips(name: str) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    reference = algorithms.get(name)
    for text, letter, change in algorithms.slips_of(name):
        parts = change if isinstance(change, Mapping) else {"step": change}
        yield Slip(text, replace(reference, **parts), letter)
    for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
        if {"compressors", "compressor"} & set(reference.Params._fields):  # type: ignore[attr-defined]
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=_biased(reference.step, factor)))


class _Scaled(NamedTuple):
    """Compressors whose values are off by a factor."""

    own: Any
    factor: float

    def apply(self, draw: Any, x: Array) -> Array:
        return self.factor * self.own.apply(draw, x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)


def _biased(step: StepFunction, factor: float) -> StepFunction:
    """The step whose compressors' values are ``factor`` times what they should be."""

    def scaled(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        name = "compressors" if hasattr(params, "compressors") else "compressor"
        return step(problem, params._replace(**{name: _Scaled(getattr(params, name), factor)}), state, draw)

    return scaled


def _changed(algorithm: Algorithm) -> Iterator[Slip]:
    module = inspect.getmodule(algorithm.step)
    if module is None or not hasattr(module, "Params"):
        return
    fields = {"params": module.Params._fields, "state": module.State._fields}
    for change in changed_code.changes(module, ("step",), fields):
        after, before = _sides(change.text)
        text = _instead(after, before, module.__name__, change.function)
        yield Slip(text, replace(algorithm, step=change.namespace["step"]))
    yield from _called(algorithm)


def _called(algorithm: Algorithm) -> Iterator[Slip]:
    """Changes of the functions that a method takes from another one's module."""
    home = inspect.getmodule(algorithm.step)
    names = set(algorithm.step.__code__.co_names)
    for value in vars(home).values():
        name = getattr(value, "__name__", "")
        if inspect.ismodule(value) and name.startswith("fedtheory.algorithms.") and value is sys.modules.get(name):
            roots = tuple(n for n in names if inspect.isfunction(getattr(value, n, None)))
            for change in changed_code.changes(value, roots, {}):
                after, before = _sides(change.text)
                text = _instead(after, before, name, change.function)
                yield Slip(text, replace(algorithm, step=changed_code.rebound(algorithm.step, change.namespace, value)))


def _sides(text: str) -> Sequence[str]:
    after, _, before = text.partition(" for ")
    return after, before


def _instead(after: str, before: str, module: str, function: str) -> str:
    return f"it does what the reference does with `{after}` in place of `{before}` (in {module}.{function})"


def replaced(
    algorithm: Algorithm, problem: Problem, params: Any, state: Any, seen: Mapping[str, Array], tol: float
) -> Slip | None:
    """The slip of participants that are drawn with replacement, where some client drawn twice explains the model."""
    tau, letter = getattr(params, "tau", None), algorithm.State._fields[0]  # type: ignore[attr-defined]
    draws = algorithm.draws(problem, params, state)
    single = getattr(getattr(draws, "make", None), "_fields", ())
    if "clients" not in single or letter not in seen or not isinstance(tau, int) or not 2 <= tau <= 6 or problem.n > 8:
        return None
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
                twice = ", ".join(str(clients[i]) for i in picks)
                text = f"participants are drawn with replacement: the model is the mean over the clients {twice}"
                return Slip(text, algorithm, "")
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

    slip = diagnose(setup.algorithm, agrees) or replaced(
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


def departs(setup: Setup, found: Observations) -> Failure:
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

    slip = diagnose(setup.algorithm, agrees)
    if slip is None and case.draw is None:
        problem, params = case.scenario.problem, case.scenario.params
        slip = replaced(setup.algorithm, problem, params, case.before, mismatch.seen, setup.tolerance)
    return _told(setup, case.scenario, mismatch, slip, case)


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


def _told(setup: Setup, scenario: Scenario, mismatch: Mismatch, slip: Any, case: Transition | None) -> Failure:
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
    if not math.isfinite(factors[0]) or np.ptp(factors) > 1e-6 * max(1e-12, abs(factors).max()):
        return ""
    return f" (its change is {factors[0]:.6g} times what it should be)"
