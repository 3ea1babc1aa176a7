"""Functions with ridges that run away from a point: along a ray they are parabolas, across it they wave."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array


@dataclass(frozen=True)
class Ridged:
    r"""$f_i(x) = \frac{a_i}{2} |z|^2 + c_i r^2 \sin(k \theta) + \langle y_i, z \rangle$ for z = x - ``centre``, with
    the polar coordinates (r, theta) of its first two coordinates; exact on fractions: r^k sin(k theta) is a polynomial.

    Where sin(k theta) = 0 the gradient is turned by as much as c k allows, and r sinks no faster than a says: steps
    lead off the ray. ``a``, ``c (n,)``; ``centre (..., d)`` and ``y (..., n, d)``, leading axes are replicas, d >= 2;
    ``k`` even, above 2. ``ValueError`` otherwise.
    """

    a: Array
    c: Array
    centre: Array
    y: Array
    k: int = 16

    def __post_init__(self) -> None:
        if (
            self.k % 2
            or self.k <= 2
            or self.d < 2
            or self.a.shape != self.c.shape
            or self.y.shape[-2:] != (self.n, self.d)
        ):
            raise ValueError("ridges are for an even k > 2, and for two coordinates or more")

    @property
    def n(self) -> int:
        """Number of functions."""
        return len(self.a)

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.centre.shape[-1])

    @property
    def _bend(self) -> Array:
        """A bound of the eigenvalues of the Hessian less a_i, ``(n,)``: those of [[2s, kt], [kt, (2 - k^2) s]], s and
        t the sine and the cosine, times c."""
        return abs(self.c) * (self.k**2 + self.k + 2)

    @property
    def mu(self) -> Array:
        """A lower bound of all curvatures of each function, ``(n,)``."""
        return self.a - self._bend

    @property
    def L(self) -> Array:
        """An upper bound of all curvatures of each function, ``(n,)``."""
        return self.a + self._bend

    def _wave(self, z: Array) -> tuple[Array, Array]:
        """The sine and the cosine of k theta; of a point without a direction 0."""
        square = z[..., 0] ** 2 + z[..., 1] ** 2
        real, imaginary = 0 * square + 1, 0 * square
        for _ in range(self.k):
            real, imaginary = real * z[..., 0] - imaginary * z[..., 1], real * z[..., 1] + imaginary * z[..., 0]
        size = np.where(square == 0, 1, square) ** (self.k // 2)
        return imaginary / size, real / size

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        z = x - self.centre[..., None, :]
        sine, _ = self._wave(z)
        wave = self.c * (z[..., 0] ** 2 + z[..., 1] ** 2) * sine
        return self.a * (z**2).sum(axis=-1) / 2 + wave + (self.y * z).sum(axis=-1)

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        z = x - self.centre[..., None, :]
        sine, cosine = self._wave(z)
        along, across = 2 * self.c * sine, self.k * self.c * cosine
        first, second = along * z[..., 0] - across * z[..., 1], along * z[..., 1] + across * z[..., 0]
        rest = [0 * first] * (self.d - 2)
        return self.a[:, None] * z + np.stack([first, second, *rest], axis=-1) + self.y

    def secants(self, x: Array) -> tuple[Any, Any] | None:
        """Return the constants of the average that ``fedtheory.classes.restricted_secant.secants`` finds, about
        ``centre``, the second one rounded up.

        None about other points, and if the first number is not positive.
        """
        if (x != self.centre).any() or (self.y.sum(axis=-2) != 0).any():
            return None
        a, c = sum(self.a) / self.n, abs(sum(self.c) / self.n)
        if a <= 2 * c:
            return None
        # (a + 2cs)^2 + k^2 c^2 (1 - s^2) is largest at s = 2a/((k^2 - 4) c), or below that for s <= 1.
        square = Fraction(a**2 + (self.k * c) ** 2 + 4 * a**2 / (self.k**2 - 4))
        unit = 10**6
        return a - 2 * c, Fraction(math.isqrt(math.ceil(square * unit**2)) + 1, unit)
