"""What an objective offers: values, gradients, Hessians and conjugates of n functions at once.

Shapes: ``n`` clients, dimension ``d``; every oracle broadcasts over leading axes, which are replicas (seeds, random
draws, trial states). A point of all clients has shape ``(..., n, d)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fedtheory.optimum import Optimum, solve
from fedtheory.rational import Array


class Functions(Protocol):
    """n differentiable, strongly convex functions f_1, ..., f_n on R^d."""

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""

    @property
    def d(self) -> int:
        """Dimension of a point."""

    @property
    def mu(self) -> Array:
        """Strong convexity constant of each function, shape ``(n,)``."""

    @property
    def L(self) -> Array:
        """Smoothness constant of each function, shape ``(n,)``."""

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""

    def hessian(self, x: Array) -> Array:
        """Hessians of f_i at x_i: ``(..., n, d) -> (..., n, d, d)``."""

    def conjugate(self, y: Array) -> Array:
        """f_i^*(y_i) = sup_w <y_i, w> - f_i(w): ``(..., n, d) -> (..., n)``."""

    def conjugate_gradient(self, y: Array) -> Array:
        """grad f_i^*(y_i) = argmin_w f_i(w) - <w, y_i>: ``(..., n, d) -> (..., n, d)``."""


@runtime_checkable
class Proximable(Protocol):
    """Functions whose proximal points are known in closed form."""

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, for shift > -mu_i: ``(..., n, d) -> (..., n, d)``."""


@dataclass(frozen=True)
class Problem:
    """minimise sum_i f_i(x) + n g(x), over x in R^d; the average form (1/n) sum f_i + g has the same minimiser.

    ``g`` holds one function (``g.n == 1``) or is None. ``declared`` may state (mu, L) weaker than the true ones;
    ``known`` is the optimum where the construction fixes it.
    """

    f: Functions
    g: Functions | None = None
    declared: tuple[Any, Any] | None = None
    known: Optimum | None = None

    def __post_init__(self) -> None:
        if self.g is not None and (self.g.n != 1 or self.g.d != self.f.d):
            raise ValueError("g must be a single function on the space of the f_i")

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of the model."""
        return self.f.d

    @property
    def mu(self) -> Any:
        """A strong convexity constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[0]
        parts = [self.f.mu] if self.g is None else [self.f.mu, self.g.mu]
        return float(min(np.min(p) for p in parts))

    @property
    def L(self) -> Any:
        """A smoothness constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[1]
        parts = [self.f.L] if self.g is None else [self.f.L, self.g.L]
        return float(max(np.max(p) for p in parts))

    @cached_property
    def optimum(self) -> Optimum:
        """The minimiser, the optimal dual variables and the KKT residual (see :mod:`fedtheory.optimum`)."""
        return self.known or solve(self)

    @property
    def x_star(self) -> Array:
        """The minimiser, shape ``(..., d)``."""
        return self.optimum.x

    @property
    def y_star(self) -> Array:
        """grad f_i(x*), the optimal dual variables, shape ``(..., n, d)``."""
        return self.optimum.y
