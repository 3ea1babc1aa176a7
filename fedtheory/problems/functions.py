"""The interface of an objective: values, gradients, Hessians and conjugates of n functions at once.

Shapes: ``n`` clients, dimension ``d``; every oracle broadcasts over leading axes, which are replicas (seeds, random
draws, trial states). A point of all clients has shape ``(..., n, d)``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from fedtheory.numbers.rational import Array


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
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, for shift > -mu_i: ``(..., n, d) -> (..., n, d)``.

        The proximal point of x with the stepsize gamma, the minimiser of f_i(y) + |y - x|^2 / (2 gamma), is
        ``resolvent(1 / gamma, x / gamma)``.
        """


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
