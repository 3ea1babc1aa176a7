"""Scalar-separable functions whose derivative has two slopes: the simplest objectives that are not quadratic.

Interpolating functions of worst-case analysis have such kinks; all oracles stay exact on fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.rational import Array


@dataclass(frozen=True)
class TwoSlope:
    """f_i(x) = sum_j s_ij (x_j - c_ij)^2 / 2 + <tilt_i, x>, with s = ``below`` where x_j < c_ij, else ``above``.

    All arrays ``(n, d)`` (``c`` and ``tilt`` may have leading replica axes); slopes positive.
    """

    below: Array
    above: Array
    c: Array
    tilt: Array

    def __post_init__(self) -> None:
        if self.below.shape != self.above.shape or self.below.ndim != 2:
            raise ValueError("below and above must be two arrays of shape (n, d)")
        if min(self.below.min(), self.above.min()) <= 0:
            raise ValueError("slopes must be positive")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.below.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.below.shape[1])

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return np.minimum(self.below, self.above).min(axis=-1)

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        return np.maximum(self.below, self.above).max(axis=-1)

    def _slope(self, z: Array) -> Array:
        return np.where(z < 0, self.below, self.above)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        z = x - self.c
        return (self._slope(z) * z**2 / 2 + self.tilt * x).sum(axis=-1)

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        z = x - self.c
        return self._slope(z) * z + self.tilt

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        return self._slope(x - self.c)[..., None] * np.eye(self.d, dtype=int)

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i: ``(..., n, d) -> (..., n, d)``; exact on fractions."""
        z = target - self.tilt - shift * self.c
        return self.c + z / (self._slope(z) + shift)

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i>: ``(..., n, d) -> (..., n, d)``."""
        z = y - self.tilt
        return self.c + z / self._slope(z)

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        w = self.conjugate_gradient(y)
        return (y * w).sum(axis=-1) - self.value(w)
