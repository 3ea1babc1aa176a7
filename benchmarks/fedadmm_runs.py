"""The runs of FedADMM's Section 5: instances, the five methods with their stopping rules, sweeps over one parameter.

``fedadmm_experiments.py`` makes the tables, the figures and the list of orderings of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import fedadmm, fedalt, fedavg_stale, fedprox, fedsim
from fedtheory.data import Dataset, split
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem, stationary_point, weighted_gradient, weighted_value
from fedtheory.problems.least_squares import from_rows, three_laws
from fedtheory.problems.logistic import Logistic
from fedtheory.problems.subproblems import InnerSteps
from fedtheory.randomness.selections import Uniform

METHODS = ("FedADMM", "FedAvg", "FedProx", "FedAlt", "FedSim")
RIVALS = METHODS[1:]

#: Section 5.2: tolerance factor nu, sigma_i m / r_i, and epsilon of the stopping rule (30) for the two examples.
NU, PENALTY, ACCURACY = 0.95, 0.2, {"Example 5.1": 1e-3, "Example 5.2": 1e-7}
#: Section 5.3: the personal models' weight alpha and the proximal weight mu of FedAlt and FedSim; regularisation.
PERSONAL, TIE, LAMBDA = 0.5, 0.001, 0.001
#: The paper names no stepsizes of the other methods: multiples of 1/max r_i that are tried on the first instance.
STEPSIZES = (1.0, 0.3, 0.1)
#: Weight of FedProx's proximal term, which the paper does not give either.
PROXIMAL = 0.1


class Setting(NamedTuple):
    """``m`` clients, the share ``rho`` of them a round, ``k0`` iterations a round."""

    m: int
    rho: float
    k0: int


@dataclass(frozen=True)
class Instance:
    """One problem: ``example`` names it; ``rows``: the number d of all samples."""

    example: str
    problem: Problem
    rows: int

    @property
    def alpha(self) -> Array:
        """Equal weights."""
        return np.full(self.problem.n, 1 / self.problem.n)

    def value(self, w: Array) -> float:
        return float(weighted_value(self.problem, self.alpha, w))

    def slope(self, w: Array) -> float:
        """|grad f(w)|^2."""
        return float((weighted_gradient(self.problem, self.alpha, w) ** 2).sum())


def synthetic(m: int, n: int, rng: np.random.Generator) -> Instance:
    """Example 5.1."""
    rows, targets = three_laws(m, n, rng)
    return Instance("Example 5.1", Problem(from_rows(rows, targets)), sum(map(len, targets)))  # type: ignore[arg-type]


def real(data: Dataset, m: int, rng: np.random.Generator) -> Instance:
    """Example 5.2: the rows in equal parts, a remainder left out."""
    A, b = split(data, m, "equal", rng)
    return Instance("Example 5.2", Problem(Logistic(A, b, LAMBDA)), b.size)


class Outcome(NamedTuple):
    """``rounds`` to the stopping rule, infinite if it was not met; ``seconds``; ``values``: f after every round, from
    the start."""

    rounds: float
    seconds: float
    values: Array


def _run(
    step: Callable[[], Array], value: Callable[[Array], float], done: Callable[[Array], bool], most: int
) -> Outcome:
    """Rounds until ``done(w)``, at most ``most``; the clock does not count the values and the test."""
    seconds, values = 0.0, []
    for rounds in range(1, most + 1):
        begun = time.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):
            w = step()
            seconds += time.perf_counter() - begun
            values.append(value(w))
        if not np.isfinite(values[-1]):
            return Outcome(np.inf, seconds, np.array(values))
        if done(w):
            return Outcome(rounds, seconds, np.array(values))
    return Outcome(np.inf, seconds, np.array(values))


def admm(task: Instance, setting: Setting, most: int, rng: np.random.Generator) -> tuple[Outcome, Array]:
    """FedADMM with the parameters of Section 5.2 and the stopping rule (30); the model it ends with comes second.

    Section 5.2 starts from pi_i = 0 and w_i = 0. The clients take one step (15) at least.
    """
    problem, m, r = task.problem, setting.m, task.problem.f.L
    n = problem.d
    params = fedadmm.Params(
        task.alpha,
        PENALTY * r / m,
        np.full(m, NU),
        np.full(m, float(setting.k0**2)),
        setting.k0,
        Uniform(m, participants(setting)),
        InnerSteps(r, least=1),
    )
    origin = np.zeros((m, n))
    state = fedadmm.init(problem, params, W=origin, Pi=origin, w=origin[0])
    goal = min(task.slope(origin[0]) / 5, 5 * ACCURACY[task.example] * n / (m * task.rows))

    def step() -> Array:
        nonlocal state
        state = fedadmm.step(problem, params, state, fedadmm.draws(problem, params, state).sample(rng))
        return fedadmm.average(params, state.Z)

    outcome = _run(step, task.value, lambda w: task.slope(w) < goal, most)
    return outcome, fedadmm.average(params, state.Z)


def participants(setting: Setting) -> int:
    """|Omega| = rho m, one client at least."""
    return max(1, round(setting.rho * setting.m))


def rival(
    task: Instance, method: str, setting: Setting, size: float, goal: float, most: int, rng: np.random.Generator
) -> Outcome:
    """Another method with local stepsize ``size``, until f is within 2e-4 (1 + |goal|) of the ``goal``."""
    problem, (m, _, k0), tau = task.problem, setting, participants(setting)
    algorithm: Any
    params: Any
    if method == "FedAvg":
        algorithm, params = fedavg_stale.algorithm, fedavg_stale.Params(size * m, k0, Uniform(m, tau))
    elif method == "FedProx":
        algorithm, params = fedprox.algorithm, fedprox.Params(tau, PROXIMAL, k0, size)
    else:
        algorithm = fedalt.algorithm if method == "FedAlt" else fedsim.algorithm
        params = fedalt.Params(tau, k0, PERSONAL, TIE, size, size)
    state = algorithm.init(problem, params)
    state = type(state)(*(np.asarray(field, dtype=float) for field in state))

    def step() -> Array:
        nonlocal state
        state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng))
        # The server's model is the average of what it has received.
        return state.W.mean(axis=0) if method == "FedAvg" else state[0]

    return _run(step, task.value, lambda w: task.value(w) - goal <= 2e-4 * (1 + abs(goal)), most)


class Point(NamedTuple):
    """Outcomes of all instances at one setting, by method."""

    setting: Setting
    outcomes: Mapping[str, tuple[Outcome, ...]]

    def rounds(self, method: str) -> float:
        """Median over the instances."""
        return float(np.median([outcome.rounds for outcome in self.outcomes[method]]))

    def seconds(self, method: str) -> float:
        """Median time over the instances that met the stopping rule; infinite if the median one did not."""
        times = [outcome.seconds if np.isfinite(outcome.rounds) else np.inf for outcome in self.outcomes[method]]
        return float(np.median(times))


def point(
    make: Callable[[int, np.random.Generator], Instance],
    setting: Setting,
    instances: int,
    most: int,
    seed: int,
) -> Point:
    """All methods on ``instances`` problems ``make(m, rng)``. Rivals take the stepsize that needs the fewest rounds on
    the first, or comes nearest."""
    found: dict[str, list[Outcome]] = {method: [] for method in METHODS}
    sizes: dict[str, float] = {}
    for number in range(instances):
        rng = np.random.default_rng((seed, number))
        task = make(setting.m, rng)
        outcome, w = admm(task, setting, most, rng)
        found["FedADMM"].append(outcome)
        if np.isinf(outcome.rounds):
            w = stationary_point(task.problem, task.alpha)
        goal, unit = task.value(w), 1 / float(task.problem.f.L.max())
        for method in RIVALS:
            if method not in sizes:
                tried = {c: rival(task, method, setting, c * unit, goal, most, rng) for c in STEPSIZES}
                sizes[method] = min(tried, key=lambda c: (tried[c].rounds, _last(tried[c])))
                found[method].append(tried[sizes[method]])
            else:
                found[method].append(rival(task, method, setting, sizes[method] * unit, goal, most, rng))
    return Point(setting, {method: tuple(outcomes) for method, outcomes in found.items()})


def _last(outcome: Outcome) -> float:
    return float(outcome.values[-1]) if np.isfinite(outcome.values[-1]) else np.inf


def sweep(
    make: Callable[[int, np.random.Generator], Instance],
    settings: Sequence[Setting],
    instances: int,
    most: int,
    seed: int,
    progress: Callable[[str], None],
) -> list[Point]:
    """One point for each setting."""
    points = []
    for setting in settings:
        points.append(point(make, setting, instances, most, seed))
        medians = ", ".join(f"{method} {points[-1].rounds(method):g}" for method in METHODS)
        progress(f"m = {setting.m}, rho = {setting.rho:g}, k0 = {setting.k0}: {medians} rounds")
    return points
