"""The claims of an algorithm, tested of an implementation: at worst states, exactly or by sampled steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.numbers.rational import Array, evaluate
from verify.base.case import Case
from verify.base.evaluate import sides
from verify.conformance.adapter import Implementation
from verify.conformance.report import Failure
from verify.conformance.scenarios import Scenario, claims_of, decreases, draw_at
from verify.search import spectral
from verify.statistics.e_process import Assumed, smallest_defect
from verify.statistics.sequential import Ruling, prepare, race

# Steps of an implementation that one worst state may take.
_AFFORDABLE = 4000
# Samples of an expected decrease.
_SAMPLES = 1500
#: Both sides of a claim are compared to this relative accuracy, at least.
_SLACK = 1e-7


def wrapped(own: Implementation) -> Algorithm:
    """An implementation with the reference's draws, as an algorithm whose step loops over the leading axes."""

    def step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
        like = own.algorithm.step(problem, params, state, draw)
        cores = _cores(own, problem, params)
        lead = np.broadcast_shapes(*(np.shape(f)[: np.ndim(f) - len(c)] for f, c in zip(like, cores, strict=True)))
        fields = [np.broadcast_to(np.asarray(f, dtype=float), (*lead, *c)) for f, c in zip(state, cores, strict=True)]
        after = [np.empty((*lead, *c)) for c in cores]
        template = own.start(problem, params) if own.init is not None else None
        for index in np.ndindex(*lead):
            before = type(state)(*(f[index] for f in fields))
            one = draw_at(draw, index[-1])
            got = own.read(own.stepped(problem, params, own.handed(before, template), one), before)
            for a, value in zip(after, got, strict=True):
                a[index] = value
        return type(state)(*after)

    return replace(own.algorithm, step=step)


def _cores(own: Implementation, problem: Any, params: Any) -> list[tuple[int, ...]]:
    return [np.shape(f) for f in own.algorithm.init(problem, params)]


def _about(algorithm: Algorithm, scenario: Scenario) -> Iterator[Claim]:
    """The claims whose instance a scenario is."""
    for claim in claims_of(algorithm):
        same = scenario.claim is not None and claim.setting is scenario.claim.setting
        if same and claim.statement.stepping:
            yield claim


def exactly(
    algorithm: Algorithm, own: Implementation, scenarios: Sequence[Scenario], call: str, tolerance: float
) -> tuple[tuple[Failure, ...], tuple[str, ...]]:
    """Failures of the claims at the worst states of the smallest instance that can be afforded; the claims tested."""
    names: list[str] = []
    failures: list[Failure] = []
    changed = wrapped(own)
    if algorithm.invariant is not None:
        names.append("invariant")
    for scenario in scenarios:
        instance = scenario.instance
        if instance is None or not instance.quadratic or scenario.problem.n < 2:
            continue
        points = (instance.dimension + 1) * (instance.dimension + 2)
        if points * scenario.support > _AFFORDABLE:
            continue
        for claim in _about(algorithm, scenario):
            if claim.id in names:
                continue
            # A start that moves the problem is another scenario.
            case = Case.of(claim, instance)
            if case.start(np.zeros((1, case.dimension)))[0] is not scenario.problem:
                continue
            try:
                found = _worst(claim, changed, scenario)
            except (ValueError, TypeError, AttributeError, ArithmeticError):
                continue
            names.append(claim.id)
            reference = _worst(claim, algorithm, scenario)
            if found > max(1.0, reference) + max(_SLACK, 100 * tolerance):
                text = f"the left side is {found:.6g} times the right side at the worst state ({scenario.text})"
                failures.append(Failure(claim.id, claim.gist, text, call))
    return tuple(failures), tuple(names)


def _worst(claim: Claim, algorithm: Algorithm, scenario: Scenario) -> float:
    """The largest ratio of the two sides after one step, over all states of an instance."""
    assert scenario.instance is not None
    case = Case.of(claim, scenario.instance)
    variant = case.with_claim(claim.variant(algorithm=algorithm))

    def both(theta: Array) -> tuple[Array, Array]:
        left, right = sides(variant, theta, 1)[0]
        return np.asarray(left, dtype=float), np.asarray(right, dtype=float)

    forms = spectral.forms(both, case.dimension)
    if forms is None:
        raise ValueError("the sides are not quadratic")
    return float(spectral.worst(*forms).ratio)


def broken_by(algorithm: Algorithm, slip: Algorithm | None, scenario: Scenario, case: Any) -> str:
    """The id of a claim that a departure violates: an invariant, a claim that fails with the slip, or the step."""
    if case is not None and algorithm.invariant is not None:
        problem, params = scenario.problem, scenario.params
        before, after = (
            np.asarray(algorithm.invariant(problem, params, s), dtype=float) for s in (case.before, case.after)
        )
        if abs(before).max(initial=0) < 1e-9 < 1e-6 < abs(after).max(initial=0):
            return invariant_id(algorithm)
    if slip is not None and algorithm.invariant is not None and slip.State is algorithm.State:
        problem, params, state = scenario.problem, scenario.params, scenario.states[len(scenario.states) // 2]
        drawn = slip.draws(problem, params, state).sample(np.random.default_rng(0), ())
        before, after = (
            np.asarray(algorithm.invariant(problem, params, s), dtype=float)
            for s in (state, slip.step(problem, params, state, drawn))
        )
        if abs(before).max(initial=0) < 1e-9 < 1e-6 < abs(after).max(initial=0):
            return invariant_id(algorithm)
    if slip is not None and slip.State is algorithm.State and scenario.instance is not None:
        for claim in _about(algorithm, scenario):
            try:
                if _worst(claim, slip, scenario) > max(1.0, _worst(claim, algorithm, scenario)) + 1e-6:
                    return claim.id
            except (ValueError, TypeError, AttributeError, ArithmeticError):
                continue
    return f"reference/{algorithm.name}/step"


def invariant_id(algorithm: Algorithm) -> str:
    """Id of the claim that the algorithm's invariant holds, or of the reference's own."""
    for claim in claims_of(algorithm):
        if claim.statement.residual is not None:
            return claim.id
    return f"reference/{algorithm.name}/invariant"


def sampled(
    algorithm: Algorithm, own: Implementation, scenarios: Sequence[Scenario], call: str, level: float, seed: int
) -> tuple[tuple[Failure, ...], tuple[str, ...], float]:
    """Failures of the expected decrease by steps with draws of the implementation's own, from random states."""
    chosen: list[tuple[Claim, Scenario]] = []
    for scenario in scenarios if algorithms.is_known(algorithm) else ():
        # Claims of users about methods of their own may be false.
        if scenario.problem.n > 1 and scenario.support > 1:
            known = {c.id for c, _ in chosen}
            chosen += [(c, scenario) for c in decreases(_about(algorithm, scenario)) if c.id not in known]
    failures: list[Failure] = []
    names: list[str] = []
    excess = 0.0
    for number, (claim, scenario) in enumerate(chosen):
        try:
            right, draw_left = _one_state(claim, own, scenario, np.random.default_rng([seed, 14, number]))
        except (ValueError, TypeError, AttributeError, ArithmeticError):
            continue
        if not (math.isfinite(right) and right > 0):
            continue
        share = level / len(chosen)
        plan = prepare([1.0], "<=", Assumed(0.0), share, _SAMPLES, math.inf, _SLACK)
        decision = race(plan, partial(_ratios, draw_left, right)).decisions[0]
        names.append(claim.id)
        assumed = Assumed(*(np.array([v]) for v in (0.0, math.inf, 1.0)))
        excess = max(excess, float(smallest_defect(np.ones(1), assumed, share, _SAMPLES)[0]))
        if decision is Ruling.ABOVE:
            text = f"the mean of sampled steps exceeds the right side at level {share:.1g} ({scenario.text})"
            failures.append(Failure(claim.id, claim.gist, text, call))
    return tuple(failures), tuple(names), excess


def _ratios(left: Callable[[], float], right: float, n: int) -> Array:
    return np.array([[left() / right] for _ in range(n)])


def _one_state(claim: Claim, own: Implementation, scenario: Scenario, rng: np.random.Generator) -> tuple[float, Any]:
    """The right side at a random state, and a function that samples the left side after a step from it."""
    statement, instance = claim.statement, scenario.instance
    ((lhs, _, rhs),) = statement.comparisons
    assert instance is not None
    case = Case.of(claim, instance)
    problem, state = case.start(rng.standard_normal((1, case.dimension)))
    one = type(state)(*(np.asarray(f, dtype=float)[0, 0] for f in state))
    template = own.start(problem, instance.params) if own.init is not None else None
    known = {q.expression: q.of(problem, instance.params, one) for q in statement.quantities if not q.after}
    values = {**claim.setting.bind(problem, instance.params), **known}
    right = float(np.asarray(evaluate(rhs, values)))

    def left() -> float:
        got = own.read(own.stepped(problem, instance.params, own.handed(one, template), rng), one)
        later = {q.expression: q.of(problem, instance.params, got) for q in statement.quantities if q.after}
        return float(np.asarray(evaluate(lhs, {**values, **later})))

    left()
    return right, left
