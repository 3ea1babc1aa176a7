"""Operators F_1, ..., F_n on R^d, not each the gradient of a function: affine ones that turn, and gradients.

They are asked as gradients are. There are no values, and no conjugates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.nonconvex import is_quadratic

#: The largest rounding error of a number, relative to those that it is made of.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TurningOperators:
    """F_i(v) = h_i * (v - x) + b_i J (v - x) + y_i, where J turns the coordinates 1 and 2, 3 and 4, ... by a right
    angle, and leaves nothing of a last one.

    ``h (n, d)``, ``b (n,)``; ``x (..., d)``, ``y (..., n, d)``.
    """

    h: Array
    b: Array
    x: Array
    y: Array

    #: A linear step on them is linear in the state.
    is_affine = True

    @property
    def n(self) -> int:
        """Number of operators."""
        return int(self.h.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.h.shape[1])

    @cached_property
    def A(self) -> Array:
        """The matrices, ``(n, d, d)``."""
        found = np.zeros((self.n, self.d, self.d), dtype=self.h.dtype)
        index = np.arange(self.d)
        found[:, index, index] = self.h
        for j in range(0, self.d - 1, 2):
            found[:, j, j + 1], found[:, j + 1, j] = -self.b, self.b
        return found

    @property
    def mu(self) -> Array:
        """The largest m_i with <F_i(v) - F_i(w), v - w> >= m_i |v - w|^2, ``(n,)``."""
        return self.h.min(axis=-1)

    @property
    def L(self) -> Array:
        """Lipschitz constants, not always the least, ``(n,)``."""
        return np.abs(self.h).max(axis=-1) + np.abs(self.b)

    def gradient(self, x: Array) -> Array:
        """F_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return apply(self.A, x - self.x[..., None, :]) + self.y

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots v_i of F_i(v_i) + shift v_i = target_i, ``(..., n, d) -> (..., n, d)``; ``shift``: one number, or
        one for each operator ``(n,)``."""
        shifts = np.asarray(shift)[..., None, None]
        known = target + apply(self.A, self.x[..., None, :]) - self.y
        return apply(inverse(self.A + shifts * np.eye(self.d, dtype=int)), known)

    def are_monotone(self, mu: Scalar) -> bool:
        """Return True if <F_i(v) - F_i(w), v - w> >= mu |v - w|^2 for each."""
        return _all_at_least(self.h, mu)

    def are_lipschitz(self, L: Scalar) -> bool:
        """Return True if |F_i(v) - F_i(w)| <= L |v - w| for each: L^2 - A'A has no negative eigenvalue."""
        return self._is_nonnegative(lambda h: L**2 - h**2, L**2)

    def are_cocoercive(self, L: Scalar) -> bool:
        """Return True if |F_i(v) - F_i(w)|^2 <= L <F_i(v) - F_i(w), v - w> for each: L (A + A')/2 - A'A has no negative
        eigenvalue."""
        return self._is_nonnegative(lambda h: L * h - h**2, L**2)

    def _is_nonnegative(self, diagonal: Callable[[Array], Array], scale: Scalar) -> bool:
        """Return True if the matrices with ``diagonal(h) - b^2``, and b (h_1 - h_2) beside it in each two coordinates
        that are turned, have no negative eigenvalue."""
        turned = 2 * (self.d // 2)
        square = (self.b**2)[:, None]
        one, other = (diagonal(self.h[:, k:turned:2]) - square for k in (0, 1))
        beside = self.b[:, None] * (self.h[:, 0:turned:2] - self.h[:, 1:turned:2])
        parts = (
            (one, scale),
            (other, scale),
            (one * other - beside**2, scale**2),
            (diagonal(self.h[:, turned:]), scale),
        )
        return all(_all_at_least(part, 0, size) for part, size in parts)


@dataclass(frozen=True)
class GradientOperators:
    """The gradients of functions ``f``, or subgradients, as operators."""

    f: Any

    @property
    def is_affine(self) -> bool:
        """True if every one is an affine map."""
        return is_quadratic(self.f)

    @property
    def n(self) -> int:
        """Number of operators."""
        return int(self.f.n)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.f.d)

    @property
    def mu(self) -> Array:
        """The least curvature of each function, ``(n,)``."""
        return self.f.mu

    @property
    def L(self) -> Array:
        """The largest curvature of each function, ``(n,)``."""
        return self.f.L

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self.f.gradient(x)

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots v_i of grad f_i(v_i) + shift v_i = target_i, ``(..., n, d) -> (..., n, d)``."""
        return self.f.resolvent(shift, target)

    def are_monotone(self, mu: Scalar) -> bool:
        """Return True if each function is mu-strongly convex."""
        return _all_at_least(self.mu, mu)

    def are_lipschitz(self, L: Scalar) -> bool:
        """Return True if each function is L-smooth."""
        return _all_at_least(-self.L, -L) and _all_at_least(self.mu, -L)

    def are_cocoercive(self, L: Scalar) -> bool:
        """Return True if each function is convex and L-smooth."""
        return self.are_lipschitz(L) and self.are_monotone(0)


def _all_at_least(values: Array, bound: Scalar, scale: Scalar = 0) -> bool:
    """Return True if numbers are at least a bound, but for rounding where they are floats that come of ``scale``."""
    if not values.size:
        return True
    least = values.min()
    if isinstance(least, float):
        return bool(least >= bound - _ROUNDING * max(abs(least), abs(bound), abs(scale)))
    return bool(least >= bound)
