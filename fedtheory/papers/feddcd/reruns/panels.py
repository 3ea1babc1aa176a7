"""The tasks of FedDCD's figures: for each setup all methods, tuned, then run for every seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from fedtheory.experiments import GRID, Curve, Result, Span, Tuned, known, spent, tune
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd.reruns.dealing import IID, SKEWED, Data
from fedtheory.papers.feddcd.reruns.methods import Task, Trial, pose, trials
from fedtheory.papers.feddcd.reruns.names import (
    DUAL,
    EXCHANGES,
    LINEAR,
    LOOKED,
    METHODS,
    PERCEPTRON,
    PRIMAL,
    ROUNDS,
    SETUPS,
    advantage,
    after,
    rounds,
)

#: A method without settings to choose among has a grid twice as dense.
_DENSE = tuple(factor * half for factor in GRID for half in (1.0, math.sqrt(2)))
#: The first numbers of the seeds of draws that tune, and of those that are measured.
_TUNING, _MEASURED = 2, 1


class Ran(NamedTuple):
    """Gaps after 0, 1, ... rounds, and the last model of the server."""

    gaps: tuple[float, ...]
    x: Array

    def to(self, target: float) -> float:
        """Rounds to a target; infinite if it was not reached."""
        return next((float(k) for k, gap in enumerate(self.gaps) if gap <= target), math.inf)


def table(data: Data, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """A task for each setup of Table 2."""
    return {
        f"{model}, tau = {tau}, {target:g}": partial(_setup, data, (model, tau, target), seeds)
        for model, tau, target in SETUPS
    }


def skewed(data: Data, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """A task for each model, and for the dual methods on clients that are alike."""
    return {
        f"{model}, {split}": partial(_split, data, model, split, methods, seeds)
        for split, methods in ((SKEWED, METHODS), (IID, DUAL))
        for model in (LINEAR, PERCEPTRON)
    }


def _run(task: Task, trial: Trial, factor: float, draws: Sequence[int], target: float, most: int) -> Ran:
    """Rounds until the target is reached, or the method diverges."""
    gaps = [task.gap(task.start)]
    x = task.start
    with np.errstate(all="ignore"):
        for _, x in zip(range(most), trial(factor, np.random.default_rng(draws)), strict=False):
            gaps.append(task.gap(x))
            if gaps[-1] <= target or not gaps[-1] < 100 * gaps[0]:
                break
    return Ran(tuple(gaps), x)


def _tuned(task: Task, trial: Trial, target: float, most: int, grid: Sequence[float], least: float) -> Tuned:
    """The factor with the fewest rounds to the target, of those that do not come there the one with the least gap.

    ``least``: the least cost so far, of other settings. A run that is behind it is not gone on with, nor run again on
    other draws: its cost is known to be larger than the least, and no more is asked.
    """

    def cost(factor: float) -> float:
        nonlocal least
        worst, limit = 0.0, min(most, int(least)) if least < math.inf else most
        # One run may be fast at the edge of divergence: the worse of two counts.
        for k in range(2):
            ran = _run(task, trial, factor, [_TUNING, k], target, limit)
            found = ran.to(target)
            # The last gap of a method that diverged says nothing.
            short = 1e6 * (1 + ran.gaps[-1]) if len(ran.gaps) > limit else math.inf
            worst = max(worst, found if math.isfinite(found) else short)
            if worst > least:
                return worst
        least = worst
        return worst

    return tune(cost, grid)


def _best(task: Task, method: str, tau: int, target: float, most: int) -> tuple[str, Trial, Tuned]:
    """The setting of a method that served it best."""
    settings = trials(task, method, tau)
    grid = GRID if len(settings) > 1 else _DENSE
    found: list[tuple[float, str, Trial, Tuned]] = []
    for name, trial in settings.items():
        tuned = _tuned(task, trial, target, most, grid, min((cost for cost, *_ in found), default=math.inf))
        found.append((min(tuned.tried.values()), name, trial, tuned))
    return min(found, key=lambda setting: setting[0])[1:]


def _curve(panel: str, label: str, runs: Sequence[Ran]) -> Curve:
    """The medians, as far as all seeds went."""
    length = min(len(ran.gaps) for ran in runs)
    gaps = np.median([ran.gaps[:length] for ran in runs], axis=0)
    return Curve(panel, "rounds", "gap", label, tuple(map(float, range(length))), tuple(map(float, gaps)), "y")


def _note(where: str, method: str, setting: str, tuned: Tuned) -> str:
    return f"{where}: {method}{setting and f' with {setting}'}: {tuned}"


def _setup(data: Data, setup: tuple[str, int, float], seeds: tuple[int, ...]) -> Result:
    """A row of Table 2; with tau = 30 a panel of Figure 1 too."""
    model, tau, target = setup
    task = pose(data, model, IID)
    measured: dict[str, tuple[Span, ...]] = {}
    curves, notes = [], []
    for method in METHODS:
        setting, trial, tuned = _best(task, method, tau, target, ROUNDS)
        runs = [_run(task, trial, tuned.factor, [_MEASURED, seed], target, ROUNDS) for seed in seeds]
        costs = [ran.to(target) for ran in runs]
        measured[method] = spent(costs, ROUNDS)
        if method == DUAL[1]:
            measured[EXCHANGES] = spent([2 * cost for cost in costs], 2 * ROUNDS)
        curves.append(_curve(f"{model}, tau = {tau}, to {target:g}", method, runs))
        notes.append(_note(f"{model}, tau = {tau}, {target:g}", method, setting, tuned))
    numbers = {rounds(method, *setup): spans for method, spans in measured.items()}
    pairs = zip(_least(measured, DUAL), _least(measured, PRIMAL), strict=True)
    numbers[advantage(*setup)] = tuple(_ratio(dual, primal) for dual, primal in pairs)
    return Result(numbers, tuple(curves), tuple(notes))


def _least(measured: Mapping[str, tuple[Span, ...]], methods: Sequence[str]) -> list[Span]:
    seeds = zip(*(measured[method] for method in methods), strict=True)
    return [Span(min(s.low for s in spans), min(s.high for s in spans)) for spans in seeds]


def _ratio(left: Span, right: Span) -> Span:
    """Between what the two may be; rounds are 1 at least."""
    return Span(0.0 if math.isinf(right.high) else left.low / right.high, left.high / max(right.low, 1.0))


def _split(data: Data, model: str, split: str, methods: Sequence[str], seeds: tuple[int, ...]) -> Result:
    """A panel of Figure 2, and of Table 4: gaps and test errors with tau = 30."""
    task = pose(data, model, split)
    last, alike = LOOKED[-1], "gap, alike," if split == IID else "gap"
    numbers: dict[str, tuple[Span, ...]] = {}
    curves, notes = [], []
    for method in methods:
        setting, trial, tuned = _best(task, method, 30, -math.inf, last)
        runs = [_run(task, trial, tuned.factor, [_MEASURED, seed], -math.inf, last) for seed in seeds]
        for count in LOOKED:
            numbers[after(count, method, model, alike)] = tuple(_gap(ran, count) for ran in runs)
            if method == DUAL[1]:
                numbers[after(count, EXCHANGES, model, alike)] = tuple(_gap(ran, count // 2) for ran in runs)
        if split == SKEWED:
            errors = tuple(known(1 - task.accuracy(ran.x)) for ran in runs)
            numbers[after(last, method, model, "test error")] = errors
        curves.append(_curve(f"{model}, {split}", method, runs))
        notes.append(_note(f"{model}, {split}", method, setting, tuned))
    return Result(numbers, tuple(curves), tuple(notes))


def _gap(ran: Ran, count: int) -> Span:
    """After so many rounds; of a run that diverged infinite."""
    return known(ran.gaps[count]) if count < len(ran.gaps) else Span(math.inf, math.inf)
