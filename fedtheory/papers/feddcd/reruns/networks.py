"""Models of FedDCD's experiments beside the logistic one: softmax regression and a perceptron with a hidden layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax, softmax

from fedtheory.learning.minimising import regularised_minimiser
from fedtheory.learning.rows import OfRows, for_each
from fedtheory.numbers.rational import Array, to_float
from fedtheory.problems.optimum import TOLERANCE, Optimum

if TYPE_CHECKING:
    import cvxpy as cp


def check_labels(A: Array, b: Array, classes: int) -> tuple[Array, Array]:
    """Float features ``(n, m, p)`` and integer labels ``(n, m)``. Raise ``ValueError`` if they are not these."""
    A, labels = np.asarray(A, dtype=np.float64), np.asarray(b)
    if A.ndim != 3 or labels.shape != A.shape[:2] or A.size == 0:
        raise ValueError(f"A must be (n, m, p) and b (n, m), none empty, got {A.shape} and {labels.shape}")
    if not np.isfinite(A).all():
        raise ValueError("A has entries that are not finite")
    if classes < 2 or not np.isin(labels, np.arange(classes)).all():
        raise ValueError(f"every label in b must be one of the classes 0, ..., {classes - 1}, two at least")
    return A, labels.astype(int)


@dataclass(frozen=True)
class Softmax(OfRows):
    r"""Cross-entropy of each client's rows under a linear model, with L2 regularisation (FedDCD, Section 8: MLR).

    $f_i(W) = \frac1m \sum_{s=1}^m \bigl[\log \sum_c e^{\langle W_c, a_{is} \rangle} - \langle W_{b_{is}}, a_{is}
    \rangle\bigr] + \frac{\mu_i}{2} \|W\|^2$, with W in R^{classes x p} flattened row by row, d = classes * p.

    ``A``: ``(n, m, p)`` rows a_is (append a column of ones for an intercept); ``b``: ``(n, m)`` labels 0, ...,
    ``classes`` - 1; ``mu``: one positive number, or one for each client, kept as ``(n,)``: it is also the strong
    convexity constant. Oracles take ``(..., n, d)`` or ``(..., 1, d)``, one point for all clients. Raises
    ``ValueError`` on wrong shapes, values that are not finite, or other labels.
    """

    A: Array
    b: Array
    mu: Any
    classes: int

    def __post_init__(self) -> None:
        A, b = check_labels(self.A, self.b, self.classes)
        for name, value in (("A", A), ("b", b), ("mu", for_each(self.mu, len(A)))):
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.classes * self.A.shape[2])

    @cached_property
    def L(self) -> Array:
        """lambda_max(A_i'A_i) / (2m) + mu_i, ``(n,)``.

        diag(q) - qq' has no eigenvalue above 1/2 for probabilities q, so this bounds the Hessian; with two classes it
        is attained at 0, with more it is approached where two classes share all the probability on every row.
        """
        return np.linalg.norm(self.A, 2, axis=(-2, -1)) ** 2 / (2 * self.m) + self.mu

    @cached_property
    def _targets(self) -> Array:
        """Indicators of the labels, ``(n, classes, m)``."""
        return np.swapaxes(np.eye(self.classes)[self.b], -1, -2)

    def _matrices(self, x: Array) -> Array:
        """Points as matrices W, ``(..., n, d) -> (..., n, classes, p)``."""
        return x.reshape(*x.shape[:-1], self.classes, -1)

    def scores(self, x: Array) -> Array:
        """<W_c, a_is>, ``(..., n, d) -> (..., n, classes, m)``."""
        return np.matmul(self._matrices(x), np.swapaxes(self.A, -1, -2))

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        x = self._points(x)
        loss = -(log_softmax(self.scores(x), axis=-2) * self._targets).sum(axis=-2).mean(axis=-1)
        return loss + self.mu * (x**2).sum(axis=-1) / 2

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        x = self._points(x)
        slope = np.matmul(softmax(self.scores(x), axis=-2) - self._targets, self.A) / self.m
        return slope.reshape(x.shape) + self.mu[:, None] * x

    def batch_gradient(self, x: Array, rows: Array) -> Array:
        """Gradient of f_i on some rows only: ``x (..., n, d)``, ``rows (..., n, b)`` -> ``(..., n, d)``."""
        x, clients = self._points(x), np.arange(self.n)[:, None]
        A, targets = self.A[clients, rows], np.swapaxes(np.eye(self.classes)[self.b[clients, rows]], -1, -2)
        residual = softmax(np.matmul(self._matrices(x), np.swapaxes(A, -1, -2)), axis=-2) - targets
        slope = np.matmul(residual, A) / rows.shape[-1]
        return slope.reshape(*slope.shape[:-2], self.d) + self.mu[:, None] * x

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        x = self._points(x)
        shares = softmax(self.scores(x), axis=-2)[..., None] / self.m
        # (1/m) sum_s (diag(q_s) - q_s q_s') (x) a_s a_s': q_sc a_s as columns, once against a_s, once against itself.
        weighted = shares * self.A[:, None]
        blocks = np.matmul(np.swapaxes(weighted, -1, -2), self.A[:, None])
        columns = np.swapaxes(weighted, -2, -1).reshape(*x.shape, self.m)
        out = -self.m * np.matmul(columns, np.swapaxes(columns, -1, -2))
        p = self.A.shape[2]
        for c in range(self.classes):
            block = slice(c * p, (c + 1) * p)
            out[..., block, block] += blocks[..., c, :, :]
        return out + self.mu[:, None, None] * np.eye(self.d)

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        w = self.conjugate_gradient(y)
        return (y * w).sum(axis=-1) - self.value(w)

    def conjugate_gradient(self, y: Array) -> Array:
        """argmin_w f_i(w) - <w, y_i>, ``(..., n, d) -> (..., n, d)``, by Newton's method on all clients.

        Newton's method runs in the span of each client's rows, where dense systems have size classes * min(m, p);
        across it the minimiser is y / mu. |grad f_i(w) - y_i| <= 1e-12 max(1, |y_i|), or as small as rounding allows.
        Raises ``ValueError`` when y is not finite, or so large against mu_i that Newton's method does not converge.
        """
        y = self._points(y)
        if not np.isfinite(y).all():
            raise ValueError("the conjugate of the softmax loss needs finite y")
        if self.m >= self.A.shape[2]:
            return regularised_minimiser(self, y, "softmax")
        basis, reduced = self._reduced
        Y = self._matrices(y)
        inside = np.matmul(Y, basis)
        w = regularised_minimiser(reduced, inside.reshape(*y.shape[:-1], reduced.d), "softmax").reshape(inside.shape)
        outside = (Y - np.matmul(inside, np.swapaxes(basis, -1, -2))) / self.mu[:, None, None]
        return (outside + np.matmul(w, np.swapaxes(basis, -1, -2))).reshape(y.shape)

    @cached_property
    def _reduced(self) -> tuple[Array, Softmax]:
        """Orthonormal bases of spaces that hold each client's rows ``(n, p, m)``, and the losses in them."""
        basis, rows = np.linalg.qr(np.swapaxes(self.A, -1, -2))
        return basis, replace(self, A=np.swapaxes(rows, -1, -2))

    def predict(self, x: Array, A: Array) -> Array:
        """Most probable classes of the rows ``A (rows, p)`` under one model ``x (d,)``: ``(rows,)`` integers."""
        return np.argmax(A @ to_float(x).reshape(self.classes, -1).T, axis=-1)

    def cvxpy_value(self, x: cp.Variable) -> cp.Expression:
        """sum_i f_i(x) for a cvxpy variable ``(d,)``."""
        import cvxpy as cp

        scores = self.A.reshape(self.n * self.m, -1) @ cp.reshape(x, (self.classes, self.A.shape[2]), order="C").T
        targets = np.eye(self.classes)[self.b.ravel()]
        loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(targets, scores))
        return loss / self.m + self.mu.sum() / 2 * cp.sum_squares(x)


def minimiser(f: Softmax) -> Optimum:
    """The minimiser of sum_i f_i by Newton's method on all rows at once, with its KKT residual.

    Much faster than cvxpy on many rows. Raise ``ValueError`` if the residual stays above the tolerance of optima.
    """
    rows, p = f.n * f.m, f.A.shape[2]
    pooled = Softmax(f.A.reshape(1, rows, p), f.b.reshape(1, rows), f.mu.mean(), f.classes)
    x = pooled.conjugate_gradient(np.zeros((1, f.d)))
    y = f.gradient(x)
    kkt = float(np.linalg.norm(y.sum(axis=0)) / max(1, np.linalg.norm(y, axis=-1).sum()))
    if not kkt <= TOLERANCE:
        raise ValueError(f"no optimum found: relative KKT residual {kkt:.1e}, expected at most {TOLERANCE:.0e}")
    return Optimum(x[0], y, kkt)


# Multilayer perceptrons with one hidden layer, one loss per client: the nonconvex model of FedDCD's experiments.


@dataclass(frozen=True)
class Perceptron(OfRows):
    """Cross-entropy of each client's rows under a 2-layer perceptron (FedDCD, Section 8.1: 32 hidden units).

    Scores V max(U a + u, 0) + v for a row a; the paper does not name its activation, rectified linear units are the
    usual choice. A point is (U, u, V, v) flattened in this order: d = hidden (p + 1) + classes (hidden + 1).

    ``A``: ``(n, m, p)`` rows; ``b``: ``(n, m)`` labels 0, ..., ``classes`` - 1; ``hidden``: units; ``decay``: weight of
    (decay/2)|x|^2, 0 in the paper. Not convex: there are values and gradients (with slope 0 where a unit is exactly at
    its kink), but no constants and no conjugates. Oracles take ``(..., n, d)`` or ``(..., 1, d)``, one point for all
    clients. ``ValueError`` on wrong shapes, values that are not finite, other labels.
    """

    A: Array
    b: Array
    classes: int
    hidden: int = 32
    decay: float = 0.0

    def __post_init__(self) -> None:
        A, b = check_labels(self.A, self.b, self.classes)
        if self.hidden < 1 or not 0 <= self.decay < np.inf:
            raise ValueError(
                f"a perceptron needs hidden units and a decay of 0 or more, got {self.hidden}, {self.decay}"
            )
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.hidden * (self.A.shape[2] + 1) + self.classes * (self.hidden + 1))

    def initial(self, rng: np.random.Generator) -> Array:
        """A random point ``(d,)`` to start from: normal weights of variance 2/inputs, no offsets.

        The zero point cannot be a start: there the gradient of both layers' weights vanishes.
        """
        p = self.A.shape[2]
        U = rng.standard_normal((self.hidden, p)) * np.sqrt(2 / p)
        V = rng.standard_normal((self.classes, self.hidden)) * np.sqrt(2 / self.hidden)
        return np.concatenate([U.ravel(), np.zeros(self.hidden), V.ravel(), np.zeros(self.classes)])

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        x = self._points(x)
        scores, _ = self._forward(x, self.A)
        loss = -(log_softmax(scores, axis=-2) * self._targets(self.b)).sum(axis=-2).mean(axis=-1)
        return loss + self.decay * (x**2).sum(axis=-1) / 2

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self._backward(self._points(x), self.A, self.b)

    def batch_gradient(self, x: Array, rows: Array) -> Array:
        """Gradient of f_i on some rows only: ``x (..., n, d)``, ``rows (..., n, b)`` -> ``(..., n, d)``."""
        clients = np.arange(self.n)[:, None]
        return self._backward(self._points(x), self.A[clients, rows], self.b[clients, rows])

    def predict(self, x: Array, A: Array) -> Array:
        """Most probable classes of the rows ``A (rows, p)`` under one model ``x (d,)``: ``(rows,)`` integers."""
        return np.argmax(self._forward(to_float(x)[None], A[None])[0][0], axis=-2)

    def _layers(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """U ``(..., hidden, p)``, u ``(..., hidden, 1)``, V ``(..., classes, hidden)``, v ``(..., classes, 1)``."""
        p, h, c = self.A.shape[2], self.hidden, self.classes
        U, u, V, v = np.split(x, np.cumsum([h * p, h, c * h]), axis=-1)
        lead = x.shape[:-1]
        return U.reshape(*lead, h, p), u[..., None], V.reshape(*lead, c, h), v[..., None]

    def _forward(self, x: Array, A: Array) -> tuple[Array, Array]:
        """Scores ``(..., n, classes, rows)`` and the hidden units' values ``(..., n, hidden, rows)``."""
        U, u, V, v = self._layers(x)
        units = np.maximum(np.matmul(U, np.swapaxes(A, -1, -2)) + u, 0)
        return np.matmul(V, units) + v, units

    def _backward(self, x: Array, A: Array, b: Array) -> Array:
        scores, units = self._forward(x, A)
        above = (softmax(scores, axis=-2) - self._targets(b)) / A.shape[-2]
        V = self._layers(x)[2]
        below = np.matmul(np.swapaxes(V, -1, -2), above) * (units > 0)
        lead = above.shape[:-2]
        parts = (
            np.matmul(below, A).reshape(*lead, -1),
            below.sum(axis=-1),
            np.matmul(above, np.swapaxes(units, -1, -2)).reshape(*lead, -1),
            above.sum(axis=-1),
        )
        return np.concatenate(parts, axis=-1) + self.decay * x

    def _targets(self, b: Array) -> Array:
        """Indicators of labels, ``(..., rows) -> (..., classes, rows)``."""
        return np.swapaxes(np.eye(self.classes)[b], -1, -2)
