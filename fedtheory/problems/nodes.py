"""Functions of any class on the nodes of a network, offered as methods ask data for them.

They stand where :class:`fedtheory.problems.linear_models.LinearModels` does, in statements that need nothing of data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fedtheory.numbers.rational import Array


@dataclass(frozen=True)
class Examples:
    """f_1, ..., f_n, of which the nodes hold ``sizes`` in this order; F_k is their mean, eq. (6) of Federated
    Optimization, and f that of all."""

    f: Any
    sizes: tuple[int, ...]
    share: Literal["own"] = "own"

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.sizes)

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.f.d)

    @property
    def starts(self) -> Array:
        """The first function of each node, ``(K,)``."""
        return np.cumsum((0, *self.sizes[:-1]))

    @cached_property
    def owner(self) -> Array:
        """The node of each function, ``(examples,)``."""
        return np.repeat(np.arange(self.n), self.sizes)

    def every(self, x: Array) -> Array:
        """grad f_i at the point of the node that holds it: ``(..., K or 1, d) -> (..., examples, d)``."""
        found: Array = self.f.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1]))[..., self.owner, :])
        return found

    def per_node(self, values: Array) -> Array:
        """Means over the functions of each node: ``(..., examples, d) -> (..., K, d)``."""
        parts = [values[..., self.owner == k, :].sum(axis=-2) / size for k, size in enumerate(self.sizes)]
        return np.stack(parts, axis=-2)

    def gradient(self, x: Array) -> Array:
        """grad F_k(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        return self.per_node(self.every(x))

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = self.every(w[..., None, :]).sum(axis=-2) / sum(self.sizes)
        return found

    def example_gradient(self, x: Array, rows: Array) -> Array:
        """grad f_i(x_k), one function a node: ``x (..., K or 1, d)``, ``rows (..., K)`` -> ``(..., K, d)``."""
        every = self.every(x)
        lead = np.broadcast_shapes(every.shape[:-2], rows.shape[:-1])
        every, rows = np.broadcast_to(every, (*lead, *every.shape[-2:])), np.broadcast_to(rows, (*lead, self.n))
        return np.take_along_axis(every, rows[..., None], axis=-2)

    def example_change(self, x: Array, w: Array, rows: Array) -> Array:
        """grad f_i(x_k) - grad f_i(w_k), as :meth:`example_gradient`."""
        return self.example_gradient(x, rows) - self.example_gradient(w, rows)


@dataclass(frozen=True)
class Locals:
    """Local functions F_k(v) = G_k(v)/(K p_k) - (mu/2) |v - ``centre``|^2 for G_1, ..., G_K of any class, and f = sum_k
    p_k F_k: those to which mu is what lacks to the class of the G_k, scaled.

    ``weights (K,)``: the p_k, of sum 1; ``lam``: lambda, where a method asks for it.
    """

    G: Any
    weights: Array
    mu: Any
    centre: Array
    lam: Any = None
    share: Literal["equal"] = "equal"

    @property
    def n(self) -> int:
        """The number of nodes, K."""
        return int(self.G.n)

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.G.d)

    @property
    def _scale(self) -> Array:
        return (self.n * self.weights)[:, None]

    def gradient(self, x: Array) -> Array:
        """grad F_k(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        slope = self.G.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1])))
        found: Array = slope / self._scale - self.mu * (x - self.centre)
        return found

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = (self.weights[:, None] * self.gradient(w[..., None, :])).sum(axis=-2)
        return found

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_k of grad F_k(y_k) + shift y_k = target_k, ``(..., K, d)``."""
        shifts = (self._scale * (shift - self.mu))[:, 0]
        found: Array = self.G.resolvent(shifts, self._scale * (target - self.mu * self.centre))
        return found


@dataclass(frozen=True)
class Copies:
    """F_1 = ... = F_n, the only function of ``F``, and f = F."""

    F: Any
    n: int

    @property
    def d(self) -> int:
        """Dimension of a model."""
        return int(self.F.d)

    def gradient(self, x: Array) -> Array:
        """grad F(x_k): ``(..., K or 1, d) -> (..., K, d)``."""
        found: Array = self.F.gradient(np.broadcast_to(x, (*x.shape[:-2], self.n, x.shape[-1]))[..., None, :])
        return found[..., 0, :]

    def full_gradient(self, w: Array) -> Array:
        """grad f(w): ``(..., d) -> (..., d)``."""
        found: Array = self.F.gradient(w[..., None, :])[..., 0, :]
        return found

    def resolvent(self, shift: Any, target: Array) -> Array:
        """The roots y_k of grad F(y_k) + shift y_k = target_k, ``(..., K, d)``."""
        found: Array = self.F.resolvent(shift, target[..., None, :])
        return found[..., 0, :]
