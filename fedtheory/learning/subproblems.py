"""How clients solve the sub-problem of FedADMM: a point w_i with |alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w)|^2
at most eps_i (FedADMM, eq. (6)).

A :class:`Solver` is a value, so that it can be a parameter of the algorithm; its randomness is a value too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from fedtheory.numbers.rational import Array, is_exact, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Selecting
from fedtheory.problems.oracles import Answer
from fedtheory.randomness import Bernoulli, Constant, Distribution, Draw, Independent

# A residual of this many roundings of its terms cannot be made smaller.
_ROUNDINGS = 16

#: Denominator of the fractions that stand for square roots, from below.
_ROOT_STEPS = 2**16


class Task(NamedTuple):
    """The clients' subproblems: ``w (..., d)``, ``Pi (..., m, d)``, tolerances ``eps (..., m)`` on the squared
    residual; ``clients (..., m)``: those that solve theirs; ``alpha``, ``sigma (m,)``.
    """

    w: Array
    Pi: Array
    eps: Array
    clients: Array
    alpha: Array
    sigma: Array

    @property
    def anchor(self) -> Array:
        """w for every client, ``(..., 1, d)``."""
        return self.w[..., None, :]

    def residual(self, problem: Problem, W: Array) -> Array:
        """alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w) at ``W (..., m, d)``."""
        return self.residual_with(problem.f.gradient(W), W)

    def residual_with(self, slopes: Array, W: Array) -> Array:
        """The same with ``slopes (..., m, d)`` for the gradients."""
        return self.alpha[:, None] * slopes + self.Pi + self.sigma[:, None] * (W - self.anchor)


class Solver(Protocol):
    """Finds points that meet eq. (6); ``draws``: its randomness in one iteration of one client set."""

    def draws(self, problem: Problem, iterations: int) -> Distribution:
        """The randomness of so many iterations, stacked on the first axis."""

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """Points ``(..., m, d)``, for all clients or at least for those that have to, and the steps each took."""


@dataclass(frozen=True)
class InnerSteps:
    """The steps (15) from v^0 = w: v <- v - residual(v) / (alpha_i r_i + sigma_i), until the residual is small enough.

    ``r (m,)``: the r_i of eq. (15); ``steps``: that many for every client, at any residual, or None for as many as it
    needs, but ``least`` at least and ``limit`` at most. In floats a residual at the level of rounding is small enough.
    Eq. (6) alone lets a client answer w itself while its tolerance is large; eq. (15), with l = 0, ..., kappa, reads as
    if it took one step at least. Raise ``ValueError`` if the limit does not suffice: the iteration converges if sigma_i
    > alpha_i s_i, where r_i is a Lipschitz constant.

    ``alone``: the gradients of those that have to answer are computed alone, where the functions can (``Selecting``)
    and all replicas ask the same clients: the same numbers up to rounding, in less time.
    """

    r: Array
    steps: int | None = None
    limit: int = 10_000
    least: int = 0
    alone: bool = False

    def draws(self, problem: Problem, iterations: int) -> Distribution:
        """No randomness."""
        return Constant()

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """The points ``(..., m, d)`` that the steps reach, and how many each client took."""
        size = (task.alpha * self.r + task.sigma)[:, None]
        v = task.anchor + 0 * task.Pi
        taken = np.zeros(np.broadcast_shapes(v.shape[:-1], task.clients.shape), dtype=int)
        for taken_by_all in range(self.limit if self.steps is None else self.steps):
            residual = self._residual(problem, task, v) if self.alone else task.residual(problem, v)
            if self.steps is None:
                small = np.maximum(task.eps, self._floor(task, v, residual))
                active = task.clients & (((residual**2).sum(axis=-1) > small) | (taken_by_all < self.least))
                if not active.any():
                    return Answer(v, taken)
            else:
                active = task.clients
            v = np.where(active[..., None], v - residual / size, v)
            taken = taken + active
        if self.steps is None:
            raise ValueError(f"{self.limit} inner steps did not meet the accuracy: sigma_i > alpha_i s_i is needed")
        return Answer(v, taken)

    def _residual(self, problem: Problem, task: Task, v: Array) -> Array:
        """The residual of those that have to answer; of the others any numbers."""
        if not isinstance(problem.f, Selecting) or task.clients.ndim != 1:
            return task.residual(problem, v)
        return task.residual_with(problem.f.gradient_of(v, task.clients), v)

    def _floor(self, task: Task, v: Array, residual: Array) -> Any:
        """The square of what rounding alone may leave of the residual, ``(..., m)``; 0 for fractions."""
        if is_exact(residual):
            return 0
        terms = abs(task.Pi) + (task.alpha * self.r + task.sigma)[:, None] * (abs(v) + abs(task.anchor))
        return ((_ROUNDINGS * np.finfo(np.float64).eps * terms) ** 2).sum(axis=-1)


@dataclass(frozen=True)
class Exact:
    """A root of the residual, from the resolvents of the f_i, exact on fractions; no steps are counted.

    Where sigma_i > alpha_i s_i fails there may be several: the resolvent says which one it takes.
    """

    def draws(self, problem: Problem, iterations: int) -> Distribution:
        """No randomness."""
        return Constant()

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """The roots ``(..., m, d)``; no steps are counted."""
        return _root(problem, task, 0)


@dataclass(frozen=True)
class Adversary:
    """Answers whose residual is as large as eq. (6) allows: +-``share`` sqrt(eps_i) along ``direction``.

    The signs are independent fair coins, one for each client and iteration.

    ``direction (m, d)`` of norm at most 1; ``share`` in [0, 1]. On fractions the square root is one from below, within
    2^-16. ``ValueError`` otherwise.
    """

    direction: Array
    share: Scalar = 1

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or ((self.direction**2).sum(axis=-1) > 1).any():
            raise ValueError("an adversary needs directions of norm at most 1 and a share in [0, 1]")

    def draws(self, problem: Problem, iterations: int) -> Distribution:
        """Signs as booleans ``(iterations, m)``."""
        return Independent(Independent(Bernoulli(Fraction(1, 2)), problem.n), iterations)

    def answer(self, problem: Problem, task: Task, draw: Draw, iteration: int) -> Answer:
        """Points ``(..., m, d)`` with residuals as large as is allowed, of the drawn signs; no steps are counted."""
        sign = 2 * draw[..., iteration, :].astype(int) - 1
        size = sign * self.share * root_below(task.eps)
        return _root(problem, task, size[..., None] * self.direction)


def _root(problem: Problem, task: Task, residual: object) -> Answer:
    """The points with the given residuals."""
    f: Any = problem.f
    if not hasattr(f, "resolvent"):
        raise ValueError(f"{type(f).__name__} has no proximal points in closed form: use inner steps")
    target = (task.sigma[:, None] * task.anchor - task.Pi + residual) / task.alpha[:, None]
    W = f.resolvent(task.sigma / task.alpha, target)
    return Answer(W, np.zeros(W.shape[:-1], dtype=int))


def root_below(square: Array) -> Array:
    """Square roots: of fractions from below, as fractions, else floats."""
    if not is_exact(square):
        return np.sqrt(to_float(square))
    out = np.empty_like(square)
    for index, value in np.ndenumerate(square):
        p, q = Fraction(value).as_integer_ratio()
        out[index] = Fraction(isqrt(p * q * _ROOT_STEPS**2), q * _ROOT_STEPS)
    return out
