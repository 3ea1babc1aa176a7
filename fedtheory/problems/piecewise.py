"""Separable functions whose derivatives are piecewise linear: those of worst-case analysis, smooth or with kinks.

All oracles stay exact on fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Proximable


@dataclass(frozen=True)
class PiecewiseQuadratic:
    """f_i(x) = sum_j phi_ij(x_j) + <tilt_i, x>, phi_ij'' = ``slopes[k]`` between the k-th kink and the one after it.

    phi_ij and its derivative vanish at the first kink. ``slopes``: K >= 2 arrays ``(..., n, d)``, positive; ``kinks``:
    K - 1 arrays ``(..., n, d)``, none below the one before it, and ``tilt`` likewise; leading axes are replicas.
    ``ValueError`` otherwise.
    """

    slopes: tuple[Array, ...]
    kinks: tuple[Array, ...]
    tilt: Array

    def __post_init__(self) -> None:
        if len(self.slopes) < 2 or len(self.kinks) != len(self.slopes) - 1:
            raise ValueError("there must be two slopes or more, with a kink between each and the next")
        if any(s.shape != self.slopes[0].shape or s.ndim < 2 for s in self.slopes):
            raise ValueError("slopes must be arrays of one shape (n, d)")
        if min(s.min() for s in self.slopes) <= 0:
            raise ValueError("slopes must be positive")
        if any((after < before).any() for before, after in zip(self.kinks, self.kinks[1:], strict=False)):
            raise ValueError("kinks must be in ascending order")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.slopes[0].shape[-2])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.slopes[0].shape[-1])

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return np.min(np.stack(self.slopes), axis=0).min(axis=-1)

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""
        return np.max(np.stack(self.slopes), axis=0).max(axis=-1)

    @cached_property
    def _at_kinks(self) -> tuple[tuple[Array, Array], ...]:
        """phi and its derivative at each kink."""
        value = derivative = 0 * self.kinks[0]
        found = [(value, derivative)]
        for slope, before, after in zip(self.slopes[1:], self.kinks, self.kinks[1:], strict=False):
            width = after - before
            value = value + (derivative + slope * width / 2) * width
            derivative = derivative + slope * width
            found.append((value, derivative))
        return tuple(found)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        z = x - self.kinks[0]
        phi = self.slopes[0] * z**2 / 2
        for slope, kink, (value, derivative) in zip(self.slopes[1:], self.kinks, self._at_kinks, strict=True):
            z = x - kink
            phi = np.where(z < 0, phi, value + derivative * z + slope * z**2 / 2)
        return (phi + self.tilt * x).sum(axis=-1)

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        found = self.slopes[0] * (x - self.kinks[0])
        for slope, kink, (_, derivative) in zip(self.slopes[1:], self.kinks, self._at_kinks, strict=True):
            z = x - kink
            found = np.where(z < 0, found, derivative + slope * z)
        return found + self.tilt

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``; at a kink that of what is above it."""
        found = self.slopes[0]
        for slope, kink in zip(self.slopes[1:], self.kinks, strict=True):
            found = np.where(x < kink, found, slope)
        return found[..., None] * np.eye(self.d, dtype=int)

    def resolvent(self, shift: Array | Scalar, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i: ``(..., n, d) -> (..., n, d)``; exact on fractions.

        ``shift``: one number, or one for each function ``(n,)``.
        """
        shift = np.asarray(shift)[..., None]
        first = self.kinks[0]
        z = target - self.tilt - shift * first
        found = first + z / (self.slopes[0] + shift)
        for slope, kink, (_, derivative) in zip(self.slopes[1:], self.kinks, self._at_kinks, strict=True):
            z = target - self.tilt - derivative - shift * kink
            found = np.where(z < 0, found, kink + z / (slope + shift))
        return found

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i>: ``(..., n, d) -> (..., n, d)``."""
        return self.resolvent(0, y)

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""
        w = self.conjugate_gradient(y)
        return (y * w).sum(axis=-1) - self.value(w)


# Convex functions that are not smooth: separable functions with kinks at which their derivatives jump.


@dataclass(frozen=True)
class Kinked:
    """f_i(x) + sum_j jump_{ij} |x_j - kink_{ij}|, for separable functions f_i; all oracles stay exact on fractions.

    ``gradient`` gives a subgradient: at a kink the one with ``choice_ij`` in [-1, 1] in the place of the sign.
    ``f``: separable functions, whose resolvents are known; ``kink (..., n, d)``, leading axes are replicas;
    ``jump (n, d)``, none negative; ``choice (n, d)``. ``ValueError`` otherwise.
    """

    f: Any
    kink: Array
    jump: Array
    choice: Array

    def __post_init__(self) -> None:
        shape = (self.f.n, self.f.d)
        if self.jump.shape != shape or self.choice.shape != shape or self.kink.shape[-2:] != shape:
            raise ValueError(f"kinks, jumps and choices are {shape}, one for each function and coordinate")
        if self.jump.min() < 0 or abs(self.choice).max() > 1:
            raise ValueError("jumps are at least 0, and choices lie between -1 and 1")
        if not isinstance(self.f, Proximable):
            raise ValueError("functions with kinks are made of such whose proximal points are known")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.f.n)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.f.d)

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""
        return self.f.mu

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, ``(n,)``: infinite where there is a kink."""
        smooth: Array = self.f.L
        return np.where((self.jump > 0).any(axis=-1), math.inf, smooth)

    @property
    def steepest_squared(self) -> Array:
        """The squares of the Lipschitz constants, ``(n,)``, of functions f_i that are linear; infinite where one is
        not."""
        tilt = self.f.gradient(self.kink)
        squares = ((abs(tilt) + self.jump) ** 2).sum(axis=-1)
        return np.where(np.maximum(self.f.L, -self.f.mu) > 0, math.inf, squares)

    def _sign(self, x: Array) -> Array:
        z = x - self.kink
        return np.where(z > 0, 1, np.where(z < 0, -1, self.choice))

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        return self.f.value(x) + (self.jump * abs(x - self.kink)).sum(axis=-1)

    def gradient(self, x: Array) -> Array:
        """A subgradient of each f_i at x_i: ``(..., n, d) -> (..., n, d)``."""
        return self.f.gradient(x) + self.jump * self._sign(x)

    def resolvent(self, shift: object, target: Array) -> Array:
        """The y_i for which target_i - shift y_i is a subgradient of f_i: ``(..., n, d) -> (..., n, d)``."""
        above, below = self.f.resolvent(shift, target - self.jump), self.f.resolvent(shift, target + self.jump)
        return np.where(above > self.kink, above, np.where(below < self.kink, below, self.kink))
