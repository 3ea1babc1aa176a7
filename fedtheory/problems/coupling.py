"""Linear operators in fractions, by their singular values, and a convex function of the image of x."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, apply
from fedtheory.problems.functions import Functions

#: The largest rounding error of a singular value.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class LinearOperator:
    """x -> K x, K = U diag(s) V' with orthogonal U and V; called with ``x (..., d)``.

    Its image is the first ``rows`` coordinates: an operator to a space of fewer dimensions has zeros in the others.

    Args:
        left: U, ``(d, d)``.
        singular: The singular values s, of any signs, ``(d,)``.
        right: V, ``(d, d)``.
        rows: The dimension of the space of its values.
        norm: The number that is declared to be at least its norm.
        least: The number that |K x| is declared to be at least, for |x| = 1, None if there is none.
        adjoint_least: The same of |K' y|.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.problems.coupling import LinearOperator
        >>> K = LinearOperator(np.eye(2), np.array([2.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), 2, 2.0)
        >>> K(np.array([1.0, 5.0])), K.T(np.array([1.0, 5.0]))
        (array([10.,  0.]), array([0., 2.]))
    """

    left: Array
    singular: Array
    right: Array
    rows: int
    norm: Any
    least: Any = None
    adjoint_least: Any = None

    @cached_property
    def matrix(self) -> Array:
        """K itself, ``(d, d)``."""
        return np.matmul(self.left * self.singular, self.right.T)

    def __call__(self, x: Array) -> Array:
        """K x, ``(..., d) -> (..., d)``."""
        return apply(self.matrix, x)

    @property
    def T(self) -> LinearOperator:
        """The adjoint K', of the same norm."""
        turned = replace(self, left=self.right, right=self.left)
        return replace(turned, rows=self.d, least=self.adjoint_least, adjoint_least=self.least)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return len(self.singular)

    def is_as_declared(self) -> bool:
        """Return True if U and V are orthogonal, no singular value is beyond the numbers that are declared, and all
        values of K are in their space."""
        s, one = abs(self.singular), np.eye(self.d, dtype=int)
        slack: Any = _ROUNDING if self.singular.dtype != object else Fraction(0)
        turns = [np.matmul(Q, Q.T) - one for Q in (self.left, self.right)]
        if any((abs(turn) > slack).any() for turn in turns) or (abs(self.matrix[self.rows :]) > slack).any():
            return False
        # With fewer rows than columns an operator maps some vectors to 0; the adjoint need not.
        least = min(s) if self.rows == self.d else 0
        known = [
            (self.least, least),
            (self.adjoint_least, sorted(s, reverse=True)[self.rows - 1] if self.rows else None),
        ]
        below = all(c is None or v is None or c <= v * (1 + slack) for c, v in known)
        return below and bool((s <= self.norm * (1 + slack)).all())


@dataclass(frozen=True)
class Coupling:
    """h(K x) beside the other functions of a problem: K, a convex h, ``h.n == 1``, and a subgradient ``dual (..., d)``
    of h at K x*, the optimum of the dual problem."""

    K: LinearOperator
    h: Functions
    dual: Array

    def kept(self, y: Array) -> Array:
        """A vector ``(..., d)`` without what lies outside of the space of the values of K."""
        inside = np.arange(self.K.d) < self.K.rows
        return y if inside.all() else y * inside.astype(int)
