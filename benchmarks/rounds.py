"""One round of each method against the products that it cannot avoid, and against a plain loop over the clients.

Dense: 100 clients with 100 rows of 300 features, logistic losses. The kernel of one gradient of all clients is the two
products A_i x_i and A_i' s_i; of FedADMM's iterations that of each inner step; of FSVRG two products with all rows for
the whole gradient, and for each row line 8 of its Algorithm 4: two more products, S_k and the gradient. FedDCD solves a
local problem in a round: here its answer is known and costs one gradient, the least that a local solver could cost, so
that the ratio is that of all other work. Sparse: the shape of Federated Optimization's data, 1000 clients and 20,002
features, whose kernel is four sparse products: those of a whole gradient, and those of all local models, each on the
features that its client holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import fedadmm_speed
from benchmarks.timing import Line, compared
from fedtheory.algorithms import diana, fedadmm, fedavg, feddcd, fsvrg, locodl
from fedtheory.algorithms.selections import Uniform
from fedtheory.compressors import Family, rand_k
from fedtheory.learning.logistic import Logistic, logistic_with_condition
from fedtheory.learning.subproblems import InnerSteps
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.reruns.text import generated
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC
from fedtheory.problems.quadratic import diagonal

CLIENTS, ROWS, FEATURES = 100, 100, 300
#: What a round may cost, in units of its kernel: all that is elementwise on models is small against the data.
LIMIT = 1.25
#: That of a compiled loop over sparse rows, which reads them twice and takes exponentials besides.
COMPILED = 5
KEPT = 30
REPEATS = 41


def dense() -> Problem:
    """Logistic losses at the dense shape, with a g of the same curvature for LoCoDL."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((CLIENTS, ROWS, FEATURES))
    f = logistic_with_condition(A, rng.choice([-1, 1], (CLIENTS, ROWS)), 1e3)
    mu = float(f.mu[0])
    return Problem(f, diagonal(np.full((1, FEATURES), mu), np.zeros((1, FEATURES))))


def products(f: Logistic) -> Callable[[], Array]:
    """The products of one gradient of all clients."""
    x, s = np.ones((f.n, f.d, 1)), np.ones((f.n, 1, f.m))

    def run() -> Array:
        np.matmul(f.signed_rows, x)
        return np.matmul(s, f.signed_rows)

    return run


def one_round(module: Any, problem: Any, params: Any, state: Any) -> Callable[[], Any]:
    """A round of a method, its draws included."""
    rng = np.random.default_rng(1)
    return lambda: module.step(problem, params, state, module.algorithm.draws(problem, params, state).sample(rng))


@dataclass(frozen=True)
class Solved:
    """Functions whose local problems are solved at the price of one gradient."""

    f: Logistic

    @property
    def n(self) -> int:
        return self.f.n

    @property
    def d(self) -> int:
        return self.f.d

    def conjugate_gradient(self, y: Array) -> Array:
        """The products of a gradient, and a known answer."""
        return products(self.f)()[:, 0]


def against_kernels() -> Iterator[Line]:
    """A line for each method."""
    problem = dense()
    f: Any = problem.f
    rng = np.random.default_rng(2)
    family = Family(rand_k(FEATURES, KEPT), CLIENTS)
    x, everywhere = rng.standard_normal(FEATURES), rng.standard_normal((CLIENTS, FEATURES))
    kernel = products(f)

    of_locodl = locodl.theory(problem, family)
    state = locodl.init(problem, of_locodl, everywhere, x, everywhere - everywhere.mean(axis=0))
    yield _line("LoCoDL", one_round(locodl, problem, of_locodl, state), kernel, REPEATS)

    of_diana = diana.theory(Problem(f), family)
    start = diana.algorithm.init(problem, of_diana, x)
    yield _line("DIANA", one_round(diana, Problem(f), of_diana, start), kernel, REPEATS)

    solved = Problem(Solved(f))  # type: ignore[arg-type]
    of_feddcd = feddcd.Params(CLIENTS // 2, np.ones(CLIENTS))
    dual = feddcd.State(everywhere - everywhere.mean(axis=0), everywhere)
    yield _line("FedDCD's outer work", one_round(feddcd, solved, of_feddcd, dual), kernel, REPEATS)

    steps, k0 = 3, 10
    for taking_part, limit in ((CLIENTS, LIMIT), (CLIENTS // 2, None)):
        of_fedadmm = fedadmm.theory(
            Problem(f),
            np.full(CLIENTS, 1 / CLIENTS),
            Uniform(CLIENTS, taking_part),
            InnerSteps(f.L, steps, alone=True),
            k0,
            np.full(CLIENTS, 0.95),
            np.ones(CLIENTS),
        )
        start = fedadmm.init(Problem(f), of_fedadmm)
        run = one_round(fedadmm, Problem(f), of_fedadmm, start)
        name = f"FedADMM, {k0} iterations of {steps} steps, {taking_part} clients take part"
        chosen = products(Logistic(f.A[:taking_part], f.b[:taking_part], 1.0))
        yield _line(name, run, lambda chosen=chosen: [chosen() for _ in range(k0 * steps)], 3, limit)

    flat = LinearModels(f.A.reshape(-1, FEATURES), f.b.reshape(-1), np.full(CLIENTS, ROWS), 1e-3, LOGISTIC)
    round_of, params = _fsvrg(flat)
    yield _line("FSVRG, dense", round_of, _passes(flat, params.S), 15)
    data = generated(1000, 20_002, 200, np.random.default_rng(0)).train
    sparse = LinearModels(data.X, data.y, data.sizes, 1 / len(data.y), LOGISTIC)
    round_of, params = _fsvrg(sparse)
    kernel = _sparse_products(sparse, params.S.local.Z)
    yield _line("FSVRG, sparse", round_of, kernel, 5, None)
    compiled = params._replace(S=replace(params.S, compiled=True))
    problem = LinearProblem(sparse)
    round_of = one_round(fsvrg, problem, compiled, fsvrg.algorithm.init(problem, compiled, w=np.full(sparse.d, 0.01)))
    yield _line("FSVRG, sparse, compiled", round_of, kernel, 5, COMPILED)


def _fsvrg(f: LinearModels) -> tuple[Callable[[], Any], Any]:
    problem = LinearProblem(f)
    params = fsvrg.theory(problem, 0.1)
    return one_round(fsvrg, problem, params, fsvrg.algorithm.init(problem, params, w=np.full(f.d, 0.01))), params


def _passes(f: LinearModels, S: Array) -> Callable[[], Any]:
    """A whole gradient's products, then w_k -= S_k (x_i'w_k) x_i + g, one row of each client at a time."""
    w, s, local = np.ones(f.d), np.ones(f.examples), np.ones((f.n, f.d))

    def run() -> None:
        f.X @ w
        f.X.T @ s
        for t in range(ROWS):
            rows = f.X.take(f.starts + t, axis=0)
            rows *= np.vecdot(rows, local)[:, None]
            rows *= S
            rows += w
            np.subtract(local, rows, out=rows)

    return run


def _sparse_products(f: LinearModels, Z: Any) -> Callable[[], Any]:
    """``Z (n, M)``: the rows on the supports of the clients."""
    w, local, s = np.ones(f.d), np.ones(Z.shape[1]), np.ones(f.examples)

    def run() -> None:
        f.X @ w
        f.X.T @ s
        Z @ local
        Z.T @ s

    return run


def _line(
    name: str, run: Callable[[], Any], kernel: Callable[[], Any], repeats: int, limit: float | None = LIMIT
) -> Line:
    found = compared(run, kernel, repeats)
    return Line("round / kernel", name, found.ratio, "times", at_most=limit, note=found.words)


def _repeated(run: Callable[[], Any], times: int) -> Callable[[], Any]:
    return lambda: [run() for _ in range(times)]


def against_loops() -> Iterator[Line]:
    """The same rounds with a loop over the clients, as simulators do it."""
    problem = dense()
    f: Any = problem.f
    rng = np.random.default_rng(3)
    family = Family(rand_k(FEATURES, KEPT), CLIENTS)
    x, u = np.zeros(FEATURES), np.zeros((CLIENTS, FEATURES))

    def gradient(i: int, at: Array) -> Array:
        A = f.signed_rows[i]
        return f.mu[i] * at - A.T @ (1 / (1 + np.exp(A @ at))) / f.m

    def compressed(vector: Array) -> Array:
        out = np.zeros(FEATURES)
        kept = rng.choice(FEATURES, KEPT, replace=False)
        out[kept] = vector[kept] * FEATURES / KEPT
        return out

    of_locodl = locodl.theory(problem, family)
    gamma, chi, rho, p, omega, _ = of_locodl

    def loop_locodl() -> None:
        y_hat = x - gamma * f.mu[0] * x
        hats = [x - gamma * gradient(i, x) + gamma * u[i] for i in range(CLIENTS)]
        if rng.random() < p:
            sent = [compressed(hat - y_hat) for hat in hats]
            mean = sum(sent) / (2 * CLIENTS)
            [(1 - rho) * hat + rho * (y_hat + mean) for hat in hats]
            [u[i] + p * chi / (gamma * (1 + 2 * omega)) * (mean - sent[i]) for i in range(CLIENTS)]

    of_diana = diana.theory(Problem(f), family)

    def loop_diana() -> None:
        sent = [compressed(gradient(i, x) - u[i]) for i in range(CLIENTS)]
        [u[i] + of_diana.alpha * sent[i] for i in range(CLIENTS)]
        x - of_diana.gamma * sum(sent) / CLIENTS

    of_fedavg = fedavg.Params(CLIENTS, 5, 1 / float(f.L.max()))

    def loop_fedavg() -> None:
        models = []
        for i in range(CLIENTS):
            model = x
            for _ in range(of_fedavg.epochs):
                model = model - of_fedavg.eta_l * gradient(i, model)
            models.append(model)
        sum(models) / CLIENTS

    # Of LoCoDL's rounds few communicate, and these cost the loop more: so many at a time that one does, on average.
    between = round(1 / p)
    for name, module, at, params, loop, rounds in (
        (f"LoCoDL, {between} rounds", locodl, problem, of_locodl, loop_locodl, between),
        ("DIANA", diana, Problem(f), of_diana, loop_diana, 1),
        ("FedAvg, 5 local steps", fedavg, Problem(f), of_fedavg, loop_fedavg, 1),
    ):
        run = one_round(module, at, params, module.algorithm.init(at, params))
        found = compared(_repeated(loop, rounds), _repeated(run, rounds), REPEATS)
        yield Line("loop over clients / round", name, found.ratio, "times", at_least=1, note=found.words)
    times = fedadmm_speed.measure(100, 100, 10, 3, 1.0, 10)
    pairs = times["loop over clients"] / times["batch"]
    name = "FedADMM, n = m = 100, k_0 = 10"
    yield Line("loop over clients / round", name, float(np.median(pairs)), "times", at_least=1)
    # A round has k_0 = 10 iterations.
    seconds = 4.1 * float(np.median(times["batch"]))
    # What the authors' published solver, in Octave, took for as many.
    yield Line("FedADMM, n = m = 100, k_0 = 10", "41 iterations", seconds, "s", at_most=0.5)
