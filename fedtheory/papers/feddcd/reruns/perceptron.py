"""Multilayer perceptrons with one hidden layer, one loss per client: the nonconvex model of FedDCD's experiments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from fedtheory.numbers.rational import Array, to_float
from fedtheory.papers.feddcd.reruns.softmax import check_labels
from fedtheory.problems.functions import OfRows


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

        The zero point is no start: there the gradient of both layers' weights vanishes.
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

    def _points(self, x: Array) -> Array:
        if x.shape[-2:] not in ((self.n, self.d), (1, self.d)):
            raise ValueError(f"points of all clients have shape (..., {self.n}, {self.d}), got {x.shape}")
        return np.broadcast_to(to_float(x), (*x.shape[:-2], self.n, self.d))

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
