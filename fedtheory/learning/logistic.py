"""L2-regularised logistic regression, one function per client, from labelled data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.learning.minimising import regularised_minimiser
from fedtheory.learning.rows import OfRows, for_each
from fedtheory.numbers.rational import Array
from fedtheory.problems.losses import expit

if TYPE_CHECKING:
    import cvxpy as cp


# Hessians weight a copy of the data for every replica: this many numbers at a time (512 KiB) fit a cache.
_BLOCK = 2**16
# Gradients read the data twice: of this many numbers at a time (1 MiB) the second reading finds most in a cache.
_TWICE = 2**17
# The inner products of one vector with rows of at least this length: one by one they read the data in order, and take
# half the time of a matrix-vector product where the data come from memory.
_LONG = 100


@dataclass(frozen=True)
class Logistic(OfRows):
    r"""Logistic loss of each client's rows with L2 regularisation (LoCoDL, eq. (11)):

    $f_i(x) = \frac1m \sum_{s=1}^m \log(1 + e^{-b_{is} a_{is}^\top x}) + \frac{\mu_i}{2} \|x\|^2$.

    ``A``: ``(n, m, d)`` rows a_is; ``b``: ``(n, m)`` labels in {-1, +1}; ``mu``: one positive number, or one
    for each client, kept as ``(n,)``: it is also the strong convexity constant. The oracles take
    ``(..., n, d)``, where leading axes are replicas, or ``(..., 1, d)``, one point for all clients. Raises
    ``ValueError`` on wrong shapes, values that are not finite, or other labels.
    """

    A: Array
    b: Array
    mu: Any

    def __post_init__(self) -> None:
        A, b = (np.asarray(v, dtype=np.float64) for v in (self.A, self.b))
        if A.ndim != 3 or b.shape != A.shape[:2] or A.size == 0:
            raise ValueError(f"A must be (n, m, d) and b (n, m), none empty, got {A.shape} and {b.shape}")
        if not np.isfinite(A).all():
            raise ValueError("A has entries that are not finite")
        if not np.isin(b, (-1, 1)).all():
            raise ValueError("every label in b must be -1 or +1")
        for name, value in (("A", A), ("b", b), ("mu", for_each(self.mu, len(A)))):
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.A.shape[2])

    @cached_property
    def L(self) -> Array:
        """Largest eigenvalue of A_i'A_i / (4m) + mu_i I, ``(n,)``: the tight constant, attained at x = 0."""
        return _data_smoothness(self.A) + self.mu

    @cached_property
    def signed_rows(self) -> Array:
        """Rows times labels, b_is a_is, ``(n, m, d)``: the loss sees nothing else of the data."""
        return self.b[..., None] * self.A

    @cached_property
    def gram(self) -> Array:
        """Inner products of a client's signed rows, ``(n, m, m)``."""
        return np.matmul(self.signed_rows, np.swapaxes(self.signed_rows, -1, -2))

    @cached_property
    def signed_columns(self) -> Array:
        """The columns of the signed rows, ``(n, d, m)``."""
        return np.ascontiguousarray(np.swapaxes(self.signed_rows, -1, -2))

    def _margins(self, x: Array) -> Array:
        """b_is a_is' x_i, ``(..., n, d) -> (..., n, m)``, for points from :meth:`_points`."""
        return _per_client(np.swapaxes(self.signed_rows, -1, -2), x)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        x = self._points(x)
        loss = np.logaddexp(0, -self._margins(x)).mean(axis=-1)
        return loss + self.mu * (x**2).sum(axis=-1) / 2

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self._gradients(self._points(x), self.signed_rows, self.mu)

    def gradient_of(self, x: Array, clients: Array) -> Array:
        """grad f_i(x_i) of the ``clients (n,)`` that are chosen, 0 of the others: ``(..., n, d) -> (..., n, d)``.

        Their rows are kept until other clients are chosen: those of a round are asked in each of its steps. A subclass
        with another gradient needs another of these.
        """
        clients = clients.astype(bool)
        if clients.all():
            return self.gradient(x)
        x = self._points(x)
        out = np.zeros(x.shape)
        if clients.any():
            out[..., clients, :] = self._gradients(x[..., clients, :], self._rows_of(clients), self.mu[clients])
        return out

    def _rows_of(self, clients: Array) -> Array:
        """The signed rows of the chosen clients, those that were chosen last kept."""
        kept, chosen = self._kept_rows, clients.tobytes()
        if chosen not in kept:
            kept.clear()
            kept[chosen] = self.signed_rows[clients]
        return kept[chosen]

    @cached_property
    def _kept_rows(self) -> dict[bytes, Array]:
        return {}

    def _gradients(self, x: Array, signed_rows: Array, mu: Array) -> Array:
        """Gradients at ``x (..., k, d)`` of the clients with these rows ``(k, m, d)``."""
        out = np.empty(x.shape)
        at, into = _clients_first(x), _clients_first(out)
        with np.errstate(over="ignore"):
            for block, rows in _blocks(signed_rows):
                np.matmul(_slopes(at[block], rows, -1 / self.m), rows, out=into[block])
        out += mu[:, None] * x
        return out

    def descend(self, x: Array, eta: float, steps: int) -> Array:
        """``steps`` steps x_i <- x_i - eta grad f_i(x_i), ``(..., n, d) -> (..., n, d)``: all of a few clients, then
        those of the next. A subclass with another gradient needs another of these."""
        out = np.array(self._points(x), order="C")
        models, kept = _clients_first(out), 1 - eta * self.mu[:, None, None]
        with np.errstate(over="ignore"):
            for block, rows in _blocks(self.signed_rows):
                model = models[block]
                for _ in range(steps):
                    slopes = _slopes(model, rows, eta / self.m)
                    model *= kept[block]
                    model += np.matmul(slopes, rows)
        return out

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        x = self._points(x)
        margins = self._margins(x)
        # Both factors, not p (1 - p): the second would round to 0 where the margin is large.
        weights = (expit(margins) * expit(-margins) / self.m).reshape(-1, self.n, self.m)
        out = np.empty((len(weights), self.n, self.d, self.d))
        size = max(1, _BLOCK // self.A.size)
        for start in range(0, len(weights), size):
            block = slice(start, start + size)
            weighted = np.swapaxes(self.A, -1, -2) * weights[block, :, None, :]
            np.matmul(weighted, self.A, out=out[block])
        return out.reshape(*x.shape, self.d) + self.mu[:, None, None] * np.eye(self.d)

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        w = self.conjugate_gradient(y)
        return (y * w).sum(axis=-1) - self.value(w)

    def conjugate_gradient(self, y: Array) -> Array:
        """argmin_w f_i(w) - <w, y_i>, ``(..., n, d) -> (..., n, d)``, by Newton's method on all clients.

        |grad f_i(w) - y_i| <= 1e-12 max(1, |y_i|), or as small as rounding allows. Raises ``ValueError`` when
        y is not finite, or so large against mu_i that Newton's method does not converge.
        """
        y = self._points(y)
        if not np.isfinite(y).all():
            raise ValueError("the conjugate of the logistic loss needs finite y")
        return regularised_minimiser(self, y, "logistic")

    def cvxpy_value(self, x: cp.Variable) -> cp.Expression:
        """sum_i f_i(x) for a cvxpy variable ``(d,)``."""
        import cvxpy as cp

        rows = self.signed_rows.reshape(-1, self.d)
        return cp.sum(cp.logistic(-rows @ x)) / self.m + self.mu.sum() / 2 * cp.sum_squares(x)


def logistic_with_condition(A: Array, b: Array, kappa: float) -> Logistic:
    """Logistic losses of ``A (n, m, d)``, ``b (n, m)``, with the mu that makes max_i L_i / mu = ``kappa``.

    The L_i include mu, so mu = max_i lambda_max(A_i'A_i / (4m)) / (kappa - 1). Raises ``ValueError`` unless
    1 < kappa < infinity and the data are not all zero.
    """
    if not 1 < kappa < math.inf:
        raise ValueError(f"kappa must be finite and above 1, got {kappa}")
    checked = Logistic(A, b, 1.0)
    smoothness = float(_data_smoothness(checked.A).max())
    if smoothness == 0:
        raise ValueError("the data are all zero, so that no mu gives the condition number asked for")
    return replace(checked, mu=smoothness / (kappa - 1))


def _per_client(M: Array, x: Array) -> Array:
    """x_i' M_i for every replica: ``M (n, p, q)``, ``x (..., n, p) -> (..., n, q)``, one product per client.

    Replicas become the rows of one matrix: a matrix-vector product for each would be several times slower.
    """
    n, p, q = M.shape
    rows = np.swapaxes(x.reshape(-1, n, p), 0, 1)
    return np.swapaxes(np.matmul(rows, M), 0, 1).reshape(*x.shape[:-1], q)


def _clients_first(x: Array) -> Array:
    """Clients first, replicas second: as in _per_client, but without its calls for each block."""
    return np.swapaxes(x.reshape(-1, *x.shape[-2:]), 0, 1)


def _blocks(signed_rows: Array) -> Iterator[tuple[slice, Array]]:
    """A few clients at a time, and their rows ``(k, m, d)``."""
    n, m, d = signed_rows.shape
    size = max(1, _TWICE // (m * d))
    for start in range(0, n, size):
        block = slice(start, start + size)
        yield block, signed_rows[block]


def _slopes(x: Array, rows: Array, scale: float) -> Array:
    """``scale`` / (1 + exp(margin)), 0 where exp overflows: points ``(k, R, d)``, rows ``(k, m, d)`` -> ``(k, R, m)``.

    In place, as for a few rows at a time a call costs what they do.
    """
    one_by_one = x.shape[1] == 1 and x.shape[2] >= _LONG
    slopes = np.vecdot(rows, x)[:, None] if one_by_one else np.matmul(x, np.swapaxes(rows, -1, -2))
    np.exp(slopes, out=slopes)
    slopes += 1
    return np.divide(scale, slopes, out=slopes)


def _data_smoothness(A: Array) -> Array:
    """Largest eigenvalue of A_i'A_i / (4m), from the smaller Gram matrix: ``(n, m, d) -> (n,)``."""
    m, d = A.shape[1:]
    At = np.swapaxes(A, -1, -2)
    gram = np.matmul(At, A) if d <= m else np.matmul(A, At)
    return np.linalg.eigvalsh(gram)[:, -1] / (4 * m)


# Logistic regression on rows that are mostly zeros.

#: Data with a smaller share of nonzeros are kept sparse.
_DENSE = 0.25


@dataclass(frozen=True)
class SparseLogistic(Logistic):
    """Logistic losses whose values and gradients use sparse rows where the data are sparse: several times faster, where
    one in ten entries is none."""

    @cached_property
    def sparse_rows(self) -> Any:
        """All clients' signed rows as one block-diagonal matrix ``(n m, n d)`` and its transpose, and all rows
        ``(n m, d)``; or None."""
        if np.count_nonzero(self.A) > _DENSE * self.A.size:
            return None
        import scipy.sparse as sp

        rows = sp.block_diag([sp.csr_array(a) for a in self.signed_rows], format="csr")
        return rows, rows.T.tocsr(), sp.csr_array(self.signed_rows.reshape(-1, self.d))

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        if self.sparse_rows is None:
            return super().gradient(x)
        rows, columns, _ = self.sparse_rows
        x = self._points(x)
        slopes = expit(-(rows @ x.reshape(-1, self.n * self.d).T))
        return self.mu[:, None] * x - (columns @ slopes).T.reshape(x.shape) / self.m

    def gradient_of(self, x: Array, clients: Array) -> Array:
        """The gradients of all clients: to choose rows of the sparse matrices costs more than they do."""
        return self.gradient(x) if self.sparse_rows is not None else super().gradient_of(x, clients)

    def descend(self, x: Array, eta: float, steps: int) -> Array:
        """``steps`` steps x_i <- x_i - eta grad f_i(x_i), ``(..., n, d) -> (..., n, d)``."""
        if self.sparse_rows is None:
            return super().descend(x, eta, steps)
        for _ in range(steps):
            x = x - eta * self.gradient(x)
        return x

    def average(self, x: Array) -> Array:
        """(1/n) sum_i f_i(x) at one point for all clients: ``(R, d) -> (R,)``."""
        rows = self.signed_rows.reshape(-1, self.d) if self.sparse_rows is None else self.sparse_rows[2]
        losses: Array = np.logaddexp(0, -(rows @ x.T)).mean(axis=0)
        return losses + self.mu.mean() / 2 * (x**2).sum(axis=-1)
