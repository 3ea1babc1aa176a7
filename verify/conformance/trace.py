"""Test recorded runs, of code in any language, against the algorithm that they claim to follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array, Undefined, evaluate
from fedtheory.problems.base import Problem
from verify.base.plain import counted
from verify.conformance import matching
from verify.conformance.adapter import Implementation
from verify.conformance.algorithms import compare
from verify.conformance.claimed import invariant_id
from verify.conformance.departures import departs, dependent, lost, missed, often
from verify.conformance.matching import Begun, Tracked
from verify.conformance.report import Failure, Report, rounding_of
from verify.conformance.scenarios import Scenario, claims_of, decreases, later, shown
from verify.conformance.seen import Observations, Run, Setup, Transition, elsewhere_begun
from verify.conformance.series import MOST, check_moved, recorded
from verify.conformance.trace_file import Trace, load
from verify.statistics.e_process import Assumed, check_level, log_capital

# The largest number of draws of a step among which the one that was made is searched for.
_LARGEST = 5000
# Transitions that are compared in full.
_COMPARED = 400


def check_trace(name: str | Algorithm, path: Path, level: float = 1e-6, tolerance: float | None = None) -> Report:
    """Test a recorded run: the report of ``fedtheory check-trace``.

    Args:
        name: The name of an algorithm of this package, a method of a file ("FILE.py:NAME"), or an algorithm itself.
        path: The file, in the format of :mod:`verify.conformance.trace_file`.
        level: As in :func:`verify.conformance.algorithm`.
        tolerance: Relative errors that are rounding.

    Returns:
        The report.

    Raises:
        ValueError: For a file that holds no trace, and for levels and tolerances that are none.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from verify import conformance
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder) / "run.npz"
        ...     conformance.record("gradient-descent", file, rounds=3)
        ...     conformance.check_trace("gradient-descent", file).ok
        True
    """
    check_level(level)
    if tolerance is not None and not 0 <= tolerance < 1:
        raise ValueError(f"a tolerance is a relative error, from 0 to below 1, got {tolerance}")
    trace = load(name, path)
    tol = rounding_of("float64") if tolerance is None else tolerance
    first = trace.states[0][0] if trace.states else trace.algorithm.init(trace.problem, trace.params)
    count = trace.algorithm.draws(trace.problem, trace.params, first).count
    support = 10**9 if count is None else int(count)
    scenario = Scenario(trace.problem, trace.params, (first,), support=support)
    own = Implementation(trace.algorithm, None, None, None, False, "float64")
    call = f"fedtheory check-trace {name if isinstance(name, str) else name.name} {path}"
    setup = Setup(own, (scenario,), 0, level, tol, call, min(support, _LARGEST))
    with np.errstate(all="ignore"):
        try:
            found = _of_states(setup, trace) if trace.states else _of_iterates(setup, trace)
        except IndexError:
            raise ValueError("a draw of the trace names an example that does not exist") from None
    failures, checked, detects, notes = found
    if not failures and not all(map(math.isfinite, detects.values())):
        notes.append(
            "the run is too short for a wrong probability of a draw to be sure to be found: record more rounds"
        )
    return Report(f"the trace {path}", level, tol, tuple(failures), tuple(checked), detects, tuple(notes))


_Found = tuple[list[Failure], list[str], dict[str, float], list[str]]


def _of_states(setup: Setup, trace: Trace) -> _Found:
    checked: list[str] = []
    notes: list[str] = []
    detects: dict[str, float] = {"a step off by, relative to its numbers": setup.tolerance}
    failures = _finite(setup, trace) or _invariant(setup, trace, checked)
    scenario = setup.scenarios[0]
    steps = [
        Transition(
            later(setup.algorithm, scenario, t), run[t], None if trace.draws is None else trace.draws[r][t], run[t + 1]
        )
        for r, run in enumerate(trace.states)
        for t in range(len(run) - 1)
    ]
    if not failures or not failures[0].claim.startswith("interface"):
        if trace.draws is not None or scenario.support <= _LARGEST:
            departures, words = _transitions(setup, steps, detects)
            # The fault of a step says more than the invariant that it breaks.
            failures = departures or failures
            if not failures and scenario.support > 1:
                failures = (_recorded if trace.draws else _moved)(setup, steps, checked)
        else:
            departures, words = _determined(setup, steps)
            failures = failures or departures
            if not failures:
                before = len(checked)
                failures = _moved(setup, steps, checked)
                if len(checked) == before:
                    notes.append("which entries a step moves tells nothing of its draw: how draws occur is not tested")
            notes.append(
                "the draws of a step are too many to ask which of them was made: give the draws, or fewer clients"
            )
        checked.append(words)
    if not failures:
        failures += _decrease(setup, trace, checked, notes)
    return failures, checked, detects, notes


def _finite(setup: Setup, trace: Trace) -> list[Failure]:
    for r, run in enumerate(trace.states):
        for t, state in enumerate(run):
            for letter, value in zip(state._fields, state, strict=True):
                if not np.isfinite(value).all():
                    text = f"not finite from state {t} of run {r + 1} on"
                    return [Failure("interface/finite", f"state.{letter}", text, setup.call)]
    return []


def _invariant(setup: Setup, trace: Trace, checked: list[str]) -> list[Failure]:
    algorithm = setup.algorithm
    if algorithm.invariant is None:
        return []
    checked.append("the invariant in all states")
    for run in trace.states:
        for t, state in enumerate(run):
            residual = np.asarray(algorithm.invariant(trace.problem, trace.params, state), dtype=float)
            size = max(max(float(abs(np.asarray(f)).max(initial=0)) for f in s) for s in run[: t + 1])
            if abs(residual).max(initial=0) > 100 * setup.tolerance * max(size, 1e-300) * (t + 1):
                text = f"the invariant is off by {shown(residual)} in state {t}: {algorithm.invariant.__doc__}"
                return [Failure(invariant_id(algorithm), f"state {t}", " ".join(text.split()), setup.call)]
    return []


def _transitions(setup: Setup, steps: Sequence[Transition], detects: dict[str, float]) -> tuple[list[Failure], str]:
    """Each transition against the reference: by its draw, or by some draw."""
    seen = Observations([], [], [])
    weights: list[Array] = []
    # Large supports are dear: evenly spaced transitions, the first ones among them.
    tried = 1 if steps[0].draw is not None else min(setup.largest, setup.scenarios[0].support)
    many = max(1, len(steps) * tried // 200_000)
    chosen = [*steps[:8], *steps[8::many]]
    for case in chosen:
        matched = compare(setup, case, seen)
        if matched.weights is not None:
            weights.append(matched.weights)
        if seen.enough:
            break
    how = "by a draw" if steps[0].draw is None else "with its draw"
    why = f" (the first and every {many}th, as there are {tried} draws to try for each)" if many > 1 else ""
    if seen.enough:
        why = f" (no more, as {len(seen.wrong)} depart)"
    words = f"{len(seen.cases)} of {counted(len(steps), 'transition')}{why}, each explained {how}"
    if seen.wrong:
        return [departs(setup, seen)], words
    if steps[0].draw is not None or setup.scenarios[0].support == 1:
        return [], words
    scenario = setup.scenarios[0]
    rng = np.random.default_rng(0)
    draws, p, complete = matching.enumerated(
        setup.algorithm, scenario.problem, scenario.params, scenario.states[0], setup.largest, rng
    )
    if not complete:
        return [], words
    failures, defect = often(setup, scenario, draws, p, weights, setup.level / 8)
    failures = failures or dependent(setup, scenario, draws, p, weights, setup.level / 8)
    detects["probability of a draw off by"] = defect
    return failures, f"{words}, how often each draw occurs, and dependence between draws"


def _recorded(setup: Setup, steps: Sequence[Transition], checked: list[str]) -> list[Failure]:
    """The failure of draws that were recorded and are not such as the method makes."""
    problem, params = setup.scenarios[0].problem, setup.scenarios[0].params
    laws = [setup.algorithm.draws(problem, params, case.before) for case in steps[:MOST]]
    level = setup.level / 4
    checked.append(
        f"{counted(len(laws), 'draw')}: how they are distributed, dependence between clients and between draws"
    )
    wrong = recorded([case.draw for case in steps], laws, level, np.random.default_rng(0))
    return _not_drawn(setup, wrong, "draws are not those of the method")


def _moved(setup: Setup, steps: Sequence[Transition], checked: list[str]) -> list[Failure]:
    """The failure of steps whose draws are not known, but which move entries that the method's draws would not."""
    wrong, count = check_moved(setup, steps, setup.level / 4)
    if count:
        checked.append(
            f"which entries move, in {counted(count, 'transition')}: how often, for which clients, steps apart"
        )
    return _not_drawn(setup, wrong, "which entries a step moves is not as in the method")


def _not_drawn(setup: Setup, wrong: Sequence[str], subject: str) -> list[Failure]:
    if not wrong:
        return []
    more = f"; {len(wrong) - 1} more such" if len(wrong) > 1 else ""
    text = f"{subject}: {wrong[0]}, level {setup.level / 4:.1g}{more}"
    return [Failure(f"reference/{setup.algorithm.name}/draws", "the draws of a step", text, setup.call)]


def _determined(setup: Setup, steps: Sequence[Transition]) -> tuple[list[Failure], str]:
    """The letters that all draws agree on."""
    scenario, algorithm = setup.scenarios[0], setup.algorithm
    rng = np.random.default_rng(0)
    seen: set[str] = set()
    for case in steps[:_COMPARED]:
        problem, params = scenario.problem, scenario.params
        draws, p, _ = matching.enumerated(algorithm, problem, params, case.before, 0, rng)
        after = matching.advanced(algorithm, problem, params, matching.stacked(case.before), draws)
        flat = type(after)(*(f[0] for f in after))
        scale = matching.sizes(algorithm, problem, params, case.before, draws)
        spread = matching.distances(flat, {n: v[0] for n, v in flat._asdict().items()}, scale)
        fixed = {n: getattr(case.after, n) for n, gap in spread.items() if gap.max(initial=0) <= setup.tolerance}
        seen |= set(fixed)
        if fixed:
            matched = matching.match(flat, p, draws, fixed, scale, setup.tolerance)
            if matched.mismatch is not None:
                found = Observations([case], [(case, matched.mismatch)], [])
                return [departs(setup, found)], "the letters that all draws agree on"
    listed = ", ".join(sorted(seen)) or "none"
    return [], f"the letters that all draws agree on ({listed}), in {counted(min(len(steps), _COMPARED), 'transition')}"


def _decrease(setup: Setup, trace: Trace, checked: list[str], notes: list[str]) -> list[Failure]:
    """The expected decrease that the claims promise, by the capital of all transitions."""
    tested: list[tuple[Claim, Array]] = []
    for claim in decreases(_trusted(setup.algorithm)):
        try:
            if all(_holds(claim, i, trace) for i in range(len(claim.requires))):
                ratios = [_ratio(claim, trace, run[t], run[t + 1]) for run in trace.states for t in range(len(run) - 1)]
                tested.append((claim, np.array([v for v in ratios if math.isfinite(v)])))
            else:
                notes.append(f"{claim.id} is not tested: the parameters do not meet its hypotheses")
        except (ValueError, TypeError, AttributeError, ArithmeticError, Undefined) as error:
            notes.append(f"{claim.id} is not tested: {error}")
    failures = []
    for claim, ratio in tested:
        if not len(ratio):
            continue
        checked.append(f"expected decrease, {claim.id}, over {counted(len(ratio), 'transition')}")
        capital = max(
            float(log_capital(ratio[:k, None], np.ones(1) + 1e-7, Assumed(0.0))[0])
            for k in np.unique(np.geomspace(1, len(ratio), 40).astype(int))
        )
        if capital >= -math.log(setup.level / 2 / len(tested)):
            over = counted(len(ratio), "transition")
            text = f"left over right has mean {ratio.mean():.4g} over {over} (e-value e^{capital:.1f})"
            failures.append(Failure(claim.id, claim.gist, text, setup.call))
    return failures


def _trusted(algorithm: Algorithm) -> tuple[Claim, ...]:
    """The claims about an algorithm; none of anybody's own, which may be false."""
    return claims_of(algorithm) if algorithms.is_known(algorithm) else ()


def _holds(claim: Claim, i: int, trace: Trace) -> bool:
    """Return True if a hypothesis holds; at the boundary of its range, up to the rounding of the file's numbers."""
    hypothesis, values = claim.requires[i], claim.setting.bind(trace.problem, trace.params)
    if hypothesis.met is not None and not hypothesis.met(trace.problem, trace.params):
        return False
    return hypothesis.relation is None or _nearly(hypothesis.relation, values)


def _nearly(relation: Any, values: Mapping[Any, Any]) -> bool:
    if isinstance(relation, sympy.And):
        return all(_nearly(part, values) for part in relation.args)
    left, right = (float(evaluate(side, values)) for side in (relation.lhs, relation.rhs))
    slack = 1e-9 * (abs(left) + abs(right))
    return {
        "<=": left <= right + slack,
        "<": left < right,
        ">=": left >= right - slack,
        ">": left > right,
        "==": abs(left - right) <= slack,
    }[relation.rel_op]


def _ratio(claim: Claim, trace: Trace, before: Any, after: Any) -> float:
    """Left over right of one transition; NaN where the right side is only rounding."""
    ((lhs, _, rhs),) = claim.statement.comparisons
    values = dict(claim.setting.bind(trace.problem, trace.params))
    for q in claim.statement.quantities:
        values[q.expression] = float(np.asarray(q.of(trace.problem, trace.params, after if q.after else before)))
    left, right = (float(np.asarray(evaluate(side, values))) for side in (lhs, rhs))
    size = max(float((np.asarray(f) ** 2).sum()) for f in before)
    if left < -1e-12 * size:
        raise ValueError("its left side can be negative")
    return max(left, 0.0) / right if right > 1e-12 * size else math.nan


def _of_iterates(setup: Setup, trace: Trace) -> _Found:
    """Iterates alone: what hidden states explain them, and the bounds on the models' part of a Lyapunov function."""
    assert trace.iterates is not None
    checked: list[str] = []
    notes: list[str] = []
    failures: list[Failure] = []
    detects: dict[str, float] = {"an iterate off by, relative to its numbers": setup.tolerance}
    scenario = setup.scenarios[0]
    like = trace.algorithm.init(trace.problem, trace.params)
    letter = next(n for n, v in zip(like._fields, like, strict=True) if np.shape(v) == trace.iterates.shape[2:])
    if scenario.support <= _LARGEST:
        rng = np.random.default_rng(0)
        draws, p, _ = matching.enumerated(trace.algorithm, trace.problem, trace.params, like, setup.largest, rng)
        followed = _followed(setup, trace, letter, draws, p)
        for other in algorithms.starts_of(trace.algorithm) if missed(followed) else ():
            again = replace(setup, start=other)
            found = _followed(again, trace, letter, draws, p)
            if found and not missed(found):
                setup, followed = again, found
                notes += elsewhere_begun(other)
                break
        checked.append("each iterate explained by draws and the hidden states that they lead to")
        if missed(followed):
            return [lost(setup, followed)[0]], checked, {}, notes
        if not all(t.complete for _, t in followed):
            notes.append("too many hidden states to follow some run to its end")
        weights = [w for _, t in followed for w in t.weights]
        wrong, defect = often(setup, scenario, draws, p, weights, setup.level / 4)
        failures += wrong or dependent(setup, scenario, draws, p, weights, setup.level / 4)
        if scenario.support > 1:
            checked.append("how often each draw occurs, dependence of draws")
            detects["probability of a draw off by"] = defect
    else:
        notes.append("the draws of a step are too many to follow the hidden states: give the states")
    if not failures:
        failures += _bounds(setup, trace, letter, checked, notes)
    return failures, checked, detects, notes


def _followed(setup: Setup, trace: Trace, letter: str, draws: Any, p: Array) -> list[tuple[Run, Tracked]]:
    """The runs of a trace, followed from where they begin; none if that has too many draws."""
    followed = []
    for run in trace.iterates if trace.iterates is not None else ():
        start = _started(setup, trace, letter, run[0])
        if start is None:
            return []
        seen = [{letter: x} for x in run[1:]]
        tracked = matching.track(trace.algorithm, trace.problem, trace.params, start, seen, draws, p, setup.tolerance)
        followed.append((Run(setup.scenarios[0], seen), tracked))
    return followed


def _bounds(setup: Setup, trace: Trace, letter: str, checked: list[str], notes: list[str]) -> list[Failure]:
    """E Psi^t <= factor^t Psi^0 for the part of Psi that the models decide, by Markov's inequality."""
    algorithm, problem, params = trace.algorithm, trace.problem, trace.params
    assert trace.iterates is not None
    failures: list[Failure] = []
    fixed = algorithm.fixed_point(problem, params)
    usable = [c for c in decreases(_trusted(algorithm)) if c.statement.factor is not None]
    for claim in usable:
        try:
            if not all(_holds(claim, i, trace) for i in range(len(claim.requires))):
                notes.append(f"{claim.id} is not tested: the parameters do not meet its hypotheses")
                continue
            factor = float(evaluate(claim.statement.factor, claim.setting.bind(problem, params)))
            potential = next(q for q in claim.statement.quantities if not q.after)

            def part(x: Array, potential: Any = potential) -> float:
                state = type(fixed)(*(np.asarray(f, dtype=float) for f in fixed))._replace(**{letter: x})
                return float(np.asarray(potential.of(problem, params, state)))

            if not _separable(potential, problem, params, fixed, letter):
                notes.append(f"{claim.id} is not tested: its potential does not split into parts")
                continue
            ratios = []
            for run in trace.iterates:
                begun = _started(setup, trace, letter, run[0])
                assert begun is not None
                # The bound holds from each start.
                initial = float(np.asarray(potential.of(problem, params, begun.states)).max())
                ratios.append(np.mean([part(x) / (factor**t * initial) for t, x in enumerate(run[1:], 1)]))
        except (ValueError, TypeError, AttributeError, ArithmeticError, Undefined) as error:
            notes.append(f"{claim.id} is not tested: {error}")
            continue
        capital = float(log_capital(np.array(ratios)[:, None], np.ones(1) + 1e-7, Assumed(0.0))[0])
        single = math.log(max(float(np.mean(ratios)), 1e-300)) if len(ratios) == 1 else capital
        checked.append(f"{claim.id} along {len(ratios)} run(s), by the models' part of its potential")
        if max(capital, single) >= -math.log(setup.level / 4 / len(usable)):
            text = f"the models' part of the potential is on average {np.mean(ratios):.3g} times what is allowed"
            failures.append(Failure(claim.id, claim.gist, text, setup.call))
    return failures


def _separable(potential: Any, problem: Problem, params: Any, fixed: Any, letter: str) -> bool:
    """Return True if the potential is a function of this letter plus a nonnegative function of the others.

    Then its mixed differences vanish, here at random states.
    """
    rng = np.random.default_rng(0)
    still = type(fixed)(*(np.asarray(f, dtype=float) for f in fixed))

    def value(state: Any, x: Array) -> float:
        return float(np.asarray(potential.of(problem, params, state._replace(**{letter: x}))))

    for _ in range(8):
        state = type(fixed)(*(f + rng.standard_normal(f.shape) for f in still))
        x, centre = getattr(state, letter), getattr(still, letter)
        values = value(state, x), value(still, x), value(state, centre), value(still, centre)
        mixed = values[0] - values[1] - values[2] + values[3]
        if abs(mixed) > 1e-9 * max(map(abs, values)) or values[2] < values[3]:
            return False
    return True


def _started(setup: Setup, trace: Trace, letter: str, x: Array) -> Begun | None:
    """Where a run that starts at this model begins; None if that has too many draws."""
    algorithm, problem, params = trace.algorithm, trace.problem, trace.params
    try:
        return matching.begun(algorithm, setup.start, problem, params, **{letter: x})
    except TypeError:
        return Begun(matching.stacked(algorithm.init(problem, params)._replace(**{letter: x})), np.ones(1))
