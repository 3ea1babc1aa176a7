"""The subproblems of the clients in the dual: Federated Optimization, eq. (15), which are those of CoCoA+.

Client k minimises over u in R^{n_k}, the dual steps of its own examples,
D_k(u) = (w'X_k u) / n + sigma |X_k u|^2 / (2 lambda n^2) + (1/n) sum_i phi_i^*(-alpha_i - u_i),
where w = X alpha / (lambda n).
"""

from __future__ import annotations

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.linear_models import LinearModels

# Outer steps of the loop over coordinates that solves what has no closed form, and its relative tolerance.
_PASSES, _TOLERANCE = 20_000, 1e-14


def maximisers(f: LinearModels, alpha: Array, w: Array, sigma: Scalar) -> Array:
    """argmin_u D_k(u) of every client, side by side: ``alpha (..., n)``, ``w (..., d) -> (..., n)``.

    Squared loss: a linear system, exact on fractions. Others: ascent coordinate by coordinate until nothing moves.
    """
    if f.loss.name == "squared":
        force = f.y - f.predictions(w) - f.loss.gamma * alpha
        return f.dense().solved(sigma / (f.lam * f.examples), f.loss.gamma, force)
    return _ascended(f, alpha, w, sigma)


def _ascended(f: LinearModels, alpha: Array, w: Array, sigma: Scalar) -> Array:
    """The same for losses without a closed form, by passes over the coordinates until nothing moves."""
    u = np.zeros(np.broadcast_shapes(alpha.shape, (*w.shape[:-1], f.examples)))
    for _ in range(_PASSES):
        moved = one_pass(f, alpha, w, sigma, u, np.arange(f.examples))
        done = (abs(moved - u) <= _TOLERANCE * (1 + abs(u))).all()
        u = moved
        if done:
            break
    return u


def one_pass(f: LinearModels, alpha: Array, w: Array, sigma: Scalar, u: Array, order: Array) -> Array:
    """One pass of exact ascent over the coordinates of every D_k from ``u (..., n)``.

    ``order (..., n)``: the rows of each client in the order of its pass.
    """
    X, coupling = f.dense().X, sigma / (f.lam * f.examples)
    image = f.per_client(u[..., None] * X, -2) * coupling
    u = np.array(u)
    for t in range(f.sizes.max()):
        rows = order[..., f.starts + np.minimum(t, f.sizes - 1)]
        rows = np.broadcast_to(rows, (*u.shape[:-1], f.n))
        features, own = X[rows], np.take_along_axis(u, rows, -1)
        prediction = (features * (w[..., None, :] + image)).sum(axis=-1)
        level = np.take_along_axis(np.broadcast_to(alpha, u.shape), rows, -1) + own
        rise = f.loss.ascent(level, prediction, coupling * f.squared_norms[rows], f.y[rows])
        rise = np.where(t < f.sizes, rise, 0 * rise)
        image = image + coupling * rise[..., None] * features
        np.put_along_axis(u, rows, own + rise, -1)
    return u


def subproblem(f: LinearModels, alpha: Array, w: Array, sigma: object, u: Array) -> Array:
    """D_k(u_k) as printed, the function to be minimised: ``(..., n) -> (..., K)``."""
    n = f.examples
    image = f.per_client(u[..., None] * f.dense().X, -2)
    linear = (w[..., None, :] * image).sum(axis=-1) / n
    conjugates = f.per_client(f.loss.conjugate(alpha + u, f.y), -1) / n
    return linear + sigma * (image**2).sum(axis=-1) / (2 * f.lam * n**2) + conjugates


def least_sigma(f: LinearModels) -> float:
    """The least sigma with X'X <= sigma B, B = Diag(X_k'X_k): the greatest eigenvalue of (sum of projections).

    X'X and the sum over clients of the projections onto the spans of their examples share that value, for any ranks.
    """
    X = to_float(f.dense().X)
    total = np.zeros((f.d, f.d))
    for start, size in zip(f.starts, f.sizes, strict=True):
        left, singular, _ = np.linalg.svd(X[start : start + size].T, full_matrices=False)
        basis = left[:, singular > 1e-12 * singular.max(initial=0)]
        total += basis @ basis.T
    return float(np.linalg.eigvalsh(total)[-1])
