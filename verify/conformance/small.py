"""Small problems and parameters for the methods that have no claims to take them from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import (
    cocoa_plus,
    dane,
    dane_svrg,
    dual_block_ascent,
    exact_admm,
    fedadmm,
    fedalt,
    fedavg,
    fedavg_stale,
    fedprox,
    fsvrg,
    inexact_feddcd,
    minibatch_sgd,
    naive_fsvrg,
    one_shot_averaging,
    perturbed_primal,
    rcd,
    sag,
    scaffold,
    sdca,
    sgd,
)
from fedtheory.numbers.rational import to_float
from fedtheory.problems import oracles
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.problems.quadratic import diagonal, with_spectra
from fedtheory.problems.subproblems import Exact, InnerSteps
from fedtheory.randomness.selections import Uniform


class Given(NamedTuple):
    """What parameters are chosen for: ``tau`` participants, ``epochs`` local ones, the ``batches`` of a local step."""

    rng: np.random.Generator
    problem: Any
    features: Collection[str]
    tau: int = 1
    epochs: int = 1
    batches: Any = oracles.AllRows()


def problems(name: str, rng: np.random.Generator, features: Collection[str]) -> Iterator[tuple[Problem, Any]]:
    """Problems with parameters for a method of ``NAMES``."""
    if name in _CLIENTS:
        for n, d, tau, epochs in _SHAPES:
            problem = _quadratic(rng, n, d)
            batches: Any = oracles.AllRows()
            if "minibatches" in features and n <= 3:
                problem, batches = _in_parts(rng, n, d)
                epochs = 1
            params = _CLIENTS[name](Given(rng, problem, features, tau, epochs, batches))
            if params is not None:
                yield problem, params
    elif name in _SUMS:
        for n, d in _SUM_SHAPES:
            problem = _quadratic(rng, n, d)
            yield problem, _SUMS[name](Given(rng, problem, features))
    else:
        for k, (sizes, d) in enumerate(_ROWS):
            problem = _linear(rng, sizes, d, logistic=name in _ANY_LOSS and k % 2 == 1)
            params = _LINEAR[name](Given(rng, problem, features, epochs=1 + k % 2))
            if params is not None:
                yield problem, params


#: (n, d, tau, epochs): clients, dimension, participants, local epochs.
_SHAPES = ((2, 1, 2, 2), (2, 1, 1, 3), (3, 1, 2, 2), (3, 2, 2, 3), (4, 1, 2, 1), (4, 2, 3, 2), (5, 1, 3, 2))
#: (n, d): functions, dimension.
_SUM_SHAPES = ((1, 1), (2, 1), (2, 3), (3, 1), (4, 2), (5, 2))
#: Examples of each client, and features.
_ROWS = (((1, 1), 1), ((2, 1), 1), ((2, 1), 2), ((2, 2), 3), ((1, 3), 2), ((3, 1, 2), 3))


def _quadratic(rng: np.random.Generator, n: int, d: int) -> Problem:
    """No two clients alike: a step would not tell which of them took part."""
    if d > 1 and rng.random() < 0.5:
        return Problem(with_spectra(rng.uniform(0.5, 3, (n, d)), rng))
    centres = rng.permuted(np.tile(np.arange(-8, 9), (d, 1)), axis=1)[:, :n].T
    return Problem(diagonal(rng.integers(2, 12, (n, d)) / 4, centres / 4 + 1 / 3))


def _in_parts(rng: np.random.Generator, n: int, d: int) -> tuple[Problem, oracles.Minibatches]:
    """A problem whose f_i are means of two parts, in batches of one."""
    h, c = rng.integers(2, 12, (2 * n, d)) / 4, rng.integers(-8, 9, (2 * n, d)) / 4
    mean = h.reshape(n, 2, d).mean(axis=1)
    centre = (h * c).reshape(n, 2, d).mean(axis=1) / mean
    return Problem(diagonal(mean, centre)), oracles.Minibatches(oracles.Split(diagonal(h, c), 2), 1)


def _linear(rng: np.random.Generator, sizes: tuple[int, ...], d: int, logistic: bool) -> LinearProblem:
    """Examples that lack some features, none of them all; where there are two, the first client lacks the first."""
    n = sum(sizes)
    held = (rng.random((n, d)) < 0.6) | (np.arange(d) == rng.integers(d, size=(n, 1)))
    if d > 1:
        # Scalings by how many clients hold a feature are else 1 now and then.
        held[: sizes[0], :2] = False, True
        held[sizes[0], 0] = True
    X = np.where(held, rng.choice([-1, 1], (n, d)) * rng.integers(2, 7, (n, d)) / 4, 0.0)
    y = rng.choice([-1.0, 1.0], n) if logistic else rng.integers(-8, 9, n) / 4 + 1 / 3
    return LinearProblem(LinearModels(X, y, np.array(sizes), 0.25, LOGISTIC if logistic else SQUARED))


# Clients with functions of their own


def _fedavg(given: Given) -> Any:
    n = given.problem.n
    counts = given.rng.permutation(np.arange(1.0, n + 1) ** 2) if "counts" in given.features else None
    eta_g = 1.5 if "server stepsize" in given.features else 1
    momentum = 0.75 if "momentum" in given.features else 0
    epochs = max(given.epochs, 2)
    return fedavg.Params(given.tau, epochs, 0.2 / given.problem.L, eta_g, given.batches, counts, momentum)


def _fedprox(given: Given) -> Any:
    mu, eta_l, exact = 0.5 + given.problem.n / 4, 0.25 / given.problem.L, "exact solver" in given.features
    return fedprox.Params(given.tau, mu, given.epochs + 1, eta_l, given.batches, exact)


def _scaffold(given: Given) -> Any:
    option = "I" if "option I" in given.features else "II"
    return scaffold.Params(given.tau, given.epochs, 0.25 / given.problem.L, 0.8, given.batches, option)


def _minibatch_sgd(given: Given) -> Any:
    return minibatch_sgd.Params(given.tau, 0.4 / given.problem.L, given.batches)


def _inexact_feddcd(given: Given) -> Any:
    if given.tau < 2:
        return None
    Lambda = to_float(given.problem.f.L)
    return inexact_feddcd.Params(given.tau, Lambda, 0.7, oracles.gradient_descent(given.epochs, 1 / Lambda))


def _weights(given: Given) -> Any:
    """alpha_i and sigma_i, no two alike."""
    alpha = given.rng.permutation(np.arange(1.0, given.problem.n + 1))
    alpha = alpha / alpha.sum()
    return alpha, given.rng.uniform(1, 2, given.problem.n) * alpha * to_float(given.problem.f.L)


def _fedadmm(given: Given) -> Any:
    alpha, sigma = _weights(given)
    # With r_i = L_i one step would solve the problem of a client in one dimension, wherever it starts.
    n, r = given.problem.n, 1.5 * to_float(given.problem.f.L)
    solver = Exact() if "exact solver" in given.features else InnerSteps(r, given.epochs + 1)
    return fedadmm.Params(alpha, sigma, np.full(n, 0.5), np.ones(n), given.epochs, Uniform(n, given.tau), solver)


def _fedavg_stale(given: Given) -> Any:
    n = given.problem.n
    return fedavg_stale.Params(0.5 * n / given.problem.L, given.epochs, Uniform(n, given.tau))


def _fedalt(given: Given) -> Any:
    step = 0.4 / given.problem.L
    return fedalt.Params(given.tau, given.epochs, 0.3, 0.5, step, step / 2)


# Sums of functions, one of them asked at a time


def _rcd(given: Given) -> Any:
    return rcd.Params(0.9 / np.diagonal(to_float(given.problem.f.H).mean(axis=0)))


# Linear models, the examples of each client


def _step(given: Given) -> float:
    f = given.problem.f
    return 0.5 / float(f.squared_norms.max() + f.lam)


def _cocoa_plus(given: Given) -> Any:
    solver = cocoa_plus.scaled() if "exact solver" in given.features else cocoa_plus.passes(1)
    return cocoa_plus.Params(given.problem.n, 1 if given.epochs == 1 else 0.75, solver)


def _perturbed_primal(given: Given) -> Any:
    equal = (given.problem.f.sizes == given.problem.f.sizes[0]).all()
    return perturbed_primal.Params(0.75 * given.problem.n) if equal else None


_CLIENTS: Mapping[str, Callable[[Given], Any]] = {
    "fedavg": _fedavg,
    "fedprox": _fedprox,
    "scaffold": _scaffold,
    "minibatch-sgd": _minibatch_sgd,
    "inexact-feddcd": _inexact_feddcd,
    "fedadmm": _fedadmm,
    "exact-admm": lambda given: exact_admm.Params(*_weights(given)),
    "fedavg-stale": _fedavg_stale,
    "fedalt": _fedalt,
    "fedsim": _fedalt,
}
_SUMS: Mapping[str, Callable[[Given], Any]] = {
    "sgd": lambda given: sgd.Params(0.6 / given.problem.L, 0.25),
    "rcd": _rcd,
    "sag": lambda given: sag.Params(0.5 / given.problem.L),
}
_LINEAR: Mapping[str, Callable[[Given], Any]] = {
    "sdca": lambda given: sdca.Params(),
    "one-shot-averaging": lambda given: one_shot_averaging.Params(),
    "dane": lambda given: dane.Params(0.5, 0.75),
    "dane-svrg": lambda given: dane_svrg.Params(_step(given), given.epochs, 0.5, 0.75),
    "naive-fsvrg": lambda given: naive_fsvrg.Params(_step(given), given.epochs),
    "fsvrg": lambda given: fsvrg.theory(given.problem, _step(given)),
    "perturbed-primal": _perturbed_primal,
    "dual-block-ascent": lambda given: dual_block_ascent.Params(given.problem.n),
    "cocoa-plus": _cocoa_plus,
}
#: Methods that only ask for gradients of single examples.
_ANY_LOSS = ("dane-svrg", "naive-fsvrg", "fsvrg")

#: The methods that have problems here.
NAMES = (*_CLIENTS, *_SUMS, *_LINEAR)
