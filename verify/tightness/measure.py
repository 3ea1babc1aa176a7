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
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fedtheory import claims
from fedtheory.algorithms import feddcd, locodl, run
from fedtheory.claims import Claim
from fedtheory.compressors import Family, rand_k
from fedtheory.data import Dataset, split
from fedtheory.kinds.bound import Bound
from fedtheory.numbers.rational import Array, evaluate
from fedtheory.numbers.symbols import T
from fedtheory.problems.base import Problem
from fedtheory.problems.logistic import Logistic, logistic_with_condition
from fedtheory.problems.quadratic import diagonal
from fedtheory.settings.relations import Quantity
from verify.comparisons import samplers, sampling

#: The bounds that are measured: what their left side is called.
MEASURED = {
    "feddcd/theorem-4.1/eq-3": ("dual gap", r"$G(y^t) - G(y^\star)$"),
    "feddcd/theorem-4.1/eq-4": ("squared primal distance", r"$\mathbb{E}_i\,\Vert w_i^t - w^\star\Vert^2$"),
    "locodl/theorem-3.1/eq-5": ("Lyapunov function", r"$\Psi^t$"),
}

# Condition numbers: a round of FedDCD solves n local problems, an iteration of LoCoDL takes n gradients.
_FEDDCD_KAPPA = 50
_LOCODL_KAPPA = 1000

# A run ends when its bound has fallen by this factor, or when this many multiplications are spent: on one core of
# 2020, under a minute for FedDCD and half a minute for LoCoDL.
_DECREASE = 1e-2
_FEDDCD_WORK, _LOCODL_WORK = 3e11, 1e11
_SEEDS, _FEWEST_SEEDS, _FEWEST_ROUNDS = 20, 4, 10


@dataclass(frozen=True)
class Experiment:
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
class Curve:
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
        """How the mean compares with the bound: the worst ratio, its standard error, and the last ratio."""
        seeds = self.measured.shape[1]
        error = self.measured[self.worst].std(ddof=1) / math.sqrt(seeds) / self.bound[self.worst]
        return (
            f"{self.label}: the mean of {seeds} seeds is at most {self.ratio[self.worst]:.3g} of the bound "
            f"{self.claim.id} ({self.unit} {self.worst}, standard error {round(error, 6):.1g}), "
            f"{self.ratio[-1]:.2g} at {self.unit} {len(self.bound) - 1}"
        )

    @property
    def verdict(self) -> str:
        """Whether the measured means exceed the bound, at the claim's share of the audit's error level."""
        return sampling.exceedance(self.measured, self.bound, samplers.measured_level(self.claim)).sentence


@dataclass(frozen=True)
class Measurement:
    """The curves of an experiment."""

    experiment: Experiment
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class _Remembering(Logistic):
    """Logistic losses that keep their last conjugate gradients: a step and all that is measured ask for the same."""

    @cached_property
    def _kept(self) -> dict[int, tuple[Array, Array]]:
        return {}

    def conjugate_gradient(self, y: Array) -> Array:
        found = self._kept.pop(id(y), None) or (y, super().conjugate_gradient(y))
        # The array is kept too, so that its id stays its own. Three: the points before and after, and the optimum.
        self._kept[id(y)] = found
        if len(self._kept) > 3:
            del self._kept[next(iter(self._kept))]
        return found[1]


def experiments(data: Dataset, clients: int, seed: int, bounds: Collection[str]) -> tuple[Experiment, ...]:
    """What to run to measure the ``bounds``, ids from ``MEASURED``; nothing long is computed yet.

    ``seed`` fixes the split. Raises ``ValueError`` unless 2 <= clients <= rows, and when no regularisation gives
    the condition number wanted.
    """
    if clients < 2:
        raise ValueError(f"the measured runs need at least 2 clients, got {clients}")
    A, b = split(data, clients, "equal", _generator(seed, "split"))
    source = f"{data.name}: {clients} clients with {A.shape[1]} of {data.rows} rows each, d = {data.d}"
    wanted = [claims.get(id) for id in MEASURED if id in bounds]
    makers = {"feddcd": _feddcd, "locodl": _locodl}
    return tuple(
        make(A, b, source, tuple(c for c in wanted if c.paper == paper))
        for paper, make in makers.items()
        if any(c.paper == paper for c in wanted)
    )


def measure(experiment: Experiment, seed: int, tick: Callable[[], None] = lambda: None) -> Measurement:
    """Run an experiment. ``tick`` is called ``rounds + 1`` times as it goes."""
    problem, params = experiment.problem, experiment.params
    quantities = [_measured_quantity(claim) for claim in experiment.bounds]

    def observe(state: Any) -> Array:
        tick()
        return np.stack([q.of(problem, params, state) for q in quantities])

    algorithm = _statement(experiment.bounds[0]).algorithm
    # One BLAS thread: sums then round alike on every number of cores.
    with threadpool_limits(limits=1):
        rng = _generator(seed, experiment.paper)
        observed = run(algorithm, problem, params, experiment.rounds, rng, observe, experiment.seeds)
        curves = tuple(
            Curve(
                claim,
                *MEASURED[claim.id],
                experiment.unit,
                observed[:, i],
                bound_values(claim, problem, params, experiment.rounds),
            )
            for i, claim in enumerate(experiment.bounds)
        )
    return Measurement(experiment, curves)


def bound_values(claim: Claim, problem: Problem, params: Any, rounds: int) -> Array:
    """The right-hand side of a bound for T = 0, ..., ``rounds``, from the initial state printed: ``(rounds+1,)``."""
    statement = _statement(claim)
    start = statement.algorithm.init(problem, params)
    initial = {q.expression: q.of(problem, params, start) for q in statement.quantities if not q.after}
    values = {**claim.setting.bind(problem, params), **initial}
    return np.array([float(evaluate(statement.bound, {**values, T: t})) for t in range(rounds + 1)])


def _feddcd(A: Array, b: Array, source: str, bounds: tuple[Claim, ...]) -> Experiment:
    f = logistic_with_condition(A, b, _FEDDCD_KAPPA)
    problem = Problem(_Remembering(f.A, f.b, f.mu))
    params = feddcd.theory(problem, tau=max(2, f.n // 2))
    # Newton's method on every client: about five Hessians and their factorisations a round.
    rounds, seeds = _size(bounds[0], problem, params, _FEDDCD_WORK / (5 * f.n * (f.m * f.d**2 + f.d**3)))
    return Experiment(
        "feddcd",
        "FedDCD, Algorithm 1",
        bounds,
        problem,
        params,
        rounds,
        seeds,
        "round",
        (
            source,
            f"f: logistic loss + (α/2)|w|², κ = β/α = {_FEDDCD_KAPPA}, α = {problem.mu:.3g}",
            f"as in Theorem 4.1: τ = {params.tau} of N = {f.n} clients a round, Λ = I/α, η = 1",
        ),
    )


def _locodl(A: Array, b: Array, source: str, bounds: tuple[Claim, ...]) -> Experiment:
    f = logistic_with_condition(A, b, _LOCODL_KAPPA)
    mu = float(f.mu[0])
    problem = Problem(f, diagonal(np.full((1, f.d), mu), np.zeros((1, f.d))))
    k = math.ceil(f.d / f.n)
    params = locodl.theory(problem, Family(rand_k(f.d, k), f.n))
    # A gradient multiplies by the data twice; the compression of n vectors costs about as much as ten rows each.
    rounds, seeds = _size(bounds[0], problem, params, _LOCODL_WORK / (2 * f.n * (f.m + 10) * f.d))
    return Experiment(
        "locodl",
        "LoCoDL, Algorithm 1",
        bounds,
        problem,
        params,
        rounds,
        seeds,
        "iteration",
        (
            source,
            f"f: logistic loss + (μ/2)|x|², g = (μ/2)|x|², κ = L/μ = {_LOCODL_KAPPA}, μ = {mu:.3g}",
            f"as in Theorem 3.1, eqs. (6), (8): independent rand-{k}, ω = {params.omega:.3g}, p = {params.p:.3g}, "
            f"γ = {params.gamma:.3g}, ρ = χ = {params.rho:.3g}",
        ),
    )


def _size(claim: Claim, problem: Problem, params: Any, affordable: float) -> tuple[int, int]:
    """Rounds for the bound to fall by ``_DECREASE``, and seeds; fewer of both where their product is unaffordable."""
    factor = float(evaluate(_statement(claim).factor, claim.setting.bind(problem, params)))
    rounds = math.ceil(math.log(_DECREASE) / math.log(factor))
    seeds = min(_SEEDS, max(_FEWEST_SEEDS, int(affordable / rounds)))
    return max(_FEWEST_ROUNDS, min(rounds, int(affordable / seeds))), seeds


def _statement(claim: Claim) -> Bound:
    assert isinstance(claim.statement, Bound)
    return claim.statement


def _measured_quantity(claim: Claim) -> Quantity:
    return next(q for q in _statement(claim).quantities if q.after)


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
