"""Local solvers of the dual methods: grad f_i^*(y_i) by Newton steps or by Adam, from a client's last answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd.reruns.networks import Perceptron, Softmax

#: Newton steps a client takes at most, and steps of Adam, as in the paper.
NEWTON_STEPS, ADAM_STEPS = 10, 20
#: A Newton step is solved for by conjugate gradients to this relative residual, in so many iterations at most; a client
#: stops where |grad f_i(w) - y_i| is below so much of max(1, |y_i|).
_RESIDUAL, _ITERATIONS, _TOLERANCE = 0.1, 50, 1e-4
#: q (1 - q) of the probabilities that precondition these iterations.
_SPREAD = 0.1

#: Local steps of the clients with the given numbers ``(k,)``, at ``y (k, d)`` from ``w (k, d)``.
Local = Callable[[Array, Array, Array], Array]
Losses = Softmax | Perceptron


def some(f: Any, clients: Array) -> Any:
    """The losses of some of the clients."""
    kept = {"mu": f.mu[clients]} if isinstance(f, Softmax) else {}
    return replace(f, A=f.A[clients], b=f.b[clients], **kept)


def newton_steps(f: Softmax) -> Local:
    """At most ``NEWTON_STEPS`` Newton steps on f_i - <., y_i>, each by conjugate gradients, halved while it does not
    make the gradient smaller."""
    gram = np.matmul(np.swapaxes(f.A, -1, -2), f.A) / f.m
    inverse = np.linalg.inv(_SPREAD * gram + f.mu[:, None, None] * np.eye(f.A.shape[2]))

    def local(clients: Array, y: Array, w: Array) -> Array:
        w = w.copy()
        g = some(f, clients)
        slope = g.gradient(w) - y
        goal = _TOLERANCE * np.maximum(1, np.linalg.norm(y, axis=-1))
        for _ in range(NEWTON_STEPS):
            left = np.flatnonzero(np.linalg.norm(slope, axis=-1) > goal)
            if not len(left):
                break
            h, size = some(g, left), np.linalg.norm(slope[left], axis=-1)
            step = _newton_step(h, w[left], slope[left], inverse[clients[left]])
            length = np.ones((len(left), 1))
            for _ in range(20):
                after = h.gradient(w[left] - length * step) - y[left]
                worse = np.linalg.norm(after, axis=-1) > size
                if not worse.any():
                    break
                length[worse] /= 2
            w[left] -= length * step
            slope[left] = after
        return w

    return local


def _newton_step(f: Softmax, w: Array, slope: Array, inverse: Array) -> Array:
    """The solutions ``(n, d)`` of hessian(w) s = slope, preconditioned by ``inverse (n, p, p)`` for each class."""
    shape = (f.n, f.classes, -1)
    q = softmax(f.scores(w), axis=-2)

    def image(v: Array) -> Array:
        scores = f.scores(v)
        bent = q * (scores - (q * scores).sum(axis=-2, keepdims=True)) / f.m
        return np.matmul(bent, f.A).reshape(v.shape) + f.mu[:, None] * v

    def conditioned(v: Array) -> Array:
        return np.matmul(v.reshape(shape), inverse).reshape(v.shape)

    s, r = np.zeros_like(w), slope.copy()
    z = conditioned(r)
    p, product = z, np.vecdot(r, z)
    goal = _RESIDUAL * np.linalg.norm(slope, axis=-1)
    for _ in range(_ITERATIONS):
        going = np.linalg.norm(r, axis=-1) > goal
        if not going.any():
            break
        hp = image(p)
        along = np.where(going, product / np.vecdot(p, hp), 0.0)[:, None]
        s, r = s + along * p, r - along * hp
        z = conditioned(r)
        following = np.vecdot(r, z)
        p, product = z + np.where(going, following / product, 0.0)[:, None] * p, following
    return s


def adam_steps(f: Losses, stepsize: float) -> Local:
    """``ADAM_STEPS`` steps of Adam on f_i - <., y_i>, with its usual constants (Kingma and Ba 2015, Algorithm 1)."""

    def local(clients: Array, y: Array, w: Array) -> Array:
        g = some(f, clients)
        mean, square = np.zeros_like(w), np.zeros_like(w)
        for t in range(1, ADAM_STEPS + 1):
            slope = g.gradient(w) - y
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            w = w - stepsize * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        return w

    return local


@dataclass
class Clients:
    """The f_i as the dual methods see them: grad f_i^*(y_i) by local steps from client i's last answer.

    ``w (n, d)``: the last answers; ``asked (n,)``: who takes part in the step at hand and so answers anew. The answers
    of the others are not used in the step.
    """

    f: Losses
    local: Local
    w: Array
    asked: Array

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return self.f.d

    def conjugate_gradient(self, y: Array) -> Array:
        """Return the clients' answers at ``y (n, d)``."""
        clients = np.flatnonzero(self.asked)
        w = self.w.copy()
        w[clients] = self.local(clients, y[clients], w[clients])
        self.w = w
        return w
