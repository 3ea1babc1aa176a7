"""The runs of LoCoDL's Section 4: the problem, the methods with the parameters of their theorems, bits and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from fedtheory.numbers.rational import Array
from fedtheory.papers.locodl.reruns.names import BOTH, L1, NATURAL, PLAIN, RAND_K
from fedtheory.problems.base import Problem
from fedtheory.problems.logistic import SparseLogistic, logistic_with_condition
from fedtheory.problems.optimum import Optimum
from fedtheory.problems.quadratic import Quadratics
from fedtheory.randomness import Product

#: A run stops when its relative error is this large.
DIVERGED = 1e6
#: Errors are measured when the bits have grown by this share.
_FINE = 0.005
#: Local steps a round of SCAFFOLD; its theorem lets the stepsize shrink with it.
LOCAL_STEPS = 10
#: Relative residual at which a local prox of 5GCS-CC stops, and steps it may take; a preconditioner is renewed when it
#: needs more steps than ``_PROX_FRESH``, but not within ``_PROX_AGE`` rounds.
_PROX_TOLERANCE, _PROX_STEPS, _PROX_FRESH, _PROX_AGE = 1e-3, 200, 3, 50
#: A residual this small against the right side of its equation is rounding.
_PROX_ROUNDING = 1e-13


class Task(NamedTuple):
    """The same minimisation in two forms: ``split`` has mu-convex f_i and g = (mu/2)|.|^2, ``plain`` has f_i + g.

    ``name``: the data; ``kappa``: L/mu of ``split``, as in the paper; about half as much for ``plain``.
    """

    name: str
    kappa: float
    split: Problem
    plain: Problem
    losses: SparseLogistic

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
        best = self.plain.x_star
        least, start = self.losses.average(np.stack([best, 0 * best]))
        return np.maximum(self.losses.average(x) - least, 0) / (start - least)


def pose(A: Array, b: Array, name: str, kappa: float) -> Task:
    """The problem of Section 4 for ``A (n, m, d)``, ``b (n, m)``; the optimum is computed once, for both forms."""
    f = logistic_with_condition(A, b, kappa)
    mu = float(f.mu[0])
    half, whole = SparseLogistic(f.A, f.b, mu), SparseLogistic(f.A, f.b, 2 * mu)
    known = Problem(whole).optimum
    plain = Problem(whole, known=known)
    g = Quadratics(mu * np.eye(f.d)[None], np.zeros((1, f.d)))
    split = Problem(half, g, known=Optimum(known.x, known.y - mu * known.x, known.kkt))
    return Task(name, kappa, split, plain, whole)


def dirichlet(alpha: float, rng: np.random.Generator, n: int = 100, d: int = 10) -> Dataset:
    """Figure 7: one sample of the Dirichlet distribution a client. The paper gives no labels: fair coins here."""
    if not 0 < alpha < np.inf:
        raise ValueError(f"the parameter of the Dirichlet distribution must be positive and finite, got {alpha}")
    labels = np.where(rng.permutation(n) < n // 2, -1.0, 1.0)
    return Dataset(f"Dirichlet({alpha:g})", rng.dirichlet(np.full(d, alpha), n), labels)


#: In place of randomness that nobody uses: in most iterations of LoCoDL no client communicates.
_IDLE = np.zeros((1, 1, 1), dtype=bool)


@dataclass(frozen=True)
class Silent(Family):
    """A family that compresses nothing in an iteration without communication."""

    def apply(self, draw: Any, x: Array) -> Array:
        """Nothing where nothing is sent."""
        return np.zeros_like(x) if draw is _IDLE else super().apply(draw, x)


@dataclass(frozen=True)
class Plan:
    """One curve: a method with parameters, the bits of one message round, and how to see what it does.

    ``model(state)``: the model ``(R, d)`` whose error is measured.
    ``lazy``: the randomness beside the coin is used only where the coin says so, and need not be drawn otherwise.
    """

    method: str
    compressor: str
    algorithm: Algorithm
    problem: Problem
    params: Any
    bits: int
    model: Callable[[Any], Array]
    k: int = 0
    lazy: bool = False

    @property
    def label(self) -> str:
        """The method, and what it sends."""
        name = self.compressor.replace("rand-k", f"rand-{self.k}")
        return f"{self.method}, {name}"

    def scaled(self, factor: float) -> Plan:
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

    def advance(self, rng: np.random.Generator, state: Any, replicas: int) -> tuple[Any, Array]:
        """The states of all replicas after a step, and which of them communicated ``(R,)``. Where few do, what else is
        random is drawn for these alone."""
        distribution = self.algorithm.draws(self.problem, self.params, state)
        if not self.lazy:
            draw = distribution.sample(rng, (replicas,))
            talks = draw.theta if self.method == "GradSkip" else np.ones(replicas, dtype=bool)
            return self.algorithm.step(self.problem, self.params, state, draw), talks
        assert isinstance(distribution, Product)
        coin, rest = distribution.parts
        talks = coin.sample(rng, (replicas,))
        parts = []
        for chosen, sends in ((talks, True), (~talks, False)):
            if count := int(chosen.sum()):
                some = state if count == replicas else type(state)(*(field[chosen] for field in state))
                draw = distribution.make(chosen[chosen] == sends, rest.sample(rng, (count,)) if sends else _IDLE)
                parts.append((chosen, self.algorithm.step(self.problem, self.params, some, draw)))
        if len(parts) == 1:
            return parts[0][1], talks
        merged = [np.empty(field.shape) for field in state]
        for chosen, after in parts:
            for whole, field in zip(merged, after, strict=True):
                whole[chosen] = field
        return type(state)(*merged), talks


def _made(kind: str, d: int, k: int) -> Compressor:
    makers: dict[str, Callable[[], Compressor]] = {
        RAND_K: lambda: compressors.rand_k(d, k),
        BOTH: lambda: compressors.rand_k_natural(d, k),
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


def plans(task: Task, method: str, kinds: Sequence[str]) -> Iterator[Plan]:
    """A method with each of these compressors, or with what it sends if it compresses nothing. LoCoDL takes
    k = ceil(d/n) of Corollary 3.2, the others the k that their own theorem says needs the fewest bits."""
    if method in PLAIN:
        yield _uncompressed(task, method)
    for kind in kinds:
        chosen = [-(-task.d // task.n)] if method == "LoCoDL" else range(1, task.d + 1)
        options = [_compressed(task, method, kind, k) for k in (chosen if kind in (RAND_K, BOTH) else [1])]
        yield min(options, key=lambda option: option[0])[1]


def with_k(task: Task, method: str, kind: str, k: int) -> Plan:
    """A method whose compressor keeps k coordinates. ``ValueError`` where there are fewer."""
    return _compressed(task, method, kind, k)[1]


def _mean_x(state: Any) -> Array:
    return state.x.mean(axis=-2)


def _compressed(task: Task, method: str, kind: str, k: int) -> tuple[float, Plan]:
    """The method, and the bits that its theorem promises, up to constants; none are needed of LoCoDL."""
    n, made = task.n, _made(kind, task.d, k)
    if method == "LoCoDL":
        params: Any = locodl.theory(task.split, Silent(made, n))
        return 0.0, Plan(method, kind, locodl.algorithm, task.split, params, made.bits, _mean_x, k, lazy=True)
    params, iterations = _theory(task, method, Family(made, n))
    bits = made.bits * (2 if method == "ADIANA" else 1)
    algorithm = {"DIANA": diana.algorithm, "ADIANA": adiana.algorithm, "5GCS-CC": fivegcs_cc.algorithm}[method]
    model: Callable[[Any], Array] = (lambda state: state.y) if method == "ADIANA" else lambda state: state.x
    return iterations * bits, Plan(method, kind, algorithm, task.plain, params, bits, model, k)


def _uncompressed(task: Task, method: str) -> Plan:
    problem, n, d = task.plain, task.n, task.d
    if method == "CompressedScaffnew":
        params: Any = compressed_scaffnew.theory(problem)
        # All clients know the permutation from shared randomness: no index is sent.
        bits = FLOAT_BITS * compressed_scaffnew.reals(n, d, params.s)
        return Plan(method, PLAIN[method], compressed_scaffnew.algorithm, problem, params, bits, _mean_x, lazy=True)
    if method == "SCAFFOLD":
        # The model and the control variate; the stepsize is that of Karimireddy et al. with all clients.
        params, bits = scaffold.Params(n, LOCAL_STEPS, 1 / (81 * problem.L * LOCAL_STEPS)), 2 * FLOAT_BITS * d
        return Plan(method, PLAIN[method], scaffold.algorithm, problem, params, bits, lambda state: state.x)
    return Plan(method, PLAIN[method], gradskip.algorithm, problem, gradskip.theory(problem), FLOAT_BITS * d, _mean_x)


class Unsolved(Exception):
    """A local problem was not solved: models have gone astray."""


class _Prox:
    """The local proximal steps of 5GCS-CC to a relative residual of 1e-3.

    Newton's method to 1e-12, as in ``fivegcs_cc``, would take hours. Instead gradient steps, preconditioned by
    the inverse Hessian at 0, where the losses are most curved, so that every step decreases the local objective; later
    that at the current model, renewed when it has gone stale.
    """

    def __init__(self, task: Task, tau: float) -> None:
        self.f, self.tau, self.n = task.losses, tau, task.n
        self.shift = task.n * tau - task.plain.mu
        self.age = 0
        self.renew(np.zeros(task.d))

    def renew(self, x: Array) -> None:
        hessian = self.f.hessian(np.broadcast_to(x, (self.n, self.f.d)))
        self.inverse = np.linalg.inv(hessian + self.shift * np.eye(self.f.d))
        self.age = 0

    def __call__(self, x_hat: Array, u: Array) -> Array:
        target = self.n * (self.tau * x_hat[..., None, :] + u)
        y = np.broadcast_to(x_hat[..., None, :], target.shape)
        first = 0.0
        self.age += 1
        for count in range(_PROX_STEPS):
            residual = self.f.gradient(y) + self.shift * y - target
            size = float(np.linalg.norm(residual))
            first = first or size
            if size <= max(_PROX_TOLERANCE * first, _PROX_ROUNDING * float(np.linalg.norm(target))):
                if count > _PROX_FRESH and self.age >= _PROX_AGE:
                    self.renew(x_hat.mean(axis=0))
                return y
            y = y - np.swapaxes(np.matmul(np.swapaxes(residual, 0, 1), self.inverse), 0, 1)
        return self._exactly(x_hat, u)

    def _exactly(self, x_hat: Array, u: Array) -> Array:
        """By Newton's method, where the preconditioner is too far from the Hessians."""
        try:
            return fivegcs_cc.local_prox(Problem(self.f), self.tau, x_hat, u)
        except ValueError:
            raise Unsolved from None


def _fivegcs(task: Task, params: fivegcs_cc.Params) -> Algorithm:
    """5GCS-CC with inexact local proximal steps."""
    prox, n = _Prox(task, params.tau), task.n

    def step(problem: Problem, params: fivegcs_cc.Params, state: Any, draw: Any) -> Any:
        gamma, tau, C, omega, family = params
        x_hat = (state.x - gamma * state.u.sum(axis=-2)) / (1 + gamma * problem.mu)
        message = family.apply(draw.compression, tau * (x_hat[..., None, :] - prox(x_hat, state.u)))
        change = np.where(draw.sampled[..., None], message, 0 * message) / (1 + omega)
        return type(state)(x_hat - gamma * (n * (1 + omega) / C) * change.sum(axis=-2), state.u + change)

    return replace(fivegcs_cc.algorithm, step=step)


@dataclass(frozen=True)
class Run:
    """Errors ``(T, R)`` of a plan when ``bits (T, R)`` a client had been sent, for R seeds: of the average model that
    the last communication made, as no other is known without one."""

    plan: Plan
    bits: Array
    errors: Array

    def costs(self, target: float) -> tuple[Array, Array, Array]:
        """The bits at which the error of each seed first is at most ``target``, infinite if never; the bits after which
        its run stopped; and whether it diverged."""
        reached = self.errors <= target
        first = np.take_along_axis(self.bits, reached.argmax(axis=0)[None], axis=0)[0]
        return np.where(reached.any(axis=0), first, np.inf), self.bits[-1], self.errors[-1] >= DIVERGED


class Limits(NamedTuple):
    """A run ends when every seed has been at error ``least``, has sent ``bits``, or after ``iterations``."""

    least: float
    bits: float
    iterations: int


def run(plan: Plan, task: Task, limits: Limits, replicas: int, rng: np.random.Generator) -> Run:
    """All replicas at once. Errors are measured when bits have grown by half a per cent, not at every communication.

    Where a local problem of 5GCS-CC cannot be solved the run stops.
    """
    if plan.method == "5GCS-CC":
        plan = replace(plan, algorithm=_fivegcs(task, plan.params))
    state = plan.algorithm.init(plan.problem, plan.params)
    state = type(state)(*(np.broadcast_to(field, (replicas, *field.shape)) for field in state))
    sent, known = np.zeros(replicas), np.array(plan.model(state), dtype=float)
    bits, errors = [sent], [task.error(known)]
    best = errors[0]
    for _ in range(limits.iterations):
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                state, talks = plan.advance(rng, state, replicas)
            except Unsolved:
                break
            if not talks.any():
                continue
            sent = sent + plan.bits * talks
            known[talks] = plan.model(state)[talks]
            if (sent - bits[-1]).max() < _FINE * sent.max():
                continue
            moved = sent > bits[-1]
            found = errors[-1].copy()
            found[moved] = np.nan_to_num(task.error(known[moved]), nan=DIVERGED, posinf=DIVERGED)
        bits.append(sent)
        errors.append(found)
        best = np.minimum(best, errors[-1])
        if best.max() <= limits.least or errors[-1].max() >= DIVERGED or sent.min() >= limits.bits:
            break
    return Run(plan, np.stack(bits), np.stack(errors))
