"""Quadratic objectives with given Hessians, in floats or in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, apply, are_diagonal, inverse, is_exact, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions


@dataclass(frozen=True)
class Quadratics:
    """f_i(x) = 1/2 (x - c_i)' H_i (x - c_i) + v_i.

    ``H``: ``(n, d, d)`` symmetric positive definite; ``c``: ``(..., n, d)``, leading axes are replicas of the problem;
    ``v``: ``(..., n)`` or a scalar. Object arrays of fractions are kept exact.
    """

    H: Array
    c: Array
    v: Array | Scalar = 0

    def __post_init__(self) -> None:
        if self.H.ndim != 3 or self.H.shape[1] != self.H.shape[2]:
            raise ValueError(f"H must have shape (n, d, d), got {self.H.shape}")
        if self.c.shape[-2:] != self.H.shape[:2]:
            raise ValueError(f"c must have shape (..., n, d) = (..., {self.n}, {self.d}), got {self.c.shape}")
        if not is_exact(self.H) and not np.isfinite(self.H).all():
            raise ValueError("H has entries that are not finite")
        if np.min(self._spectrum) <= 0:
            raise ValueError("every Hessian must be positive definite")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.H.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.H.shape[1])

    @cached_property
    def _spectrum(self) -> Array:
        diagonal = np.diagonal(self.H, axis1=-2, axis2=-1)
        if are_diagonal(self.H):
            return np.sort(diagonal, axis=-1)
        return np.linalg.eigvalsh(to_float(self.H))

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return self._spectrum[:, 0]

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        return self._spectrum[:, -1]

    @cached_property
    def H_inverse(self) -> Array:
        """Inverse Hessians, ``(n, d, d)``."""
        return inverse(self.H)

    @cached_property
    def _diagonals(self) -> Array | None:
        """The diagonals ``(n, d)`` of Hessians of floats that have nothing else."""
        return None if is_exact(self.H) or not are_diagonal(self.H) else np.diagonal(self.H, axis1=-2, axis2=-1).copy()

    def _bent(self, z: Array) -> Array:
        """H_i z_i, ``(..., n, d)``."""
        return apply(self.H, z) if self._diagonals is None else self._diagonals * z

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        z = x - self.c
        return (z * self._bent(z)).sum(axis=-1) / 2 + self.v

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self._bent(x - self.c)

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        return np.broadcast_to(self.H, (*x.shape[:-1], self.d, self.d))

    def resolvent(self, shift: Array | Scalar, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i: ``(..., n, d) -> (..., n, d)``; exact on fractions.

        ``shift``: one number, or one for each function ``(n,)``.
        """
        shifts = np.asarray(shift)[..., None, None]
        return apply(inverse(self.H + shifts * np.eye(self.d, dtype=int)), target + apply(self.H, self.c))

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        return (y * (apply(self.H_inverse, y) / 2 + self.c)).sum(axis=-1) - self.v

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i>: ``(..., n, d) -> (..., n, d)``."""
        return apply(self.H_inverse, y) + self.c


def diagonal(h: Array, c: Array, v: Scalar = 0) -> Quadratics:
    """Return quadratics with diagonal Hessians: f_i(x) = v + sum_j h_ij (x_j - c_ij)^2 / 2.

    Args:
        h: The diagonals, ``(n, d)``.
        c: The centres, ``(..., n, d)``.
        v: The least values.

    Returns:
        The functions.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.problems.quadratic import diagonal
        >>> f = diagonal([[2.0], [4.0]], [[1.0], [0.0]])
        >>> f.gradient(np.array([[3.0], [3.0]])).tolist(), f.value(np.array([[3.0], [3.0]])).tolist()
        ([[4.0], [12.0]], [4.0, 18.0])
    """
    h, c = np.asarray(h), np.asarray(c)
    H = np.zeros((*h.shape, h.shape[-1]), dtype=h.dtype)
    index = np.arange(h.shape[-1])
    H[:, index, index] = h
    return Quadratics(H, c, v)


def with_spectra(
    spectra: Sequence[Sequence[float]] | Array, rng: np.random.Generator, spread: float = 1.0
) -> Quadratics:
    """Quadratics whose i-th Hessian has the given eigenvalues ``spectra[i]``, in random eigenbases.

    ``spread`` is the standard deviation of the centres c_i (heterogeneity).
    """
    values = np.asarray(spectra, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"spectra must have shape (n, d), got {values.shape}")
    n, d = values.shape
    basis = np.linalg.qr(rng.standard_normal((n, d, d)))[0]
    H = np.matmul(basis * values[:, None, :], np.swapaxes(basis, -1, -2))
    H = (H + np.swapaxes(H, -1, -2)) / 2
    return Quadratics(H, spread * rng.standard_normal((n, d)))


def least_squares(A: Array, b: Array, mu: float = 0.0) -> Quadratics:
    """f_i(x) = 1/(2m) |A_i x - b_i|^2 + (mu/2) |x|^2, for data ``A (n, m, d)`` and targets ``b (n, m)``."""
    if A.ndim != 3 or b.shape != A.shape[:2]:
        raise ValueError(f"A must be (n, m, d) and b (n, m), got {A.shape} and {b.shape}")
    m, d = A.shape[1:]
    At = np.swapaxes(A, -1, -2)
    H = np.matmul(At, A) / m + mu * np.eye(d)
    c = apply(inverse(H), apply(At, b) / m)
    residual = apply(A, c) - b
    v = (residual**2).sum(axis=-1) / (2 * m) + mu * (c**2).sum(axis=-1) / 2
    return Quadratics(H, c, v)


@dataclass(frozen=True)
class Turned(Quadratics):
    """Quadratics whose Hessians have the eigenvalues ``spectra (n, d)``, which are exact where the numbers are."""

    spectra: Any = None

    @cached_property
    def _spectrum(self) -> Array:
        return np.sort(self.spectra, axis=-1)


# By how much functions exceed their tangents.


def bregman(f: Functions, x: Array, x_star: Array, slope: Array) -> Array:
    """f_i(x_i) - f_i(x*) - <slope_i, x_i - x*>, ``x (..., n, d) -> (..., n)``; for quadratics without cancellation.

    ``slope (..., n, d)``: the gradients at ``x_star (..., d)``.
    """
    at = x_star[..., None, :]
    z = x - at
    if isinstance(f, Quadratics):
        # The same where the slopes are others.
        return (z * (apply(f.H, z) / 2 + f.gradient(at) - slope)).sum(axis=-1)
    return f.value(x) - f.value(at) - (slope * z).sum(axis=-1)
