"""Smooth nonconvex functions that are bounded from below and not coercive: they recede to an infimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, is_exact, to_float

# Steps towards a root, and what rounding may leave of a residual, relative to its terms.
_STEPS, _DIGITS = 100, 2.0**-52


def _tail(t: Array) -> tuple[Array, Array, Array]:
    """1/(1+t) for t >= 0, continued by 1 - t + t^2: decreasing, convex, no minimiser; value, slope, curvature."""
    right = t >= 0
    p = 1 + np.where(right, t, 0 * t)
    return np.where(right, 1 / p, 1 - t + t**2), np.where(right, -1 / p**2, 2 * t - 1), np.where(right, 2 / p**3, 2)


def _well(t: Array) -> tuple[Array, Array, Array]:
    """t^2/(2(1+t^2)), between 0 and 1/2, curvature in [-1/4, 1]; value, slope, curvature."""
    p = 1 + t**2
    return t**2 / (2 * p), t / p**2, (1 - 3 * t**2) / p**3


@dataclass(frozen=True)
class Receding:
    r"""f_i(x) = \sum_j a_{ij} \Phi(x_j - c_{ij}) + b_{ij} G(x_j - e_{ij}), with \Phi(t) = 1/(1+t) for t >= 0.

    \Phi continues as 1 - t + t^2 and decreases for ever; G(t) = t^2/(2(1+t^2)) is a well. All f_i >= 0, none is
    coercive, and an infimum need not be attained: without wells all x_j go to infinity. Values and gradients are exact
    on fractions. ``a, b (n, d)`` not negative, ``c, e (n, d)``. ``ValueError`` otherwise.
    """

    a: Array
    b: Array
    c: Array
    e: Array

    def __post_init__(self) -> None:
        if self.a.ndim != 2 or any(v.shape != self.a.shape for v in (self.b, self.c, self.e)):
            raise ValueError("a, b, c and e must be four arrays of shape (n, d)")
        if min(self.a.min(), self.b.min()) < 0 or (self.a + self.b).min() <= 0:
            raise ValueError("the weights of tails and wells must not be negative, nor both zero")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.a.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.a.shape[1])

    @property
    def s(self) -> Array:
        """s_i with hessian >= -s_i I, ``(n,)``: a quarter of the deepest well."""
        return self.b.max(axis=-1) / 4

    @property
    def L(self) -> Array:
        """Lipschitz constants r_i of the gradients, ``(n,)``; the least where a tail turns at the centre of a well."""
        return (2 * self.a + self.b).max(axis=-1)

    @property
    def mu(self) -> Array:
        """Lower bounds of the curvature, ``(n,)``."""
        return -self.s

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        return (self.a * _tail(x - self.c)[0] + self.b * _well(x - self.e)[0]).sum(axis=-1)

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self.a * _tail(x - self.c)[1] + self.b * _well(x - self.e)[1]

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""
        curvature = self.a * _tail(x - self.c)[2] + self.b * _well(x - self.e)[2]
        return curvature[..., None] * np.eye(self.d, dtype=int)

    def resolvent(self, shift: object, target: Array) -> Array:
        """The roots of grad f_i(y_i) + shift y_i = target_i, in floats, for shift > s_i: one number, or one for each
        function ``(n,)``. ``ValueError`` for fractions, whose roots are irrational, and for smaller shifts."""
        if is_exact(target):
            raise ValueError("the proximal points of receding functions are irrational")
        shift = to_float(shift)
        if (shift <= to_float(self.s)).any():
            raise ValueError("a proximal point of a receding function needs a shift above s_i")
        weight = np.broadcast_to(shift[..., None], (self.n, self.d))
        y = target / weight
        # The function is at most strongly monotone by shift - s, so the root is this near.
        radius = abs(self.gradient(y)) / (weight - to_float(self.s)[:, None]) + np.finfo(float).tiny
        low, high, last = y - radius, y + radius, 2 * radius
        found = np.zeros(y.shape, dtype=bool)
        # Newton's steps; half of the bracket where these leave it, or are longer than half of the step before. What is
        # found is kept, so that no root depends on the replicas beside it.
        for _ in range(_STEPS):
            tail, well = _tail(y - self.c), _well(y - self.e)
            above = self.a * tail[1] + self.b * well[1] + weight * y - target
            low, high = np.where(above > 0, low, y), np.where(above > 0, y, high)
            step = -above / (self.a * tail[2] + self.b * well[2] + weight)
            near = (low <= y + step) & (y + step <= high) & (2 * abs(step) <= last)
            step = np.where(near, step, (low + high) / 2 - y)
            rounding = _DIGITS * (self.a * abs(tail[1]) + self.b * abs(well[1]) + weight * abs(y) + abs(target))
            stays = abs(above) <= rounding
            y, last = np.where(found | stays & ~near, y, y + step), abs(step)
            found |= stays
            if found.all():
                break
        return y


def receding(n: int, d: int, rng: np.random.Generator, array: Any = np.asarray) -> Receding:
    """A random family in small rationals; ``array`` makes the numbers, as of ``rational.exact``."""
    a, b = array(rng.integers(1, 4, (n, d))) / 2, array(rng.integers(0, 9, (n, d)))
    return Receding(a, b, array(rng.integers(-3, 4, (n, d))), array(rng.integers(-3, 4, (n, d))))
