"""The interface of an objective: values, gradients, Hessians and conjugates of n functions at once.

Shapes: ``n`` clients, dimension ``d``; every oracle broadcasts over leading axes, which are replicas (seeds, random
draws, trial states). A point of all clients has shape ``(..., n, d)``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from fedtheory.numbers.rational import Array, to_float


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

    def resolvent(self, shift: object, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, for shift > -mu_i: ``(..., n, d) -> (..., n, d)``."""


@runtime_checkable
class Descending(Protocol):
    """Functions that take several gradient steps in a row, in floats: a client's data are read while they are in a
    cache, and not anew in every step."""

    def descend(self, x: Array, eta: float, steps: int) -> Array:
        """Return ``x (..., n, d)`` after this many steps x_i <- x_i - eta grad f_i(x_i), up to rounding."""


@runtime_checkable
class Selecting(Protocol):
    """Functions that compute the gradients of some of the clients alone, in floats."""

    def gradient_of(self, x: Array, clients: Array) -> Array:
        """grad f_i(x_i) of the ``clients (n,)`` that are chosen, 0 of the others, ``(..., n, d)``, up to rounding."""


class OfRows:
    """Functions of the rows ``A (n, m, p)`` of n clients, m each."""

    A: Array

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.A.shape[0])

    @property
    def m(self) -> int:
        """Number of rows of each client."""
        return int(self.A.shape[1])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        raise NotImplementedError

    def _points(self, x: Array) -> Array:
        """``x`` in floats, a point shared by all clients repeated for each: ``(..., n, d)``."""
        if x.shape[-2:] not in ((self.n, self.d), (1, self.d)):
            raise ValueError(f"points of all clients have shape (..., {self.n}, {self.d}), got {x.shape}")
        return np.broadcast_to(to_float(x), (*x.shape[:-2], self.n, self.d))


def for_each(mu: object, n: int) -> Array:
    """A positive number for each of n clients, ``(n,)``. Raise ``ValueError`` unless ``mu`` is one, or as many."""
    given = np.asarray(mu, dtype=np.float64)
    if given.shape not in ((), (n,)) or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(f"mu must be a positive number, or one for each of the {n} clients, got {mu}")
    return np.broadcast_to(given, n)
