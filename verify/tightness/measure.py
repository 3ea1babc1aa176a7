"""Measured runs: the algorithms on real data, with the theorems' parameters, beside the theorems' bounds.

The problem is logistic regression with L2 regularisation, split over the clients in equal parts. Only bounds on an
expectation are measured, so the mean over many seeds is what is compared, with its standard error.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fedtheory import claims, plugins
from fedtheory.algorithms import run
from fedtheory.claims import Claim
from fedtheory.data import Dataset, split
from fedtheory.numbers.rational import Array, evaluate
from fedtheory.numbers.symbols import T
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import Quantity
from verify.comparisons import samplers
from verify.tightness import exceedance

# A run ends when its bound has fallen by this factor, or when all that it may spend is spent.
_DECREASE = 1e-2


@dataclass(frozen=True)
class MeasureLimits:
    """The size of a measured run."""

    seeds: int = 20  # where so many are affordable
    fewest_seeds: int = 4  # of a run of all its rounds
    fewest_rounds: int = 10  # where even these are not affordable


_LIMITS = MeasureLimits()


@dataclass(frozen=True)
class MeasuredRun:
    """A run to measure: ``bounds`` of one algorithm on one problem, for ``seeds`` seeds at once.

    ``name`` of the algorithm; ``unit`` of its steps; ``setup``: the data, the problem and the parameters, a line each.
    """

    paper: str
    name: str
    bounds: tuple[Claim, ...]
    problem: Problem
    params: Any
    rounds: int
    seeds: int
    unit: str
    setup: tuple[str, ...]


@dataclass(frozen=True)
class MeasuredCurve:
    """One measured quantity ``(rounds+1, seeds)`` against its bound ``(rounds+1,)``; ``unit`` of the first axis.

    ``label`` is the quantity in words, ``symbol`` in mathematical notation.
    """

    claim: Claim
    label: str
    symbol: str
    unit: str
    measured: Array
    bound: Array

    @cached_property
    def ratio(self) -> Array:
        """Mean over the seeds, divided by the bound: ``(rounds+1,)``."""
        return self.measured.mean(axis=-1) / self.bound

    @property
    def worst(self) -> int:
        """The step with the largest ratio, the start apart: there some bounds are equalities by definition."""
        return 1 + int(np.argmax(self.ratio[1:]))

    @property
    def sentence(self) -> str:
        """The mean against the bound: the worst ratio, its standard error, and the last ratio."""
        seeds = self.measured.shape[1]
        error = self.measured[self.worst].std(ddof=1) / math.sqrt(seeds) / self.bound[self.worst]
        return (
            f"{self.label}: the mean of {seeds} seeds is at most {self.ratio[self.worst]:.3g} of the bound "
            f"{self.claim.id} ({self.unit} {self.worst}, standard error {round(error, 6):.1g}), "
            f"{self.ratio[-1]:.2g} at {self.unit} {len(self.bound) - 1}"
        )

    @property
    def verdict(self) -> str:
        """A sentence on whether the measured means exceed the bound, at the claim's share of the audit's
        error level.
        """
        return exceedance.exceedance(self.measured, self.bound, samplers.measured_level(self.claim)).sentence


@dataclass(frozen=True)
class Measurement:
    """The curves of an experiment."""

    experiment: MeasuredRun
    curves: tuple[MeasuredCurve, ...]


def measured() -> dict[str, tuple[str, str]]:
    """The bounds that are measured: what their left side is called, in words and in LaTeX, by the claims' ids."""
    return {id: called for paper in plugins.every().values() for id, called in paper.measured.items()}


def experiments(data: Dataset, clients: int, seed: int, bounds: Collection[str]) -> tuple[MeasuredRun, ...]:
    """Return the runs that measure the ``bounds``, ids from :func:`measured`; nothing long is computed yet.

    ``seed`` fixes the split. Raises ``ValueError`` unless 2 <= clients <= rows, and when no regularisation gives the
    condition number wanted.
    """
    if clients < 2:
        raise ValueError(f"the measured runs need at least 2 clients, got {clients}")
    A, b = split(data, clients, "equal", _generator(seed, "split"))
    source = f"{data.name}: {clients} clients with {A.shape[1]} of {data.rows} rows each, d = {data.d}"
    wanted = {
        paper.id: tuple(claims.get(id) for id in paper.measured if id in bounds) for paper in plugins.every().values()
    }
    return tuple(
        _experiment(paper, import_module(paper.run).run(A, b), source, wanted[paper.id])
        for paper in plugins.every().values()
        if wanted[paper.id]
    )


def measure(experiment: MeasuredRun, seed: int, tick: Callable[[], None] = lambda: None) -> Measurement:
    """Run an experiment. ``tick`` is called ``rounds + 1`` times as it goes."""
    problem, params = experiment.problem, experiment.params
    quantities, called = [_measured_quantity(claim) for claim in experiment.bounds], measured()

    def observe(state: Any) -> Array:
        tick()
        return np.stack([q.of(problem, params, state) for q in quantities])

    algorithm = experiment.bounds[0].statement.algorithm
    # One BLAS thread: sums then round alike on every number of cores.
    with threadpool_limits(limits=1):
        rng = _generator(seed, experiment.paper)
        observed = run(algorithm, problem, params, experiment.rounds, rng, observe, experiment.seeds)
        curves = tuple(
            MeasuredCurve(
                claim,
                *called[claim.id],
                experiment.unit,
                observed[:, i],
                bound_values(claim, problem, params, experiment.rounds),
            )
            for i, claim in enumerate(experiment.bounds)
        )
    return Measurement(experiment, curves)


def bound_values(claim: Claim, problem: Problem, params: Any, rounds: int) -> Array:
    """The right-hand side of a bound for T = 0, ..., ``rounds``, from the initial state printed: ``(rounds+1,)``."""
    statement = claim.statement
    start = statement.algorithm.init(problem, params)
    initial = {q.expression: q.of(problem, params, start) for q in statement.quantities if not q.after}
    values = {**claim.setting.bind(problem, params), **initial}
    (_, _, right), *_ = statement.comparisons
    return np.array([float(evaluate(right, {**values, T: t})) for t in range(rounds + 1)])


def _experiment(paper: plugins.Paper, run: plugins.Run, source: str, bounds: tuple[Claim, ...]) -> MeasuredRun:
    rounds, seeds = _size(bounds[0], run.problem, run.params, run.affordable / run.work)
    setup = (source, *run.setup)
    return MeasuredRun(paper.id, run.name, bounds, run.problem, run.params, rounds, seeds, run.unit, setup)


def _size(claim: Claim, problem: Problem, params: Any, affordable: float) -> tuple[int, int]:
    """Rounds for the bound to fall by ``_DECREASE``, and seeds; fewer of both where their product is unaffordable."""
    factor = float(evaluate(claim.statement.factor, claim.setting.bind(problem, params)))
    rounds = math.ceil(math.log(_DECREASE) / math.log(factor))
    seeds = min(_LIMITS.seeds, max(_LIMITS.fewest_seeds, int(affordable / rounds)))
    return max(_LIMITS.fewest_rounds, min(rounds, int(affordable / seeds))), seeds


def _measured_quantity(claim: Claim) -> Quantity:
    return next(q for q in claim.statement.quantities if q.after)


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
