"""Problems on which an implementation is compared beyond the small quadratic ones of its claims: one of many clients
and dimensions, one that is not quadratic, and one so badly conditioned that a long run has not converged at its end."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fedtheory import algorithms, compressors
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.examples import Given
from fedtheory.compressors import Compressor, Family, contractive
from fedtheory.compressors.contractive import Contractive
from fedtheory.learning import batches
from fedtheory.learning.logistic import Logistic
from fedtheory.numbers.rational import Array, to_float
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.problems.optimum import Optimum, newton
from fedtheory.problems.quadratic import Quadratics, diagonal
from verify.conformance.scenarios import Scenario, started, varied

#: ``keep(problem, params)``: whether an implementation takes a problem.
Keep = Callable[[Problem, Any], bool]
#: (n, d), a condition number, and how many times the curvatures of a small problem.
Shape = tuple[int, int, float, float]
#: The parts that these problems play, in the order in which they are looked at.
SLOW = "long runs"
CURVED = "not quadratic"
LARGER = "larger"
#: Draws that are enumerated on the larger problem.
LARGEST_BEYOND = 600

# (n, d) of the larger problem: the first with few enough draws.
_LARGER = ((12, 20), (9, 20), (7, 20), (5, 20))
# (n, d) of the other problems.
_SMALL = (4, 2)
# Clients that participate.
_PARTICIPANTS = 2
# Local epochs.
_EPOCHS = 3
# The condition number of the problems.
_KAPPA = 3.0
# Condition numbers of the slow problem, with curvatures as multiples of those of the small problem; the first is taken
# at which a run stays bounded.
_SLOW = ((100.0, 1.0), (100.0, 100.0), (10.0, 1.0), (3.0, 1.0))
# Rounds of a run that must stay bounded.
_ROUNDS = 40
# The multiple of its initial size below which such a run stays.
_BOUNDED = 100.0
# The distance from 0 of the optima of the larger problem's functions.
_FAR = 1000.0
#: The errors that a method may raise for parameters of another problem.
REFUSED = (ValueError, TypeError, ArithmeticError, AttributeError, LookupError)


def takes(keep: Keep | None, problem: Problem, params: Any) -> bool:
    """Return True if an implementation accepts a problem, according to its ``keep``."""
    try:
        return keep is None or keep(problem, params)
    except AttributeError:
        # It asks for what only quadratics have.
        return False


def beyond(
    algorithm: Algorithm,
    around: Sequence[Scenario],
    seed: int,
    features: Collection[str],
    enumerated: bool,
    keep: Keep | None = None,
) -> tuple[Scenario, ...]:
    """The scenarios beyond those ``around`` that the method takes; ``enumerated``: with few enough draws to try all."""
    found = []
    most = LARGEST_BEYOND if enumerated else 10**9
    for number, role in enumerate((SLOW, CURVED, LARGER)):
        rng = np.random.default_rng([seed, 20, number])
        for problem, params in tried(algorithm, around, role, rng, features, _shapes(role), keep is not None):
            if not takes(keep, problem, params):
                continue
            try:
                with np.errstate(all="ignore"):
                    scenario = started(algorithm, problem, params, np.random.default_rng([seed, 21, number]), role)
                    _fixed(algorithm, scenario)
                    if scenario.support <= most and (role != SLOW or stays(algorithm, scenario)):
                        found.append(scenario)
                        break
            except REFUSED:
                continue
    return tuple(found)


def _fixed(algorithm: Algorithm, scenario: Scenario) -> None:
    """Raises unless the reference takes such a problem at its optimum too, if it has a fixed point there at all."""
    with contextlib.suppress(ValueError, ArithmeticError):
        algorithm.fixed_point(scenario.problem, scenario.params)


def stays(algorithm: Algorithm, scenario: Scenario) -> bool:
    """Return True if a run of the reference stays bounded near its start."""
    problem, params = scenario.problem, scenario.params
    rng = np.random.default_rng(0)
    state = scenario.states[0]
    first = _size(algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng, ())))
    for _ in range(_ROUNDS):
        state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng, ()))
    return _size(state) <= _BOUNDED * (1 + first)


def _size(state: Any) -> float:
    return max(float(np.max(np.abs(np.asarray(f, dtype=float)), initial=0.0)) for f in state)


def _shapes(role: str) -> list[Shape]:
    if role == SLOW:
        return [(*_SMALL, kappa, scale) for kappa, scale in _SLOW]
    return [(n, d, _KAPPA, 1.0) for n, d in (_LARGER if role == LARGER else (_SMALL,))]


def tried(
    algorithm: Algorithm,
    around: Sequence[Scenario],
    role: str,
    rng: np.random.Generator,
    features: Collection[str],
    shapes: Iterable[Shape],
    varying: bool,
) -> Iterator[tuple[Problem, Any]]:
    """Problems of these shapes with parameters for the method, the best first; ``varying``: with others too."""
    example = algorithms.example_of(algorithm)
    for n, d, kappa, scale in shapes:
        try:
            if example is not None and example.problem.startswith("rows"):
                problem: Any = _rows(rng, n, d, role == CURVED)
                given = Given(rng, problem, tau=min(_PARTICIPANTS, problem.n), epochs=2, features=())
                params = None if role == CURVED and example.problem == "rows" else example.params(given)
                if params is not None:
                    yield problem, varied(params, rng)
            elif example is not None:
                problem = _problem(_functions(role, rng, n, d, scale, kappa), None)
                for given in _given(rng, problem, features, example.problem == "clients", varying):
                    params = example.params(given)
                    if params is not None:
                        yield problem, varied(params, rng)
            else:
                for problem, params in _transplanted(around, role, rng, n, d, kappa, scale):
                    yield problem, params
                    if varying and hasattr(params, "tau"):
                        yield from ((problem, params._replace(tau=tau)) for tau in (n, 1, 2, n - 1) if 1 <= tau <= n)
        except REFUSED:
            continue


def _given(
    rng: np.random.Generator, problem: Any, features: Collection[str], clients: bool, varying: bool
) -> Iterator[Given]:
    n = problem.n
    taus = dict.fromkeys((min(_PARTICIPANTS, n), *((n, 1, n - 1) if varying else ())))
    for epochs in (_EPOCHS, *((1, 2, 4, 5) if varying else ())):
        for tau in taus:
            if clients and "minibatches" in features:
                parts = _parts(problem.f)
                for size in (parts.m, *((1,) if varying else ())):
                    yield Given(rng, problem, features, tau, epochs, batches.Minibatches(parts, size))
            else:
                yield Given(rng, problem, features, max(tau, 1), epochs)


def _parts(f: Any) -> batches.Split:
    """Parts of functions that they are the means of: rows of data, or two quadratics each."""
    if isinstance(f, Logistic):
        alone = Logistic(f.A.reshape(-1, 1, f.d), f.b.reshape(-1, 1), np.repeat(f.mu, f.m))
        return batches.Split(alone, f.m)
    h = np.diagonal(f.H, axis1=-2, axis2=-1)
    apart, more = 1.0 + np.arange(f.d) / 4, 0.4
    both = [(h * (1 + more), f.c + apart / (1 + more)), (h * (1 - more), f.c - apart / (1 - more))]
    return batches.Split(diagonal(*(np.stack(v, axis=1).reshape(-1, f.d) for v in zip(*both, strict=True))), 2)


def _functions(role: str, rng: np.random.Generator, n: int, d: int, L: float, kappa: float) -> Any:
    """Functions with curvatures up to L, no two alike."""
    if role == CURVED:
        mu = L / kappa
        A = rng.standard_normal((n, 3, d))
        smooth = Logistic(A, np.ones((n, 3)), 1.0)
        A *= np.sqrt((L - mu) / (to_float(smooth.L) - 1.0))[:, None, None]
        return Logistic(A, rng.choice([-1.0, 1.0], (n, 3)), mu)
    h = L * np.exp(rng.uniform(-math.log(kappa), 0, (n, d)))
    if role == SLOW:
        # One direction in which every f_i is flat.
        h[:, 0] = L / kappa * rng.uniform(1, 1.5, n)
    # Code that clips gradients, or gives up on large models, acts only far away.
    return diagonal(h, (_FAR if role == LARGER else 2) * rng.standard_normal((n, d)))


def _problem(f: Any, g: Quadratics | None) -> Problem:
    """The problem with its optimum, which nothing but numpy is needed for."""
    if isinstance(f, Quadratics):
        return Problem(f, g)

    def slopes(x: Array) -> Array:
        y = f.gradient(np.broadcast_to(x, (f.n, f.d)))
        return y if g is None else y + g.gradient(x[None])

    def hessian(x: Array) -> Array:
        total = f.hessian(np.broadcast_to(x, (f.n, f.d))).sum(axis=0)
        return total if g is None else total + f.n * g.hessian(x[None])[0]

    x, _ = newton(lambda v: slopes(v).sum(axis=0), hessian, np.zeros(f.d), np.asarray(1e-13))
    y = f.gradient(np.broadcast_to(x, (f.n, f.d)))
    return Problem(f, g, known=Optimum(x, y, float(abs(slopes(x).sum(axis=0)).max())))


def _rows(rng: np.random.Generator, n: int, d: int, logistic: bool) -> LinearProblem:
    sizes = np.array([1 + i % 2 for i in range(n)])
    rows = int(sizes.sum())
    X = np.where(rng.random((rows, d)) < 0.6, rng.standard_normal((rows, d)), 0.0)
    # Every feature has an example, and every example a feature.
    X[np.arange(rows), np.arange(rows) % d] = 1.0
    X[np.arange(d) % rows, np.arange(d)] = 1.0
    y = rng.choice([-1.0, 1.0], rows) if logistic else rng.standard_normal(rows)
    return LinearProblem(LinearModels(X, y, sizes, 0.25, LOGISTIC if logistic else SQUARED))


def _transplanted(
    around: Sequence[Scenario], role: str, rng: np.random.Generator, n: int, d: int, kappa: float, scale: float
) -> Iterator[tuple[Problem, Any]]:
    """Parameters of a small problem for another one with the same curvatures: whether a rate holds is not asked."""
    kept = sorted(around, key=lambda s: (s.support == 1, s.problem.n != _SMALL[0], s.problem.n == 1))
    if not kept:
        return
    source = kept[0]
    f = _functions(role, rng, n, d, scale * float(source.problem.L), kappa)
    g = source.problem.g
    if g is not None:
        assert isinstance(g, Quadratics)
        g = diagonal(float(np.max(to_float(g.L))) * rng.uniform(0.4, 1, (1, d)), rng.standard_normal((1, d)))
    problem = _problem(f, g)
    plans: list[Callable[[], Compressor]] = [
        lambda: compressors.rand_k(d, max(1, d // 4)),
        lambda: compressors.bernoulli(d, 1),
        lambda: compressors.identity(d),
    ]
    compressing = any(isinstance(v, Family | Contractive) for v in source.params)
    for plan in plans if compressing else plans[:1]:
        yield problem, _moved(source.params, source.problem.n, n, plan())


def _moved(params: Any, before: int, n: int, compressor: Compressor) -> Any:
    """Parameters with as many entries as there are clients now, and with compressors on their space."""

    def moved(value: Any) -> Any:
        if isinstance(value, Family):
            return Family(compressor, n, value.joint)
        if isinstance(value, Contractive):
            if value.name.startswith("scaled"):
                return contractive.scaled(compressor)
            return contractive.top_k(compressor.d, max(1, compressor.d // 4))
        if isinstance(value, np.ndarray) and value.shape[:1] == (before,):
            return np.resize(to_float(value), (n, *value.shape[1:]))
        if isinstance(value, np.ndarray) and value.ndim:
            raise ValueError("a parameter has entries that are not one a client")
        return value

    return type(params)(*(moved(value) for value in params))
