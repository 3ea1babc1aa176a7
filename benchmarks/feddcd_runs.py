"""The runs of FedDCD's Section 8: data dealt to clients, models with their optima, the five methods with their grids.

``feddcd_experiments.py`` makes the table and the figures of them.
"""

from __future__ import annotations

import math
import zlib
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_digits, load_svmlight_file

from fedtheory.algorithms import Algorithm, accfeddcd, fedavg, feddcd, fedprox, run, scaffold
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.logistic import Logistic
from fedtheory.problems.optimum import newton, solve
from fedtheory.problems.oracles import Minibatches
from fedtheory.problems.perceptron import Perceptron
from fedtheory.problems.softmax import Softmax, minimiser

PRIMAL, DUAL = ("FedAvg", "FedProx", "SCAFFOLD"), ("FedDCD", "AccFedDCD")
METHODS = PRIMAL + DUAL
IID, SKEWED = "i.i.d.", "skewed"
LINEAR, PERCEPTRON = "linear model", "perceptron"

#: Regularisation of the linear model, the alpha of the theorems; the paper does not give its own.
ALPHA = 1e-2
#: Rows of a client at most, and size of its Newton systems at most: classes * min(rows, features).
ROWS, LOCAL_SYSTEM = 30, 150
#: Local epochs of the primal methods, as in the paper; an epoch is two steps, each on half of the rows.
EPOCHS = (5, 20)
#: Local stepsizes of the primal methods by epochs: over L for the linear model, as they are for the perceptron.
STEPSIZES = {LINEAR: {5: (1.0, 3.0, 10.0), 20: (1.0, 3.0)}, PERCEPTRON: {5: (0.1, 0.3, 1.0), 20: (0.1, 0.3)}}
#: Weight of FedProx's proximal term.
PROXIMAL = 0.1
#: Learning rates of FedDCD with Lambda = I/alpha; Theorem 4.1 has 1.
LEARNING_RATES = {LINEAR: (1.0, 1.5, 1.9), PERCEPTRON: (0.3, 1.0, 3.0)}
#: alpha/beta in the a and b of AccFedDCD: times the true ratio for the linear model, a guess for the perceptron.
RATIOS = {LINEAR: (1.0, 10.0), PERCEPTRON: (0.1, 1.0)}
#: The alpha in Lambda for the perceptron, which is not convex.
PERCEPTRON_SCALE = 0.03
#: Local solvers of the dual methods: Newton steps for the linear model, steps of Adam and their size otherwise.
NEWTON_STEPS, ADAM_STEPS, ADAM_SIZE = 10, 20, 0.005

# A dense array of 2 GiB; a Newton system of 800 MB; how many local Newton systems are solved at once.
_DENSE_LIMIT, _SYSTEM_LIMIT, _CHUNK = 2**28, 10_000, 64


class Scale(NamedTuple):
    """``clients``, numbers ``taus`` of them a round, ``rounds`` and ``seeds``."""

    clients: int
    taus: tuple[int, ...]
    rounds: int
    seeds: int


FULL, QUICK = Scale(100, (5, 10, 30), 100, 3), Scale(40, (2, 4, 12), 40, 1)


class Data(NamedTuple):
    """``A (rows, p)``, with a last column of ones, and ``b (rows,)``, labels 0, 1, ..."""

    name: str
    A: Array
    b: Array


def read(path: Path | None) -> Data:
    """A file in LIBSVM's text format with two or more labels, or the bundled digits. ``ValueError`` if unreadable."""
    if path is None:
        A, labels = load_digits(return_X_y=True)
        name, A = "digits", A / 16
    else:
        try:
            sparse, labels = load_svmlight_file(str(path))
        except (OSError, EOFError, ValueError, OverflowError, zlib.error) as error:
            raise ValueError(f"{path} cannot be read as LIBSVM's text format: {str(error)[:100]}") from error
        if math.prod(sparse.shape) > _DENSE_LIMIT:
            raise ValueError(f"{path} is too large to be dense: {sparse.shape[0]} rows of {sparse.shape[1]} features")
        name, A = path.name, sparse.toarray()
    values, b = np.unique(labels, return_inverse=True)
    if len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"{name} must have two or more different labels, all of them finite")
    return Data(name, np.column_stack([A, np.ones(len(A))]), b)


class Dealt(NamedTuple):
    """Row numbers of the clients ``(n, m)``, by split, and of the rows kept for testing."""

    rows: Mapping[str, Array]
    test: Array


def deal(b: Array, n: int, most: int, rng: np.random.Generator) -> Dealt:
    """Rows for n clients, at most ``most`` each and four fifths of any label: i.i.d., and from shards of one label.

    With more than two labels a client has two shards, so at most two labels; otherwise one. Both splits hold the same
    rows. ``ValueError`` when there are not enough rows.
    """
    shards = 1 if b.max() == 1 else 2
    order = rng.permutation(len(b))
    by_label = [order[b[order] == c] for c in range(b.max() + 1)]
    by_label = [rows[: 4 * len(rows) // 5] for rows in by_label]
    size = min(most, len(b) // n) // shards
    while size and sum(len(rows) // size for rows in by_label) < n * shards:
        size -= 1
    if size * shards < 2:
        raise ValueError(f"{len(b)} rows are too few for {n} clients with two rows or more each")
    pieces = [rows[k : k + size] for rows in by_label for k in range(0, len(rows) - size + 1, size)]
    chosen = rng.permutation(len(pieces))[: n * shards]
    skewed = np.concatenate([pieces[k] for k in chosen]).reshape(n, -1)
    iid = rng.permutation(skewed.ravel()).reshape(n, -1)
    return Dealt({IID: iid, SKEWED: skewed}, np.setdiff1d(order, skewed))


class Binary(Logistic):
    """Logistic regression with what the primal methods and the test need besides."""

    def batch_gradient(self, x: Array, rows: Array) -> Array:
        """Gradient of f_i on some rows: ``x (..., n, d)``, ``rows (..., n, k)`` -> ``(..., n, d)``."""
        signed = self._signed[np.arange(self.n)[:, None], rows]
        margins = np.matmul(signed, x[..., None])
        return self.mu[:, None] * x - (signed * expit(-margins)).mean(axis=-2)

    def predict(self, x: Array, A: Array) -> Array:
        """Labels 0 or 1 of the rows ``A`` under the model ``x (d,)``."""
        return (A @ x > 0).astype(int)


@dataclass(frozen=True)
class Task:
    """A model on one split: local risks ``f``, the ``start (d,)`` of all methods, ``best`` = F*, and test rows."""

    model: str
    split: str
    f: Softmax | Binary | Perceptron
    start: Array
    best: float
    A_test: Array
    b_test: Array

    def gap(self, x: Array) -> Array:
        """F(x) - F* with F the average risk, ``(..., d) -> (...)``; infinite where a method has diverged."""
        with np.errstate(all="ignore"):
            gap = self.f.value(x[..., None, :]).mean(axis=-1) - self.best
        return np.where(np.isfinite(gap), gap, np.inf)

    def accuracy(self, x: Array) -> Array:
        """Share of test rows that are labelled right, ``(..., d) -> (...)``."""
        flat = x.reshape(-1, x.shape[-1])
        shares = [(self.f.predict(v, self.A_test) == self.b_test).mean() for v in flat]
        return np.array(shares).reshape(x.shape[:-1])


def risks(model: str, A: Array, b: Array, classes: int, alpha: float) -> Softmax | Binary | Perceptron:
    """Local risks for rows ``A (n, m, p)`` with labels ``b (n, m)``."""
    if model == PERCEPTRON:
        return Perceptron(A, b, classes)
    return Binary(A, 2 * b - 1, alpha) if classes == 2 else Softmax(A, b, alpha, classes)


def tasks(
    data: Data, models: Sequence[str], clients: int, rng: np.random.Generator, alpha: float = ALPHA
) -> Iterator[Task]:
    """Every model on both splits. ``ValueError`` for too few rows, or too many features for Newton's method."""
    classes, p = int(data.b.max()) + 1, data.A.shape[1]
    heads = 1 if classes == 2 else classes
    if heads * p > _SYSTEM_LIMIT:
        raise ValueError(f"{heads * p} weights are too many for Newton's method, at most {_SYSTEM_LIMIT}")
    most = ROWS if heads * p <= LOCAL_SYSTEM else min(ROWS, max(2, LOCAL_SYSTEM // heads))
    dealt = deal(data.b, clients, most, rng)
    test = data.A[dealt.test], data.b[dealt.test]
    for model in models:
        start = None
        for split, rows in dealt.rows.items():
            f = risks(model, data.A[rows], data.b[rows], classes, alpha)
            if isinstance(f, Perceptron):
                start = f.initial(rng) if start is None else start
                yield Task(model, split, f, start, 0.0, *test)
                continue
            x = (minimiser(f) if isinstance(f, Softmax) else solve(Problem(f))).x
            yield Task(model, split, f, np.zeros(f.d), float(f.value(x[None]).mean()), *test)


#: Local steps of the clients with the given numbers ``(k,)``, at ``y (k, d)`` from ``w (k, d)``.
Local = Callable[[Array, Array, Array], Array]


@dataclass
class Clients:
    """The f_i as the dual methods see them: grad f_i^*(y_i) by local steps from client i's last answer.

    ``w (seeds, n, d)``: the last answers; ``asked (seeds, n)``: who takes part in the step at hand and so answers anew.
    The answers of the others are not used in the step.
    """

    f: Any
    local: Local
    w: Array
    asked: Array

    @property
    def n(self) -> int:
        return int(self.f.n)

    @property
    def d(self) -> int:
        return int(self.f.d)

    def conjugate_gradient(self, y: Array) -> Array:
        seeds, clients = np.nonzero(self.asked)
        w = self.w.copy()
        for k in range(0, len(seeds), _CHUNK):
            where = seeds[k : k + _CHUNK], clients[k : k + _CHUNK]
            w[where] = self.local(where[1], y[where], w[where])
        self.w = w
        return w


def newton_steps(f: Softmax | Binary) -> Local:
    """At most ``NEWTON_STEPS`` Newton steps on f_i - <., y_i>, in the span of the client's rows; across it w = y/mu."""
    basis, rows = np.linalg.qr(np.swapaxes(f.A, -1, -2))
    inside = replace(f, A=np.swapaxes(rows, -1, -2))

    def local(clients: Array, y: Array, w: Array) -> Array:
        V, k = basis[clients], len(clients)
        g = replace(inside, A=inside.A[clients], b=inside.b[clients], mu=inside.mu[clients])
        Y, W = (v.reshape(k, -1, V.shape[1]) for v in (y, w))
        target, start = np.matmul(Y, V), np.matmul(W, V).reshape(k, -1)
        slope = target.reshape(k, -1)
        tolerance = 1e-12 * np.maximum(1, np.linalg.norm(slope, axis=-1))
        z, _ = newton(lambda v: g.gradient(v) - slope, g.hessian, start, tolerance, NEWTON_STEPS)
        back = np.swapaxes(V, -1, -2)
        across = (Y - np.matmul(target, back)) / g.mu[:, None, None]
        return (across + np.matmul(z.reshape(target.shape), back)).reshape(k, -1)

    return local


def adam_steps(f: Perceptron) -> Local:
    """``ADAM_STEPS`` steps of Adam, with its usual constants, on f_i - <., y_i> (Kingma and Ba 2015, Algorithm 1)."""

    def local(clients: Array, y: Array, w: Array) -> Array:
        g = replace(f, A=f.A[clients], b=f.b[clients])
        mean, square = np.zeros_like(w), np.zeros_like(w)
        for t in range(1, ADAM_STEPS + 1):
            slope = g.gradient(w) - y
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            w = w - ADAM_SIZE * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        return w

    return local


def reporting(inner: Algorithm, exchanges: Callable[[Any], tuple[Array, ...]]) -> Algorithm:
    """A dual method with a field more in its state: ``x (..., exchanges, d)``, the server's models in the last step.

    ``exchanges(draw)``: the clients ``(..., n)`` that upload their models in each exchange of the step; the server's
    model is the average of all that it has received in the step.
    """
    make: Any = namedtuple
    State = make("State", (*inner.State._fields, "x"))  # type: ignore[attr-defined]

    def step(problem: Problem, params: Any, state: Any, draw: Any) -> Any:
        clients: Any = problem.f
        masks = exchanges(draw)
        clients.asked = np.logical_or.reduce(masks)
        after = inner.step(problem, params, inner.State(*state[:-1]), draw)
        means = [mean_over(mask, params.tau, clients.w) for mask in masks]
        received = [sum(means[: k + 1]) / (k + 1) for k in range(len(means))]
        return State(*after, np.stack(received, axis=-2))

    return replace(inner, State=State, step=step)


_feddcd = reporting(feddcd.algorithm, lambda draw: (draw,))
_accfeddcd = reporting(accfeddcd.algorithm, lambda draw: (draw.first, draw.second))


class Grid(NamedTuple):
    """A method in several settings, each for several seeds, as replicas of one run."""

    settings: tuple[str, ...]
    algorithm: Algorithm
    problem: Problem
    params: Any
    state: Any
    exchanges: int = 1


def _replicas(values: Sequence[float], seeds: int) -> Array:
    """Each value once for each seed, to multiply states ``(replicas, n, d)``."""
    return np.repeat(values, seeds)[:, None, None]


def primal_grid(task: Task, method: str, tau: int, epochs: int, seeds: int) -> Grid:
    """FedAvg, FedProx or SCAFFOLD with its local stepsizes."""
    problem, batches = Problem(task.f), Minibatches(task.f, max(1, task.f.m // 2))  # type: ignore[arg-type]
    unit, over = (1.0, "") if isinstance(task.f, Perceptron) else (float(task.f.L.max()), "/L")
    sizes = STEPSIZES[task.model][epochs]
    eta = _replicas([c / unit for c in sizes], seeds)
    params: Any
    if method == "FedAvg":
        algorithm, params = fedavg.algorithm, fedavg.Params(tau, epochs, eta, 1, batches)
    elif method == "FedProx":
        algorithm, params = fedprox.algorithm, fedprox.Params(tau, PROXIMAL, epochs, eta, batches)
    else:
        algorithm, params = scaffold.algorithm, scaffold.Params(tau, epochs, eta, 1, batches)
    names = tuple(f"{epochs} epochs, stepsize {c:g}{over}" for c in sizes)
    return Grid(names, algorithm, problem, params, algorithm.init(problem, params, x=task.start))


def dual_grid(task: Task, method: str, tau: int, seeds: int) -> Grid:
    """FedDCD with its learning rates, or AccFedDCD with its guesses of alpha/beta."""
    f, n = task.f, task.f.n
    if isinstance(f, Perceptron):
        local, alpha, ratio, times = adam_steps(f), PERCEPTRON_SCALE, 1.0, ""
    else:
        local, alpha = newton_steps(f), float(f.mu.min())
        ratio, times = alpha / float(f.L.max()), " times the true one"
    values = LEARNING_RATES[task.model] if method == "FedDCD" else RATIOS[task.model]
    replicas, y = len(values) * seeds, np.zeros((n, f.d))
    w = np.broadcast_to(task.start, (replicas, n, f.d))
    problem = Problem(Clients(f, local, w, np.zeros((replicas, n), dtype=bool)))  # type: ignore[arg-type]
    Lambda = np.full(n, 1 / alpha)
    if method == "FedDCD":
        names = tuple(f"learning rate {eta:g}" for eta in values)
        params: Any = feddcd.Params(tau, Lambda, _replicas(values, seeds))
        return Grid(names, _feddcd, problem, params, _feddcd.State(y, y, task.start[None]))
    names = tuple(f"alpha/beta {c:g}{times}" for c in values)
    pairs = (accfeddcd.acceleration(min(1.0, c * ratio), tau, n) for c in values)
    params = accfeddcd.Params(tau, Lambda, *(_replicas(v, seeds) for v in zip(*pairs, strict=True)))
    return Grid(names, _accfeddcd, problem, params, _accfeddcd.State(y, y, y, y, np.stack([task.start] * 2)), 2)


class Curves(NamedTuple):
    """``gap``, ``accuracy (settings, rounds+1)`` after 0, 1, ... rounds, means over seeds; an iteration of the method
    is ``exchanges`` rounds."""

    settings: tuple[str, ...]
    gap: Array
    accuracy: Array
    exchanges: int = 1

    def rounds_to(self, target: float, once: bool = False) -> float:
        """Fewest rounds (``once``: iterations) after which a setting has a gap of at most ``target``, or infinity."""
        reached = self.gap <= target
        first = np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf).min()
        return float(np.ceil(first / self.exchanges) if once else first)

    @property
    def best(self) -> int:
        """The setting with the lowest average of log gap."""
        return int(np.log(np.maximum(self.gap, 1e-14)).mean(axis=1).argmin())


def measure(task: Task, grids: Sequence[Grid], rounds: int, seeds: int, rng: np.random.Generator) -> Curves:
    """One method in all its settings."""
    found = []
    for grid in grids:
        count, steps = len(grid.settings), rounds // grid.exchanges

        def observe(state: Any) -> Array:
            x = state.x.reshape(len(state.x), -1, task.f.d)
            return np.stack([task.gap(x), task.accuracy(x)], axis=-1)

        with np.errstate(over="ignore", invalid="ignore"):
            seen = run(grid.algorithm, grid.problem, grid.params, steps, rng, observe, count * seeds, grid.state)
        seen = seen.reshape(steps + 1, count, seeds, grid.exchanges, 2).mean(axis=2)
        rows = np.moveaxis(seen, 2, 1).reshape(-1, count, 2)
        # A state holds the models of all exchanges of its step; the first state those of none.
        found.append(rows[grid.exchanges - 1 :])
    gap, accuracy = np.moveaxis(np.concatenate(found, axis=1), (2, 1), (0, 1))
    return Curves(tuple(s for grid in grids for s in grid.settings), gap, accuracy, grids[0].exchanges)


#: By model, split, number of clients a round, and method.
Results = dict[tuple[str, str, int, str], Curves]


def experiment(all_tasks: Sequence[Task], scale: Scale, seed: int, log: Callable[[str], None]) -> Results:
    """All methods on all tasks: the linear model for every tau, the perceptron for the largest."""
    results: Results = {}
    for task in all_tasks:
        for tau in scale.taus if task.model == LINEAR else scale.taus[-1:]:
            for method in METHODS:
                key = (task.model, task.split, tau, method)
                rng = np.random.default_rng([seed, zlib.crc32(repr(key).encode())])
                if method in PRIMAL:
                    grids = [primal_grid(task, method, tau, epochs, scale.seeds) for epochs in EPOCHS]
                else:
                    grids = [dual_grid(task, method, tau, scale.seeds)]
                results[key] = measure(task, grids, scale.rounds, scale.seeds, rng)
            log(f"{task.model}, {task.split}, tau = {tau}: done")
    return results
