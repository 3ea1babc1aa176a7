"""The runs of FedADMM's Section 5: instances, the five methods with their stopping rules, and what a setting measures.

A round is one exchange with the server: the communications (CR) of the paper are twice as many. Gradients are those of
local functions that participants compute, all of them; they stand for the computing time, of which seconds on another
machine, where all clients are computed at once, would say little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Uniform
from fedtheory.data import Dataset, split
from fedtheory.experiments import Curve, Result, Span, Tuned, spent, tune
from fedtheory.learning.least_squares import LeastSquares, from_rows, three_laws
from fedtheory.learning.logistic import SparseLogistic
from fedtheory.learning.subproblems import Answer, InnerSteps, Task
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedadmm.reruns.names import METHODS, RIVALS, RoundSetting, key
from fedtheory.papers.fedadmm.reruns.participants import Clients, Move, admm_round, average, clients
from fedtheory.problems.base import Problem
from fedtheory.randomness import Draw, UniformSubset

#: Section 5.2: tolerance factor nu, sigma_i m / r_i, and epsilon of the stopping rule (30) for the two examples.
NU, PENALTY, ACCURACY = 0.95, 0.2, {"Example 5.1": 1e-3, "Example 5.2": 1e-7}
#: Section 5.3: the personal models' weight alpha and the proximal weight mu of FedAlt and FedSim; regularisation.
PERSONAL, TIE, LAMBDA = 0.5, 0.001, 0.001
#: Weight of FedProx's proximal term, which the paper does not give.
PROXIMAL = 0.1
#: The cost of a run that does not end while stepsizes are tuned, before its last value is added.
_UNENDED = 1e9
#: Every so many rounds of a run that tunes it is asked whether there is hope.
_JUDGED = 10
#: Round after which it is asked how far the methods came at first; a run that has ended stays where it is.
FIRST = 6


@dataclass(frozen=True)
class ExampleProblem:
    """One problem: ``example`` names it; ``rows``: the number d of all samples."""

    example: str
    problem: Problem
    rows: int

    @cached_property
    def alpha(self) -> Array:
        """Equal weights."""
        return np.full(self.problem.n, 1 / self.problem.n)

    @cached_property
    def r(self) -> Array:
        """Lipschitz constants r_i of the gradients."""
        return self.problem.f.L

    @cached_property
    def clients(self) -> Clients:
        """The clients as participants compute."""
        return clients(self.problem.f)

    @cached_property
    def _mean(self) -> LeastSquares | SparseLogistic:
        """f, as one function."""
        f: Any = self.problem.f
        if isinstance(f, LeastSquares):
            return LeastSquares(*(part.mean(axis=0)[None] for part in (f.H, f.q, f.v)))
        return SparseLogistic(f.A.reshape(1, -1, f.d), f.b.reshape(1, -1), f.mu.mean())

    def value(self, w: Array) -> float:
        """f(w)."""
        if isinstance(self._mean, SparseLogistic):
            return float(self._mean.average(w[None])[0])
        return float(self._mean.value(w[None])[0])

    def gradient(self, w: Array) -> Array:
        """grad f(w)."""
        return self._mean.gradient(w[None])[0]

    def slope(self, w: Array) -> float:
        """|grad f(w)|^2."""
        return float((self.gradient(w) ** 2).sum())

    @cached_property
    def least(self) -> float:
        """The least value of f, as near as what is compared with it asks for."""
        start, near = np.zeros(self.problem.d), {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-9}
        return float(minimize(self.value, start, jac=self.gradient, method="L-BFGS-B", options=near).fun)


def synthetic(m: int, n: int, rng: np.random.Generator) -> ExampleProblem:
    """Example 5.1."""
    rows, targets = three_laws(m, n, rng)
    return ExampleProblem("Example 5.1", Problem(from_rows(rows, targets)), sum(map(len, targets)))  # type: ignore[arg-type]


def real(data: Dataset, m: int, rng: np.random.Generator) -> ExampleProblem:
    """Example 5.2: the rows in equal parts, a remainder left out."""
    A, b = split(data, m, "equal", rng)
    return ExampleProblem("Example 5.2", Problem(SparseLogistic(A, b, LAMBDA)), b.size)


class StoppedRun(NamedTuple):
    """``rounds`` to the stopping rule, infinite if it was not met; ``gradients`` that participants had computed after
    every round, and ``values``: f then."""

    rounds: float
    gradients: Array
    values: Array

    def reaching(self, target: float) -> StoppedRun:
        """The same up to the round in which f first is at most a target, if it is."""
        reached = np.flatnonzero(self.values <= target)
        if not len(reached):
            return self._replace(rounds=np.inf)
        end = int(reached[0]) + 1
        return StoppedRun(end, self.gradients[:end], self.values[:end])


@dataclass(frozen=True)
class Counting(InnerSteps):
    """Inner steps that count the gradients of participants, into ``counted``."""

    counted: Any = None

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """The points that the steps reach; each step asks for a gradient, and so does the test that ends them."""
        found = super().answer(problem, task, draw, iteration)
        self.counted.append(int((found.steps + 1)[task.clients].sum()))
        return found


def _run(
    step: Callable[[], Array],
    value: Callable[[Array], float],
    done: Callable[[Array, float], bool],
    most: int,
    lost: Callable[[Sequence[float]], bool] = lambda values: False,
) -> tuple[float, Array]:
    """Rounds until ``done(w, f(w))``, at most ``most``, and the values; a run that leaves the floats, or is ``lost``
    by its values, never ends."""
    values: list[float] = []
    for rounds in range(1, most + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            w = step()
            values.append(value(w))
        if np.isfinite(values[-1]) and done(w, values[-1]):
            return rounds, np.array(values)
        if not np.isfinite(values[-1]) or lost(values):
            break
    return np.inf, np.array(values)


def hopeless(values: Sequence[float], goal: float, most: int) -> bool:
    """Return True if a run whose values keep decreasing as in the second half of its rounds would not reach the goal in
    ``most`` rounds; values decrease ever more slowly.
    """
    rounds = len(values)
    if rounds < _JUDGED or rounds % _JUDGED:
        return False
    before, now = min(values[: rounds // 2]), min(values[rounds // 2 :])
    return now - goal > max(before - now, 0.0) * (most - rounds) / (rounds / 2)


def participants(setting: RoundSetting) -> int:
    """|Omega| = rho m, one client at least."""
    return max(1, round(setting.rho * setting.m))


def admm(task: ExampleProblem, setting: RoundSetting, factor: float, most: int, rng: np.random.Generator) -> StoppedRun:
    """FedADMM with the parameters of Section 5.2, its sigma_i divided by ``factor``, and the stopping rule (30).

    Section 5.2 starts from pi_i = 0 and w_i = 0. The clients take one step (15) at least.
    """
    problem, m = task.problem, setting.m
    n = problem.d
    counted: list[int] = []
    params = fedadmm.Params(
        task.alpha,
        PENALTY * task.r / m / factor,
        np.full(m, NU),
        np.full(m, float(setting.k0**2)),
        setting.k0,
        Uniform(m, participants(setting)),
        Counting(task.r, least=1, counted=counted),
    )
    # The origin is the same in all coordinates.
    origin = np.zeros((m, n))
    state = fedadmm.init(problem, params, W=origin, Pi=origin, w=origin)
    goal = min(task.slope(origin[0]) / 5, 5 * ACCURACY[task.example] * n / (m * task.rows))

    def step() -> Array:
        nonlocal state
        state = admm_round(task.clients, params, state, fedadmm.draws(problem, params, state).sample(rng))
        return average(task.clients, params, state.Z)

    rounds, values = _run(step, task.value, lambda w, value: task.slope(w) < goal, most)
    # One count for each of the k0 iterations of a round.
    gradients = np.cumsum(np.array(counted).reshape(-1, setting.k0).sum(axis=1))[: len(values)]
    return StoppedRun(rounds, gradients, values)


def unit(task: ExampleProblem, method: str) -> float:
    """The stepsize of a rival's own theory: 1/L of what a local step descends on."""
    largest = float(task.r.max())
    if method in ("FedAlt", "FedSim"):
        return 1 / (max(PERSONAL, 1 - PERSONAL) * largest + TIE)
    return 1 / (largest + (PROXIMAL if method == "FedProx" else 0))


def rival(
    task: ExampleProblem,
    method: str,
    setting: RoundSetting,
    factor: float,
    goal: float,
    most: int,
    rng: np.random.Generator,
    patient: bool = True,
) -> StoppedRun:
    """Another method with ``factor`` times its own stepsize, until f is within 2e-4 (1 + |goal|) of the ``goal``; only
    as long as that is to be hoped for unless ``patient``."""
    (m, _, k0), tau, d = setting, participants(setting), task.problem.d
    size, chosen = factor * unit(task, method), UniformSubset(m, tau)
    if method in ("FedAvg", "FedProx"):
        moves = [Move(k0, size, size * PROXIMAL if method == "FedProx" else 0.0)]
    else:
        shared, personal = (size * (1 - PERSONAL), size * TIE), (size * PERSONAL, size * TIE)
        moves = [Move(k0, *shared, *personal)]
        if method == "FedAlt":
            moves = [Move(k0, 0.0, 0.0, *personal), Move(k0, *shared)]
    w, W, V = np.zeros(d), np.zeros((m, d)), np.zeros((m, d))

    def step() -> Array:
        nonlocal w
        here = np.flatnonzero(chosen.sample(rng))
        start = task.clients.home(w)[here]
        if method == "FedAvg":
            # The average of the last models of all.
            W[here] = task.clients.moved(here, start, start, moves)[0]
            w = task.clients.total(W) / m
            return w
        W[:] = 0
        own = start if method == "FedProx" else V[here]
        W[here], V[here] = task.clients.moved(here, start, own, moves)
        w = task.clients.total(W) / tau
        return w

    def lost(values: Sequence[float]) -> bool:
        return not patient and hopeless(values, near(goal), most)

    rounds, values = _run(step, task.value, lambda w, value: value <= near(goal), most, lost)
    # FedAlt and FedSim step on two models.
    each = tau * k0 * (2 if method in ("FedAlt", "FedSim") else 1)
    return StoppedRun(rounds, each * np.arange(1, len(values) + 1), values)


def near(goal: float) -> float:
    """Return the threshold that ends the other methods, at which all are compared."""
    return goal + 2e-4 * (1 + abs(goal))


def measured(
    make: Callable[[np.random.Generator], ExampleProblem],
    setting: RoundSetting,
    label: str,
    place: float,
    most: int,
    seeds: Sequence[int],
    curves: str,
) -> Result:
    """All methods at a setting, named ``label`` and, across the figure, ``place``, for ``most`` rounds at most: every
    seed is one instance. They are tuned on one more instance. ``curves``: what is drawn, "values" or "costs"."""
    tuned = _tuned(make(np.random.default_rng([2, setting.m])), setting, most)
    found: dict[str, list[StoppedRun]] = {method: [] for method in METHODS}
    for seed in seeds:
        rng = np.random.default_rng([1, seed, setting.m])
        task = make(rng)
        first = admm(task, setting, tuned[METHODS[0]].factor, most, rng)
        goal = _goal(task, first)
        found[METHODS[0]].append(first.reaching(near(goal)))
        for method in RIVALS:
            found[method].append(rival(task, method, setting, tuned[method].factor, goal, most, rng))
    numbers: dict[str, tuple[Span, ...]] = {}
    for method, outcomes in found.items():
        ended = [np.isfinite(o.rounds) for o in outcomes]
        lengths = [float(len(o.values)) for o in outcomes]
        work = [float(o.gradients[-1]) for o in outcomes]
        numbers[key("rounds", method, label)] = spent([o.rounds for o in outcomes], lengths)
        numbers[key("gradients", method, label)] = spent(
            [v if e else np.inf for v, e in zip(work, ended, strict=True)], work
        )
        early = [o.values[min(FIRST, len(o.values)) - 1] for o in outcomes]
        if np.isfinite(early).all():
            numbers[key("early value", method, label)] = spent(early, 0.0)
    drawn = _values(found, label) if curves == "values" else _costs(numbers, label, place)
    return Result(numbers, tuple(drawn), tuple(f"{label}, {method}: {one}" for method, one in tuned.items()))


def _goal(task: ExampleProblem, first: StoppedRun) -> float:
    """Return the target of the other methods: FedADMM's final value, or the least value if it did not finish."""
    return float(first.values[-1]) if np.isfinite(first.rounds) else task.least


def _tuned(task: ExampleProblem, setting: RoundSetting, most: int) -> Mapping[str, Tuned]:
    """The best factor of each method's own stepsize on an instance that no seed has: the fewest rounds, or where it did
    not end the least value. A run that takes more rounds than the best before it is not finished."""

    def tuned(run: Callable[[float, int], StoppedRun]) -> Tuned:
        least = most

        def cost(factor: float) -> float:
            nonlocal least
            try:
                outcome = run(factor, least)
            except ValueError:
                # The inner steps of FedADMM do not meet their accuracy.
                return np.inf
            if np.isfinite(outcome.rounds):
                least = int(outcome.rounds)
                return least
            last = float(outcome.values[-1])
            return _UNENDED + last if np.isfinite(last) else np.inf

        return tune(cost)

    def own(factor: float, rounds: int) -> StoppedRun:
        return admm(task, setting, factor, rounds, np.random.default_rng(3))

    found = {METHODS[0]: tuned(own)}
    goal = _goal(task, own(found[METHODS[0]].factor, most))
    for method in RIVALS:

        def other(factor: float, rounds: int, method: str = method) -> StoppedRun:
            return rival(task, method, setting, factor, goal, rounds, np.random.default_rng(3), patient=False)

        found[method] = tuned(other)
    return found


def _values(found: Mapping[str, Sequence[StoppedRun]], label: str) -> list[Curve]:
    """Figure 1: the objective after every round, in the median; a run that has ended stays where it is."""
    curves = []
    for method, outcomes in found.items():
        most = max(len(o.values) for o in outcomes)
        padded = [np.concatenate([o.values, np.full(most - len(o.values), o.values[-1])]) for o in outcomes]
        middle = np.median(padded, axis=0)
        x = tuple(float(2 * t) for t in range(1, most + 1))
        curves.append(Curve(label, "communications CR", "objective", method, x, tuple(map(float, middle))))
    return curves


def _costs(numbers: Mapping[str, Sequence[Span]], label: str, place: float) -> list[Curve]:
    """The other figures: medians of communications and gradients against the parameter that is varied."""
    across, curves = label.split(" =")[0], []
    for method in METHODS:
        rounds, gradients = (
            float(np.median([span.high for span in numbers[key(of, method, label)]])) for of in ("rounds", "gradients")
        )
        curves.append(Curve("communications", across, "CR", method, (place,), (2 * rounds,)))
        curves.append(Curve("computation", across, "gradients", method, (place,), (gradients,), "y"))
    return curves
