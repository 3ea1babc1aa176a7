"""The runs of LoCoDL's Section 4: the problem, the methods with the parameters of their theorems, bits and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import compressors
from fedtheory.algorithms import (
    Algorithm,
    adiana,
    compressed_scaffnew,
    diana,
    fivegcs_cc,
    gradskip,
    locodl,
    scaffold,
)
from fedtheory.compressors import FLOAT_BITS, Compressor, Family
from fedtheory.data import Dataset
from fedtheory.learning.logistic import SparseLogistic, logistic_with_condition
from fedtheory.numbers.rational import Array
from fedtheory.papers.locodl.reruns.kernels import Given, Unsolved, descend, diana_step, few, fivegcs, locodl_talk
from fedtheory.papers.locodl.reruns.names import BOTH, L1, NATURAL, PLAIN, RAND_K
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.quadratic import Quadratics
from fedtheory.randomness import Product

#: A run stops when its relative error is this large.
DIVERGED = 1e6
#: Errors are measured when the bits have grown by this share.
_FINE = 0.005
#: The least d/k of rand-k at which only the kept entries are computed.
_FEW = 4
#: In place of a probability 0 of a geometric distribution.
_NEVER = 1e-15
#: Local steps a round of SCAFFOLD; its theorem lets the stepsize shrink with it.
LOCAL_STEPS = 10


class Task(NamedTuple):
    """The same minimisation in two forms: ``split`` has mu-convex f_i and g = (mu/2)|.|^2, ``plain`` has f_i + g.

    ``name``: the data; ``kappa``: L/mu of ``split``, as in the paper; about half as much for ``plain``; ``least``,
    ``start``: the objective at the optimum and at 0.
    """

    name: str
    kappa: float
    split: Problem
    plain: Problem
    losses: SparseLogistic
    least: float
    start: float

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.plain.n

    @property
    def d(self) -> int:
        """Dimension of the model."""
        return self.plain.d

    def error(self, x: Array) -> Array:
        """The gap of the objective relative to that of x = 0: ``(R, d) -> (R,)``."""
        return np.maximum(self.losses.average(x) - self.least, 0) / (self.start - self.least)


def pose(A: Array, b: Array, name: str, kappa: float) -> Task:
    """The problem of Section 4 for ``A (n, m, d)``, ``b (n, m)``; the optimum is computed once, for both forms."""
    f = logistic_with_condition(A, b, kappa)
    mu = float(f.mu[0])
    half, whole = SparseLogistic(f.A, f.b, mu), SparseLogistic(f.A, f.b, 2 * mu)
    known = Problem(whole).optimum
    plain = Problem(whole, known=known)
    g = Quadratics(mu * np.eye(f.d)[None], np.zeros((1, f.d)))
    split = Problem(half, g, known=Optimum(known.x, known.y - mu * known.x, known.kkt))
    least, start = whole.average(np.stack([known.x, 0 * known.x]))
    return Task(name, kappa, split, plain, whole, float(least), float(start))


def dirichlet(alpha: float, rng: np.random.Generator, n: int = 100, d: int = 10) -> Dataset:
    """Figure 7: one sample of the Dirichlet distribution a client. The paper gives no labels: fair coins here."""
    if not 0 < alpha < np.inf:
        raise ValueError(f"the parameter of the Dirichlet distribution must be positive and finite, got {alpha}")
    labels = np.where(rng.permutation(n) < n // 2, -1.0, 1.0)
    return Dataset(f"Dirichlet({alpha:g})", rng.dirichlet(np.full(d, alpha), n), labels)


@dataclass(frozen=True)
class CurvePlan:
    """One curve: a method with parameters, the bits of one message round, and how to see what it does.

    ``model(state)``: the model ``(R, d)`` whose error is measured.
    ``local``: clients descend alone in most iterations, and a coin says when they communicate.
    """

    method: str
    compressor: str
    algorithm: Algorithm
    problem: Problem
    params: Any
    bits: int
    model: Callable[[Any], Array]
    k: int = 0
    local: bool = False

    @property
    def label(self) -> str:
        """The method, and what it sends."""
        name = self.compressor.replace("rand-k", f"rand-{self.k}")
        return f"{self.method}, {name}"

    @property
    def few(self) -> bool:
        """True if only the transmitted entries of messages are computed."""
        sparse = self.compressor in (BOTH, RAND_K) and _FEW * self.k <= self.problem.d
        return sparse and self.method in ("LoCoDL", "DIANA")

    def scaled(self, factor: float) -> CurvePlan:
        """The same with its primal stepsize multiplied, and what depends on that by its theorem."""
        if factor == 1:
            return self
        params, mu = self.params, self.problem.mu
        if self.method == "ADIANA":
            eta = factor * params.eta
            theta_1 = min(0.25, float(np.sqrt(eta * mu / params.p)))
            gamma = eta / (2 * (theta_1 + eta * mu))
            changed = params._replace(eta=eta, theta_1=theta_1, gamma=gamma, beta=1 - gamma * mu)
        elif self.method == "SCAFFOLD":
            changed = params._replace(eta_l=factor * params.eta_l)
        elif self.method == "5GCS-CC":
            # gamma tau keeps its largest value.
            changed = params._replace(gamma=factor * params.gamma, tau=params.tau / factor)
        else:
            changed = params._replace(gamma=factor * params.gamma)
        return replace(self, params=changed)

    def advance(self, rng: np.random.Generator, state: object, replicas: int) -> tuple[Any, float]:
        """The states of all replicas after a communication of each, and the iterations that it took, in the mean."""
        if not self.local:
            draw = self.algorithm.draws(self.problem, self.params, state).sample(rng, (replicas,))
            return self.algorithm.step(self.problem, self.params, state, draw), 1.0
        ends, talk = rng.geometric(self.params.p, replicas), np.ones(replicas, dtype=bool)
        advanced = self._skipping if self.method == "GradSkip" else self._descending
        return advanced(rng, state, ends, talk), float(ends.mean())

    def _descending(self, rng: np.random.Generator, state: Any, ends: Array, talk: Array) -> Any:
        """All descend ``ends (R,)`` times; then what is left of the last of these iterations is that of the library."""
        distribution, gamma = self.algorithm.draws(self.problem, self.params, state), self.params.gamma
        assert isinstance(distribution, Product)
        control = state.u if self.method == "LoCoDL" else state.h
        f: Any = self.problem.f
        counts = np.broadcast_to(ends[:, None], control.shape[:-1])
        after, still = state._replace(x=descend(f, state.x, control, gamma, counts)), {"f": Given(control)}
        if self.method == "LoCoDL":
            # g is (mu/2)|.|^2.
            q = 1 - gamma * self.problem.mu
            power = q ** ends[:, None]
            y = power * state.y + gamma * (1 - power) / (1 - q) * state.v
            after, still["g"] = after._replace(y=y), Given(state.v[:, None])
        coins = [part.sample(rng, talk.shape) for part in distribution.parts[1:]]
        if self.few:
            return locodl_talk(self.params, after, *coins)
        draw = distribution.make(talk, *coins)
        return self.algorithm.step(SimpleNamespace(n=f.n, d=f.d, **still), self.params, after, draw)

    def _skipping(self, rng: np.random.Generator, state: Any, ends: Array, talk: Array) -> Any:
        """Clients stand still from the iteration on in which their coin first shows false."""
        f: Any = self.problem.f
        gamma, _, q = self.params
        stops = np.where(q < 1, rng.geometric(np.maximum(1 - q, _NEVER), (len(ends), len(q))), ends.max() + 1)
        x = descend(f, state.x, state.h, gamma, np.minimum(ends[:, None], stops) - 1)
        stopped = stops < ends[:, None]
        h = np.where(stopped[..., None], f.gradient(x), state.h) if stopped.any() else state.h
        draw = gradskip.Coins(talk, stops != ends[:, None])
        return self.algorithm.step(self.problem, self.params, gradskip.State(x, h), draw)


def _made(kind: str, d: int, k: int) -> Compressor:
    sparse = _FEW * k <= d
    makers: dict[str, Callable[[], Compressor]] = {
        RAND_K: lambda: few(d, k, False) if sparse else compressors.rand_k(d, k),
        BOTH: lambda: few(d, k, True) if sparse else compressors.rand_k_natural(d, k),
        NATURAL: lambda: compressors.natural(d),
        L1: lambda: compressors.l1_selection(d),
    }
    return makers[kind]()


def _theory(task: Task, method: str, family: Family) -> tuple[Any, float]:
    """The parameters of the method's theorem, and the iterations 1/(1 - rate) that it promises (up to constants)."""
    problem, omega = task.plain, float(family.omega)
    mu = problem.mu
    params: Any
    if method == "DIANA":
        params = diana.theory(problem, family)
        return params, max(1 / (params.gamma * mu), 2 / params.alpha)
    if method == "ADIANA":
        params = adiana.theory(problem, family)
        anchor = (1 + params.theta_1) / (params.p * params.theta_1)
        return params, max(1 / (params.gamma * mu), 2 / params.theta_1, anchor, 2 * (1 + omega))
    params = fivegcs_cc.theory(problem, family)
    L_F = (problem.L - mu) / problem.n
    return params, max(1 + 1 / (params.gamma * mu), (1 + omega) * (1 + L_F / (2 * params.tau)))


def plans(task: Task, method: str, kinds: Sequence[str]) -> Iterator[CurvePlan]:
    """A method with each of these compressors, or with what it sends if it compresses nothing. LoCoDL takes
    k = ceil(d/n) of Corollary 3.2, the others the k that their own theorem says needs the fewest bits."""
    if method in PLAIN:
        yield _uncompressed(task, method)
    for kind in kinds:
        chosen = [-(-task.d // task.n)] if method == "LoCoDL" else range(1, task.d + 1)
        options = [_compressed(task, method, kind, k) for k in (chosen if kind in (RAND_K, BOTH) else [1])]
        yield min(options, key=lambda option: option[0])[1]


def with_k(task: Task, method: str, kind: str, k: int) -> CurvePlan:
    """A method whose compressor keeps k coordinates. Raise ``ValueError`` if there are fewer."""
    return _compressed(task, method, kind, k)[1]


def _mean_x(state: Any) -> Array:
    return state.x.mean(axis=-2)


def _compressed(task: Task, method: str, kind: str, k: int) -> tuple[float, CurvePlan]:
    """The method, and the bits that its theorem promises, up to constants; none are needed of LoCoDL."""
    n, made = task.n, _made(kind, task.d, k)
    if method == "LoCoDL":
        params: Any = locodl.theory(task.split, Family(made, n))
        return 0.0, CurvePlan(method, kind, locodl.algorithm, task.split, params, made.bits, _mean_x, k, local=True)
    params, iterations = _theory(task, method, Family(made, n))
    bits = made.bits * (2 if method == "ADIANA" else 1)
    algorithm = {"DIANA": diana.algorithm, "ADIANA": adiana.algorithm, "5GCS-CC": fivegcs_cc.algorithm}[method]
    model: Callable[[Any], Array] = (lambda state: state.y) if method == "ADIANA" else lambda state: state.x
    return iterations * bits, CurvePlan(method, kind, algorithm, task.plain, params, bits, model, k)  # type: ignore[arg-type]


def _uncompressed(task: Task, method: str) -> CurvePlan:
    problem, n, d = task.plain, task.n, task.d
    if method == "CompressedScaffnew":
        params: Any = compressed_scaffnew.theory(problem)
        # All clients know the permutation from shared randomness: no index is sent.
        bits = FLOAT_BITS * compressed_scaffnew.reals(n, d, params.s)
        return CurvePlan(
            method, PLAIN[method], compressed_scaffnew.algorithm, problem, params, bits, _mean_x, local=True
        )
    if method == "SCAFFOLD":
        # The model and the control variate; the stepsize is that of Karimireddy et al. with all clients.
        params, bits = scaffold.Params(n, LOCAL_STEPS, 1 / (81 * problem.L * LOCAL_STEPS)), 2 * FLOAT_BITS * d
        return CurvePlan(method, PLAIN[method], scaffold.algorithm, problem, params, bits, lambda state: state.x)
    return CurvePlan(
        method,
        PLAIN[method],
        gradskip.algorithm,
        problem,
        gradskip.theory(problem),
        FLOAT_BITS * d,
        _mean_x,
        local=True,
    )


@dataclass(frozen=True)
class CurveRun:
    """Errors ``(T, R)`` of a plan when ``bits (T,)`` a client had been sent, for R seeds: of the average model that the
    last communication made, as no other is known without one."""

    plan: CurvePlan
    bits: Array
    errors: Array

    def costs(self, target: float) -> tuple[Array, Array, Array]:
        """The bits at which the error of each seed first is at most ``target``, infinite if never; the bits after which
        its run stopped; and whether it diverged."""
        reached = self.errors <= target
        first = np.where(reached.any(axis=0), self.bits[reached.argmax(axis=0)], np.inf)
        return first, np.full(first.shape, self.bits[-1]), self.errors[-1] >= DIVERGED


class Limits(NamedTuple):
    """A run ends when every seed has been at error ``least``, has sent ``bits``, or after ``iterations``."""

    least: float
    bits: float
    iterations: int


def run(plan: CurvePlan, task: Task, limits: Limits, replicas: int, rng: np.random.Generator) -> CurveRun:
    """All replicas at once, from a communication to the next. Errors are measured when bits have grown by half a per
    cent, not at every communication.

    Where a local problem of 5GCS-CC cannot be solved the run stops.
    """
    if plan.method == "5GCS-CC":
        plan = replace(plan, algorithm=fivegcs(plan.problem, plan.params))
    elif plan.few and plan.method == "DIANA":
        plan = replace(plan, algorithm=replace(plan.algorithm, step=diana_step))
    state = plan.algorithm.init(plan.problem, plan.params)
    state = type(state)(*(np.array(np.broadcast_to(field, (replicas, *field.shape)), dtype=float) for field in state))
    sent, iterations = 0.0, 0.0
    bits, errors = [sent], [task.error(plan.model(state))]
    best = errors[0]
    while iterations < limits.iterations:
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                state, taken = plan.advance(rng, state, replicas)
            except Unsolved:
                break
            sent, iterations = sent + plan.bits, iterations + taken
            if sent - bits[-1] < _FINE * sent:
                continue
            bits.append(sent)
            errors.append(np.nan_to_num(task.error(plan.model(state)), nan=DIVERGED, posinf=DIVERGED))
        best = np.minimum(best, errors[-1])
        if best.max() <= limits.least or errors[-1].max() >= DIVERGED or sent >= limits.bits:
            break
    return CurveRun(plan, np.array(bits), np.stack(errors))
