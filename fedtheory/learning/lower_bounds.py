"""Functions on which lower bounds are seen: the hard ones of FedDCD, and any on the nodes of a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import sympy

from fedtheory.numbers.rational import Array, evaluate, inverse
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics

_kappa = sympy.Symbol("kappa", positive=True)


def links(alpha: Scalar, beta: Scalar, N: int) -> int:
    """Number of functions that share the chain: N if alpha < beta/N, else the largest m with m alpha < beta.

    Raise ``ValueError`` unless 0 < alpha < beta and N >= 1; the appendix has no functions for alpha = beta.
    """
    if not 0 < alpha < beta or N < 1:
        raise ValueError(f"the hard functions need N >= 1 and 0 < alpha < beta, got {N}, {alpha}, {beta}")
    return N if alpha * N < beta else math.ceil(beta / alpha) - 1


def chain(k: int, m: int, dimension: int) -> Array:
    """M^(k) of eq. (42), its first ``dimension`` rows and columns, for a chain dealt out to m functions; integers.

    Blocks [[1, -1], [-1, 1]] at rows (and columns) pm + k, pm + k + 1; the first block of M^(1) is [[2, -1], [-1, 1]].
    """
    if not 1 <= k <= m:
        raise ValueError(f"k must be between 1 and {m}, got {k}")
    M = np.zeros((dimension + 1, dimension + 1), dtype=int)
    for start in range(k - 1, dimension, m):
        M[start : start + 2, start : start + 2] += np.array([[1, -1], [-1, 1]])
    M[0, 0] += k == 1
    return M[:dimension, :dimension]


def blocks(N: int, m: int) -> list[int]:
    """For each of N clients, which of the m functions it has a share of (from 0): blocks of floor(N/m), the rest to the
    last, as printed."""
    return [min(i // (N // m), m - 1) for i in range(N)]


def hard(alpha: Scalar, beta: Scalar, N: int, dimension: int) -> Problem:
    """The N functions of Appendix F on ``dimension`` coordinates, exact for fractions; declared (alpha, beta).

    alpha < beta/N: f_i(w) = (beta - N alpha)/8 (w'M^(i)w - 1_{i=1} 2 w_1) + (alpha/2)|w|^2, eq. (41). Otherwise m
    functions of that form, with m for N, each divided equally among a block of clients. Divided functions are only
    (alpha/|block|)-strongly convex: what is declared is what the appendix states, not what the functions have.
    """
    if dimension < 2:
        raise ValueError(f"the hard functions need at least 2 coordinates, got {dimension}")
    m = links(alpha, beta, N)
    stiffness = (beta - m * alpha) / 4
    whole = [stiffness * chain(k, m, dimension) + alpha * np.eye(dimension, dtype=int) for k in range(1, m + 1)]
    owners = blocks(N, m)
    shares = [owners.count(j) for j in owners]
    H = np.stack([whole[j] / share for j, share in zip(owners, shares, strict=True)])
    # The linear term -stiffness w_1 of the first function puts its minimiser at c = stiffness H_1^{-1} e_1, which
    # involves only the coordinates that the function couples to the first.
    coupled = 2 if m > 1 else dimension
    minimiser = stiffness * inverse(whole[0][:coupled, :coupled])[:, 0]
    c, v = 0 * H[:, 0], 0 * H[:, 0, 0]
    for i, (j, share) in enumerate(zip(owners, shares, strict=True)):
        if j == 0:
            c[i, :coupled] = minimiser
            v[i] = -stiffness * minimiser[0] / (2 * share)
    return Problem(Quadratics(H, c, v), None, (alpha, beta))


def decay(alpha: Scalar, beta: Scalar, N: int) -> Fraction | float:
    """q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1) with kappa = beta/(m alpha): the minimiser on l_2 is (q, q^2, q^3, ...).

    A fraction if kappa is the square of one, else a float.
    """
    root = evaluate(sympy.sqrt(_kappa), {_kappa: beta / (links(alpha, beta, N) * alpha)})
    q = (root - 1) / (root + 1)
    return q if isinstance(q, Fraction) else float(q)


def solution(alpha: Scalar, beta: Scalar, N: int, dimension: int) -> Array:
    """The first coordinates of the minimiser on l_2 of the sum of the hard functions, ``(dimension,)``."""
    q = decay(alpha, beta, N)
    return np.array([q**j for j in range(1, dimension + 1)])


def truncation_error(alpha: Scalar, beta: Scalar, N: int, dimension: int) -> float:
    r"""A bound on the distance in l_2 between the minimisers of the truncated and of the infinite sum.

    $q^{D+1} \sqrt{(1 + q^2)/(1 - q^2)}$: the coordinates left out weigh $q^{2(D+1)}/(1-q^2)$, and coordinate j <= D
    of the truncated minimiser is $(q^j - q^{2(D+1)-j})/(1 - q^{2(D+1)})$, off by at most $q^{2(D+1)-j}$.
    """
    q = float(decay(alpha, beta, N))
    return q ** (dimension + 1) * math.sqrt((1 + q**2) / (1 - q**2))


# Functions of any class on the nodes of a network, offered as methods ask data for them.
#
# They stand where :class:`fedtheory.problems.linear_models.LinearModels` does, in statements that need nothing of
# data.


@dataclass(frozen=True)
class Examples:
    """f_1, ..., f_n, in the order of the nodes, which hold ``sizes`` of them; F_k is their mean, eq. (6) of Federated
    Optimization, and f that of all."""

    f: Any
    sizes: tuple[int, ...]
    share: Literal["own"] = "own"

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.sizes)

    @property
    def examples(self) -> int:
        """The number of functions."""
        return sum(self.sizes)

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.f.d)

    @property
    def starts(self) -> Array:
        """The first function of each node, ``(K,)``."""
        return np.cumsum((0, *self.sizes[:-1]))

    @cached_property
    def owner(self) -> Array:
        """The node of each function, ``(examples,)``."""
        return np.repeat(np.arange(self.n), self.sizes)

    def every(self, x: Array) -> Array:
        """grad f_i at the point of the node that holds it: ``(..., K or 1, d) -> (..., examples, d)``."""
        found: Array = self.f.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1]))[..., self.owner, :])
        return found

    def per_node(self, values: Array) -> Array:
        """Means over the functions of each node: ``(..., examples, d) -> (..., K, d)``."""
        parts = [values[..., self.owner == k, :].sum(axis=-2) / size for k, size in enumerate(self.sizes)]
        return np.stack(parts, axis=-2)

    def gradient(self, x: Array) -> Array:
        """grad F_k(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        return self.per_node(self.every(x))

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = self.every(w[..., None, :]).sum(axis=-2) / sum(self.sizes)
        return found

    def example_gradient(self, x: Array, rows: Array) -> Array:
        """grad f_i(x_k), one function a node: ``x (..., K or 1, d)``, ``rows (..., K)`` -> ``(..., K, d)``."""
        return self.taken(self.every(x), rows)

    def taken(self, every: Array, rows: Array) -> Array:
        """The vectors of these rows, one a node: ``every (..., examples, d)``, ``rows (..., K)`` -> ``(..., K, d)``."""
        lead = np.broadcast_shapes(every.shape[:-2], rows.shape[:-1])
        every, rows = np.broadcast_to(every, (*lead, *every.shape[-2:])), np.broadcast_to(rows, (*lead, self.n))
        return np.take_along_axis(every, rows[..., None], axis=-2)

    def example_change(self, x: Array, w: Array, rows: Array) -> Array:
        """grad f_i(x_k) - grad f_i(w_k), as :meth:`example_gradient`."""
        return self.example_gradient(x, rows) - self.example_gradient(w, rows)


@dataclass(frozen=True)
class Locals:
    """Local functions F_k(v) = G_k(v)/(K p_k) - (mu/2) |v - ``centre``|^2 for G_1, ..., G_K of any class, and f = sum_k
    p_k F_k: those to which mu is what lacks to the class of the G_k, scaled.

    ``weights (K,)``: the p_k, of sum 1; ``lam``: lambda, where a method asks for it.
    """

    G: Any
    weights: Array
    mu: Scalar
    centre: Array
    lam: Scalar | None = None
    share: Literal["equal"] = "equal"

    @property
    def n(self) -> int:
        """The number of nodes, K."""
        return int(self.G.n)

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.G.d)

    @property
    def _scale(self) -> Array:
        return (self.n * self.weights)[:, None]

    def gradient(self, x: Array) -> Array:
        """grad F_k(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        slope = self.G.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1])))
        found: Array = slope / self._scale - self.mu * (x - self.centre)
        return found

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = (self.weights[:, None] * self.gradient(w[..., None, :])).sum(axis=-2)
        return found

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots y_k of grad F_k(y_k) + shift y_k = target_k, ``(..., K, d)``."""
        shifts = (self._scale * (shift - self.mu))[:, 0]
        found: Array = self.G.resolvent(shifts, self._scale * (target - self.mu * self.centre))
        return found


@dataclass(frozen=True)
class Copies:
    """F_1 = ... = F_n, the only function of ``F``, and f = F."""

    F: Any
    n: int

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.F.d)

    def gradient(self, x: Array) -> Array:
        """grad F(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        found: Array = self.F.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1]))[..., None, :])
        return found[..., 0, :]

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = self.F.gradient(w[..., None, :])[..., 0, :]
        return found

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots y_k of grad F(y_k) + shift y_k = target_k, ``(..., K, d)``."""
        found: Array = self.F.resolvent(shift, target[..., None, :])
        return found[..., 0, :]
