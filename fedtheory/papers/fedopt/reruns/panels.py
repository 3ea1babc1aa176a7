"""The tasks of Federated Optimization's figures, on authors that are drawn for each seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import svds

from fedtheory.algorithms import cocoa_plus, dane, fsvrg, one_shot_averaging
from fedtheory.experiments import Curve, Result, Span, Tuned, known, tune
from fedtheory.learning.local_features import local_features
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.reruns import names
from fedtheory.papers.fedopt.reruns.names import COCOA, FSVRG, FSVRGR, GD, LOOKED, OTHERS, ROUNDS
from fedtheory.papers.fedopt.reruns.text import Authors, chosen, generated, plays, reshuffled
from fedtheory.problems.linear_models import LinearModels, LinearProblem, minimiser
from fedtheory.problems.losses import LOGISTIC

#: Features of plays, and the share of their roles that a seed takes.
_FEATURES, _SHARE = 2002, 0.8
#: Roles and features for methods with dense local solutions, of which the roles of a seed are drawn.
_LARGEST, _DENSE = 10, 32
#: Authors at scale, features and mean number of examples.
_AUTHORS = (10_000, 5002, 10)
#: The first numbers of the seeds of draws that tune, and of those that are measured.
_TUNING, _MEASURED = 2, 1


class Plays(NamedTuple):
    """The roles, and the largest of them with fewer features."""

    all: Authors
    largest: Authors


def read(paths: tuple[Path, ...]) -> Plays:
    """Plays. Raise ``ValueError`` if they cannot be read, or have too few roles."""
    data, small = plays(paths[0], _FEATURES), plays(paths[0], _DENSE)
    if data.K < _LARGEST:
        raise ValueError(f"{paths[0]} has {data.K} roles, at least {_LARGEST} were expected")
    largest = np.sort(np.argsort(-small.train.sizes, kind="stable")[:_LARGEST])
    return Plays(data, chosen(small, largest))


def _of_seed(data: Authors, rng: np.random.Generator) -> Authors:
    """The roles that a seed takes."""
    return chosen(data, np.sort(rng.permutation(data.K)[: math.ceil(_SHARE * data.K)]))


def problem_of(data: Authors, factor: float = 1.0) -> LinearProblem:
    """Logistic regression on the authors' training examples, with lambda = ``factor``/n."""
    train = data.train
    return LinearProblem(LinearModels(train.X, train.y, train.sizes, factor / len(train.y), LOGISTIC))


def error(data: Authors, w: Array) -> float:
    """Share of the test examples that w gets wrong; a tie is a -1."""
    return float((np.where(data.test.X @ w > 0, 1, -1) != data.test.y).mean())


def holders(f: LinearModels) -> Array:
    """The number of nodes that hold each feature, ``(d,)``."""
    return np.bincount(local_features(f).feature, minlength=f.d)


def _each(seeds: Sequence[int], measure: Callable[[int], Mapping[str, Any]]) -> dict[str, tuple[Span, ...]]:
    """The numbers of all seeds."""
    found = [measure(seed) for seed in seeds]
    return {
        name: tuple(v if isinstance(v, Span) else known(v) for v in (one[name] for one in found)) for name in found[0]
    }


# Figure 1


def spread(data: Plays, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """One task."""
    return {"features": partial(_spread, data.all, seeds)}


def _spread(data: Authors, seeds: tuple[int, ...]) -> Result:
    ordered = []

    def measure(seed: int) -> dict[str, float]:
        f = problem_of(_of_seed(data, np.random.default_rng([_MEASURED, seed]))).f
        held, frequency = holders(f), np.asarray((f.X != 0).sum(axis=0)).reshape(-1) / f.examples
        ordered.append(np.sort(held)[::-1])
        return {
            names.EVERYWHERE: float((held == f.n).sum()),
            names.RARE: float((held < names.FEW * f.n).mean()),
            names.COMMON: float(((held >= names.ALMOST * f.n) & (frequency <= 0.5)).sum()),
        }

    numbers = _each(seeds, measure)
    middle = np.median(ordered, axis=0)
    places = np.unique(np.geomspace(1, len(middle), 60).astype(int))
    x, y = tuple(map(float, places)), tuple(map(float, middle[places - 1]))
    return Result(numbers, (Curve("features", "feature", "nodes that hold it", "all features", x, y, "xy"),))


# Naive predictors


def naive(data: Plays, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """One task."""
    return {"errors": partial(_naive, data.all, seeds)}


def _naive(data: Authors, seeds: tuple[int, ...]) -> Result:
    def measure(seed: int) -> dict[str, float]:
        own = _of_seed(data, np.random.default_rng([_MEASURED, seed]))
        f = problem_of(own).f
        majority = np.where(np.add.reduceat(f.y, f.starts) > 0, 1, -1)
        return {
            names.CONSTANT: float((own.test.y > 0).mean()),
            names.MAJORITY: float((np.repeat(majority, own.test.sizes) != own.test.y).mean()),
            **{names.regularised(v): error(own, minimiser(problem_of(own, v).f)) for v in names.LAMBDAS},
        }

    return Result(_each(seeds, measure))


# Figure 2


class Ran(NamedTuple):
    """Objective and test error after 0, 1, ... rounds."""

    objective: Array
    error: Array


#: The models of a method after 0, 1, ... rounds, with a factor of its theoretical stepsize.
Method = Callable[[LinearProblem, float, np.random.Generator], Iterator[Array]]


def descent(problem: LinearProblem, factor: float, rng: np.random.Generator) -> Iterator[Array]:
    """Gradient descent, of which sparse data need no more than the gradient; its theoretical stepsize is 1/L."""
    f = problem.f
    top = svds(f.X, k=1, return_singular_vectors=False, rng=0)[0]
    h, w = factor / (float(top) ** 2 / (4 * f.examples) + f.lam), np.zeros(f.d)
    while True:
        yield w
        w = w - h * f.full_gradient(w)


def _stepped(algorithm: Any, problem: LinearProblem, params: object, rng: np.random.Generator) -> Iterator[Array]:
    state = algorithm.init(problem, params)
    while True:
        yield np.asarray(state.w, dtype=np.float64)
        state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng))


def cocoa(problem: LinearProblem, factor: float, rng: np.random.Generator) -> Iterator[Array]:
    """CoCoA+ with a pass of coordinate ascent a round and sigma' = K/``factor``, at least 1; K is safe."""
    f = problem.f
    params = cocoa_plus.Params(max(1.0, f.n / factor), 1, cocoa_plus.SparsePasses(f, 1))
    return _stepped(cocoa_plus.algorithm, problem, params, rng)


def variance_reduced(problem: LinearProblem, factor: float, rng: np.random.Generator) -> Iterator[Array]:
    """FSVRG, with the stepsize h = ``factor``."""
    return _stepped(fsvrg.algorithm, problem, fsvrg.theory(problem, factor), rng)


def _run(data: Authors, method: Method, factor: float, rng: np.random.Generator, count: int) -> Ran:
    problem = problem_of(data)
    found = []
    # FSVRG refuses stepsizes with which the regulariser alone is unstable.
    with np.errstate(all="ignore"), suppress(ValueError):
        for _, w in zip(range(count + 1), method(problem, factor, rng), strict=False):
            found.append((float(problem.f.objective(w)), error(data, w)))
            if not found[-1][0] < 1e6:
                break
    # Runs that have diverged stay there.
    found += [(math.inf, found[-1][1])] * (count + 1 - len(found))
    return Ran(*np.array(found).T)


def _tuned(trials: Sequence[Authors], method: Method, count: int) -> Tuned:
    """The factor with the least mean of the objective over the rounds, of the worst of these authors: what is best
    after the last round alone is often at the edge of divergence."""

    def cost(factor: float) -> float:
        runs = (_run(own, method, factor, np.random.default_rng(_TUNING), count) for own in trials)
        return max(float(ran.objective.mean()) for ran in runs)

    return tune(cost)


def _trials(data: Authors) -> list[Authors]:
    return [_of_seed(data, np.random.default_rng([_TUNING, k])) for k in range(2)]


def _curves(label: str, runs: Sequence[Ran]) -> list[Curve]:
    x = tuple(map(float, range(len(runs[0].objective))))
    return [
        Curve(panel, "rounds", panel, label, x, tuple(map(float, np.median([getattr(r, field) for r in runs], axis=0))))
        for panel, field in (("objective f", "objective"), ("test error", "error"))
    ]


def rounds(data: Plays, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """A task for each method, FSVRG with FSVRGR, and one for those that the paper tried besides."""
    return {
        GD: partial(_plain, data.all, seeds, GD, descent),
        COCOA: partial(_plain, data.all, seeds, COCOA, cocoa),
        FSVRG: partial(_ours, data.all, seeds),
        "others": partial(_others, data.largest, seeds),
    }


def _authors(data: Authors, seed: int) -> Authors:
    return _of_seed(data, np.random.default_rng([_MEASURED, seed]))


def _measured(name: str, ran: Ran) -> dict[str, float]:
    return {
        **{names.objective(name, count): float(ran.objective[count]) for count in LOOKED},
        names.error(name): float(ran.error[-1]),
    }


def _plain(data: Authors, seeds: tuple[int, ...], name: str, method: Method) -> Result:
    """GD, or CoCoA+."""
    tuned = _tuned(_trials(data), method, ROUNDS)
    runs: list[Ran] = []

    def measure(seed: int) -> dict[str, float]:
        runs.append(_run(_authors(data, seed), method, tuned.factor, np.random.default_rng([seed, 0]), ROUNDS))
        return _measured(name, runs[-1])

    numbers = _each(seeds, measure)
    return Result(numbers, tuple(_curves(name, runs)), (f"{name}: {tuned}",))


def _ours(data: Authors, seeds: tuple[int, ...]) -> Result:
    """FSVRG and FSVRGR, each tuned, and the optimum."""
    trials = _trials(data)
    dealt = [reshuffled(own, np.random.default_rng([_TUNING, k, 1])) for k, own in enumerate(trials)]
    tuned = {FSVRG: _tuned(trials, variance_reduced, ROUNDS), FSVRGR: _tuned(dealt, variance_reduced, ROUNDS)}
    runs: dict[str, list[Ran]] = {FSVRG: [], FSVRGR: [], "optimum": []}

    def measure(seed: int) -> dict[str, float]:
        own = _authors(data, seed)
        f = problem_of(own).f
        w = minimiser(f)
        least, wrong = float(f.objective(w)), error(own, w)
        runs["optimum"].append(Ran(np.full(ROUNDS + 1, least), np.full(ROUNDS + 1, wrong)))
        for name, of in ((FSVRG, own), (FSVRGR, reshuffled(own, np.random.default_rng([seed, 1])))):
            ran = _run(of, variance_reduced, tuned[name].factor, np.random.default_rng([seed, 0]), ROUNDS)
            runs[name].append(ran)
        ours, other = runs[FSVRG][-1], runs[FSVRGR][-1]
        start = float(ours.objective[0])
        return {
            **_measured(FSVRG, ours),
            names.EXCESS: float(ours.error.min()) - wrong,
            names.DIFFERENCE: abs(float(ours.objective[-1] - other.objective[-1])) / (start - least),
            names.HOLDERS: float(holders(f).max()) / f.n,
        }

    numbers = _each(seeds, measure)
    curves = [curve for name, found in runs.items() for curve in _curves(name, found)]
    return Result(numbers, tuple(curves), tuple(f"{name}: {found}" for name, found in tuned.items()))


def _others(data: Authors, seeds: tuple[int, ...]) -> Result:
    """DANE as printed and one-shot averaging, on data small enough for exact local solutions."""

    def measure(seed: int) -> dict[str, float]:
        problem = LinearProblem(problem_of(_authors(data, seed)).f.dense())
        f = problem.f
        least, start = float(f.objective(minimiser(f))), math.log(2)
        gained = {}
        for name, (module, params) in zip(
            OTHERS,
            ((dane, dane.Params()), (dane, dane.Params(1.0)), (one_shot_averaging, one_shot_averaging.Params())),
            strict=True,
        ):
            state = module.algorithm.init(problem, params)
            values = [start]
            for _ in range(names.OTHER_ROUNDS):
                state = module.step(problem, params, state, None)
                values.append(float(f.objective(np.asarray(state.w, dtype=float))))
                if not values[-1] < 1e6:
                    break
            gained[names.gained(name)] = max(-1e6, (start - values[-1]) / (start - least))
        return gained

    return Result(_each(seeds, measure))


def scale(data: None, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """One task."""
    return {"generated": partial(_scale, seeds)}


def _scale(seeds: tuple[int, ...]) -> Result:
    methods = {FSVRG: variance_reduced, GD: descent}
    count = names.AT_SCALE
    trials = [generated(*_AUTHORS, np.random.default_rng([_TUNING, k])) for k in range(2)]
    tuned = {name: _tuned(trials, method, count) for name, method in methods.items()}
    runs: dict[str, list[Ran]] = {name: [] for name in methods}

    def measure(seed: int) -> dict[str, float]:
        own = generated(*_AUTHORS, np.random.default_rng([_MEASURED, seed]))
        numbers = {names.CONSTANT: float((own.test.y > 0).mean())}
        for name, method in methods.items():
            ran = _run(own, method, tuned[name].factor, np.random.default_rng([seed, 0]), count)
            runs[name].append(ran)
            numbers.update({names.objective(name, t): float(ran.objective[t]) for t in (5, count)})
            numbers[names.error(name)] = float(ran.error[-1])
        return numbers

    numbers = _each(seeds, measure)
    curves = [curve for name, found in runs.items() for curve in _curves(name, found)]
    return Result(numbers, tuple(curves), tuple(f"{name}: {found}" for name, found in tuned.items()))
