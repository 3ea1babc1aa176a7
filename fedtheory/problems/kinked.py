"""Convex functions that are not smooth: separable functions with kinks at which their derivatives jump."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.functions import Proximable


@dataclass(frozen=True)
class Kinked:
    r"""f_i(x) + \sum_j jump_{ij} |x_j - kink_{ij}|, for separable functions f_i; all oracles stay exact on fractions.

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
        found: Array = self.f.mu
        return found

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
        value: Array = self.f.value(x) + (self.jump * abs(x - self.kink)).sum(axis=-1)
        return value

    def gradient(self, x: Array) -> Array:
        """A subgradient of each f_i at x_i: ``(..., n, d) -> (..., n, d)``."""
        subgradient: Array = self.f.gradient(x) + self.jump * self._sign(x)
        return subgradient

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The y_i for which target_i - shift y_i is a subgradient of f_i: ``(..., n, d) -> (..., n, d)``."""
        above, below = self.f.resolvent(shift, target - self.jump), self.f.resolvent(shift, target + self.jump)
        found: Array = np.where(above > self.kink, above, np.where(below < self.kink, below, self.kink))
        return found
