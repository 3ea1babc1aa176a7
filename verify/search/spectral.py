"""Worst states by linear algebra.

On quadratics with linear draws both sides of a statement are quadratic polynomials of the state's coordinates. They
are recovered from finitely many values, and the largest ratio left/right is a generalised eigenvalue: no random state
is needed and none is worse. Whether the sides are quadratic is checked, not assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array, to_float

#: Agreement to which a side must be a quadratic polynomial, relative to its size.
QUADRATIC = 1e-8
#: Entries below this share of the largest value seen are rounding.
ROUNDING = 1e-13
#: Eigenvalues below this share of the largest count as zero.
RANK = 1e-11


class Worst(NamedTuple):
    """A state and how close it comes to violating left <= right: ``ratio`` 1 is equality, above 1 a violation."""

    ratio: float
    theta: Array


def ratio(left: Array, right: Array) -> Array:
    """left/right where right > 0; where right <= 0, 1 + (left - right)/(|left| + |right|); 0 where both vanish."""
    scale = abs(left) + abs(right)
    safe = np.where(scale > 0, scale, 1.0)
    relative = np.where(scale > 0, 1 + (left - right) / safe, 0.0)
    positive = right > 0
    return np.where(positive, left / np.where(positive, right, 1.0), relative)


def steady(ratios: Any) -> Any:
    """Ratios to eleven digits: where they are compared with one another, the last ones depend on the processor."""
    mantissa, exponent = np.frexp(ratios)
    return np.ldexp(np.round(mantissa * 2.0**36) / 2.0**36, exponent)


def forms(both: Callable[[Array], tuple[Array, Array]], dimension: int) -> tuple[Array, Array] | None:
    """The symmetric matrices Q with side(theta) = (1, theta)' Q (1, theta), or None if a side is not quadratic.

    ``both(theta (M, dimension)) -> (left, right)``, each ``(M,)`` and of any numbers that have a float.
    """
    basis = np.eye(dimension)
    i, j = np.triu_indices(dimension, 1)
    probes = np.random.default_rng(0).uniform(-2, 2, (4, dimension))
    points = np.concatenate([np.zeros((1, dimension)), basis, -basis, basis[i] + basis[j], probes])
    left, right = (_fit(to_float(values), probes) for values in both(points))
    return None if left is None or right is None else (left, right)


def _fit(v: Array, probes: Array) -> Array | None:
    """The form through the values at 0, e_i, -e_i and e_i + e_j, if it also fits at the probes, the last ones."""
    if not np.isfinite(v).all():
        return None
    dimension = probes.shape[1]
    i, j = np.triu_indices(dimension, 1)
    constant, plus, minus = v[0], v[1 : dimension + 1], v[dimension + 1 : 2 * dimension + 1]
    Q = np.zeros((dimension + 1, dimension + 1))
    Q[0, 0] = constant
    Q[0, 1:] = Q[1:, 0] = (plus - minus) / 4
    Q[np.arange(1, dimension + 1), np.arange(1, dimension + 1)] = (plus + minus) / 2 - constant
    cross = (v[2 * dimension + 1 : -len(probes)] - plus[i] - plus[j] + constant) / 2
    Q[i + 1, j + 1] = Q[j + 1, i + 1] = cross
    lifted = np.concatenate([np.ones((len(probes), 1)), probes], axis=1)
    fitted = np.einsum("pi,ij,pj->p", lifted, Q, lifted)
    scale = max(float(abs(v).max()), 1e-300)
    # Entries are differences of values: below this they are rounding, and would pass for directions of their own.
    Q[abs(Q) < ROUNDING * scale] = 0
    return Q if float(abs(fitted - v[-len(probes) :]).max()) <= QUADRATIC * scale else None


def worst(left: Array, right: Array) -> Worst:
    """The state that maximises left/right, for forms of (1, theta); a violation if the ratio exceeds 1."""
    if _is_positive(right):
        found = _largest_ratio(left, right)
        if found is not None:
            return found
    # The right side is not a square: compare the difference with the size of both sides.
    size = _absolute(left) + _absolute(right)
    values, vectors = _pencil(right - left, size)
    return Worst(1.0 - float(values[0]), _state(vectors[:, 0]))


def _is_positive(Q: Array) -> bool:
    spectrum = np.linalg.eigvalsh(Q)
    return bool(spectrum[0] >= -1e-10 * max(abs(spectrum[-1]), 1e-300))


def _absolute(Q: Array) -> Array:
    values, vectors = np.linalg.eigh(Q)
    return (vectors * abs(values)) @ vectors.T


def _split(Q: Array) -> tuple[Array, Array]:
    """(whitened basis of the range, basis of the kernel) of a positive semidefinite form."""
    # Scaling to a unit diagonal keeps weights of very different size from hiding part of the range.
    diagonal = np.sqrt(np.maximum(np.diag(Q), 0))
    scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1), 1.0)
    values, vectors = np.linalg.eigh(Q * scale[:, None] * scale[None, :])
    keep = values > RANK * max(values[-1], 1e-300)
    whitened = scale[:, None] * vectors[:, keep] / np.sqrt(values[keep])
    return whitened, scale[:, None] * vectors[:, ~keep]


def _pencil(A: Array, size: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of A relative to a positive semidefinite form, on its range."""
    whitened, _ = _split(size)
    if whitened.shape[1] == 0:
        return np.zeros(1), np.zeros((len(A), 1))
    values, vectors = np.linalg.eigh(whitened.T @ A @ whitened)
    return values, whitened @ vectors


def _largest_ratio(left: Array, right: Array) -> Worst | None:
    """Largest left/right for a positive semidefinite right; infinite if left is positive where right vanishes."""
    whitened, kernel = _split(right)
    if kernel.shape[1]:
        values, vectors = np.linalg.eigh(kernel.T @ left @ kernel)
        norms = (kernel**2).sum(axis=0).max()
        negligible = 1e-9 * max(float(abs(left).max()), float(abs(right).max()), 1e-300)
        if values[-1] > negligible * norms:
            return Worst(float("inf"), _state(kernel @ vectors[:, -1]))
        if float(abs(left @ kernel).max()) > negligible * float(np.sqrt(norms)):
            return None
    if whitened.shape[1] == 0:
        return Worst(0.0, np.zeros(len(left) - 1))
    values, vectors = np.linalg.eigh(whitened.T @ left @ whitened)
    return Worst(float(values[-1]), _state(whitened @ vectors[:, -1]))


def _state(vector: Array) -> Array:
    """theta from a homogeneous vector (t, theta t); a direction at infinity becomes a state of size one or more."""
    # A part that is rounding error, as all of theta next to the optimum, would count as a direction of its own.
    vector = np.where(abs(vector) < ROUNDING * abs(vector).max(), 0.0, vector)
    t, theta = float(vector[0]), vector[1:]
    size = float(abs(theta).max(initial=0.0))
    if size == 0:
        return theta
    return theta / (t if abs(t) > 1e-6 * size else size)
