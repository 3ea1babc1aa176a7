"""Closed convex sets whose projections are exact on fractions: boxes along axes that may be turned, which may have no
end on some sides. Points, segments, lines, slabs and half-spaces are among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fedtheory.numbers.rational import Array, apply, is_exact
from fedtheory.numbers.scalar import Scalar

#: The largest rounding error of a length.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Boxes:
    """The sets of the points centre_i + Q_i z with low_i <= z <= high_i, n of them, as functions that are 0 there.

    Args:
        axes: The orthogonal matrices Q_i, ``(n, d, d)``.
        centre: A point of each set, ``(..., n, d)``; leading axes are replicas.
        low: The lower ends of z, at most 0, ``(..., n, d)``; minus infinity where there is none.
        high: The upper ends, at least 0, in the same shape.
        diameter: A bound of all distances of two points of one set, where one is declared.

    Raises:
        ValueError: If a centre is not in its set.

    Examples:
        >>> import numpy as np
        >>> from fedtheory.problems.sets import Boxes
        >>> interval = Boxes(np.eye(1)[None], np.zeros((1, 1)), np.array([[-1.0]]), np.array([[2.0]]))
        >>> interval.project(np.array([[5.0]])), interval.lmo(np.array([[5.0]]))
        (array([[2.]]), array([[-1.]]))
    """

    axes: Array
    centre: Array
    low: Array
    high: Array
    diameter: Scalar | None = None

    def __post_init__(self) -> None:
        if (self.low > 0).any() or (self.high < 0).any():
            raise ValueError("the centre of a set is one of its points")

    @property
    def n(self) -> int:
        """Number of sets."""
        return len(self.axes)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.axes.shape[-1])

    @property
    def mu(self) -> Array:
        """0 for each set: functions that are 0 on a convex set, and infinite elsewhere, are convex."""
        return np.array([Fraction(0)] * self.n, dtype=object)

    @property
    def L(self) -> Array:
        """Infinity for each set."""
        return np.array([math.inf] * self.n, dtype=object)

    def project(self, x: Array) -> Array:
        """The points of the sets nearest to the x_i, ``(..., n, d) -> (..., n, d)``."""
        z = apply(np.swapaxes(self.axes, -1, -2), x - self.centre)
        return x + apply(self.axes, np.minimum(np.maximum(z, self.low), self.high) - z)

    def lmo(self, v: Array) -> Array:
        """Points s_i of the sets at which <v_i, s_i> is least, ``(..., n, d) -> (..., n, d)``.

        Raise ``ValueError`` for a set without bounds, which has none for some v.
        """
        if not self.is_bounded:
            raise ValueError("a linear function is least somewhere in a bounded set: see Constrained(..., D)")
        w = apply(np.swapaxes(self.axes, -1, -2), v)
        return self.centre + apply(self.axes, np.where(w > 0, self.low, self.high))

    @property
    def is_bounded(self) -> bool:
        """True if all sets are bounded."""
        return bool((np.maximum(self.high, -self.low) < math.inf).all())

    def is_within(self, D: Scalar) -> bool:
        """Return True if two points of one set are at most D apart."""
        if not self.is_bounded:
            return False
        most = D**2 * (1 + _ROUNDING) if isinstance(D, float) else D**2
        return bool((((self.high - self.low) ** 2).sum(axis=-1) <= most).all())

    def are_normal(self, x: Array, v: Array) -> bool:
        """Return True if the x_i ``(n, d)`` are in the sets, and <v_i, s - x_i> <= 0 for all of their points s; floats
        are taken to be.
        """
        if not (is_exact(x) and is_exact(v)):
            return True
        inverse = np.swapaxes(self.axes, -1, -2)
        z, w = apply(inverse, x - self.centre), apply(inverse, v)
        inside = (self.low <= z) & (z <= self.high)
        return bool((inside & ((w <= 0) | (z == self.high)) & ((w >= 0) | (z == self.low))).all())
