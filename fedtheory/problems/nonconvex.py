"""Smooth nonconvex functions: quadratics with a bend, exact on fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.piecewise import Kinked, PiecewiseQuadratic


@dataclass(frozen=True)
class LessHuber:
    r"""f_i(x) = \frac12 \sum_j h_{ij} (x_j - c_{ij})^2 - b_i B_i(\langle u_i, x \rangle - t_i), each with its own bend.

    B_i is the Huber function, z^2/2 up to |z| = width_i and linear beyond: inside a strip across u_i the curvature
    falls by b_i |u_i|^2 along u_i. Coercive, for all h_ij > 0; not convex where b_i |u_i|^2 is large.

    ``h (n, d)`` positive; ``c (..., n, d)`` and ``t (..., n)``, leading axes are replicas of the problem; ``u (n, d)``;
    ``b``, ``width (n,)`` positive. ``ValueError`` otherwise.
    """

    h: Array
    c: Array
    u: Array
    b: Array
    t: Array
    width: Array

    def __post_init__(self) -> None:
        if self.h.ndim != 2 or self.u.shape != self.h.shape or self.c.shape[-2:] != self.h.shape:
            raise ValueError(
                f"h and u must be (n, d), c (..., n, d), got {self.h.shape}, {self.u.shape}, {self.c.shape}"
            )
        if any(v.shape != (self.n,) for v in (self.b, self.t[(0,) * (self.t.ndim - 1)], self.width)):
            raise ValueError(f"b, t and width must have one number for each of the {self.n} functions")
        if min(self.h.min(), self.b.min(), self.width.min()) <= 0:
            raise ValueError("curvatures h, bends b and widths must be positive")

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return int(self.h.shape[0])

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return int(self.h.shape[1])

    @property
    def s(self) -> Array:
        """s_i with hessian >= -s_i I, ``(n,)``: the best such number where u_i is an eigenvector of least curvature."""
        lowest = self.h.min(axis=-1) - self.b * (self.u**2).sum(axis=-1)
        return np.where(lowest < 0, -lowest, 0 * lowest)

    @property
    def L(self) -> Array:
        """The Lipschitz constants r_i of the gradients, ``(n,)``."""
        return np.maximum(self.h.max(axis=-1), self.s)

    @property
    def mu(self) -> Array:
        """Lower bounds of the curvature, ``(n,)``; negative unless the bends are mild."""
        return self.h.min(axis=-1) - self.b * (self.u**2).sum(axis=-1)

    def _along(self, x: Array) -> Array:
        return (self.u * x).sum(axis=-1) - self.t

    def _clip(self, z: Array) -> Array:
        return np.where(z > self.width, self.width, np.where(z < -self.width, -self.width, z))

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        z = self._along(x)
        inner = self._clip(z)
        return (self.h * (x - self.c) ** 2).sum(axis=-1) / 2 - self.b * (inner * (z - inner / 2))

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self.h * (x - self.c) - (self.b * self._clip(self._along(x)))[..., None] * self.u

    def hessian(self, x: Array) -> Array:
        """One of the generalised Hessians where the curvature jumps."""
        bend = np.where(abs(self._along(x)) <= self.width, self.b, 0 * self.b)[..., None, None]
        return self.h[..., None] * np.eye(self.d, dtype=int) - bend * self.u[:, :, None] * self.u[:, None, :]

    def roots(self, shift: Array, target: Array) -> tuple[Array, Array]:
        """The roots of grad f_i(y_i) + shift y_i = target_i below, inside and above the strip, ``(3, ..., n, d)``, and
        which of them there are, ``(3, ..., n)``; shift > -h, one number or one for each function ``(n,)``."""
        stiffness = self.h + np.asarray(shift)[..., None]
        force = target + self.h * self.c
        free = (self.u * force / stiffness).sum(axis=-1) - self.t
        give = self.b * (self.u**2 / stiffness).sum(axis=-1) + 0 * free
        slack = 1 - give
        inside = np.where(slack == 0, 0 * free, free / np.where(slack == 0, 1 + 0 * slack, slack))
        bends = np.stack([-self.width + 0 * free, inside, self.width + 0 * free])
        there = np.stack(
            [
                free - give * self.width <= -self.width,
                (abs(inside) <= self.width) & ((slack != 0) | (free == 0)),
                free + give * self.width >= self.width,
            ]
        )
        return (force + (self.b * bends)[..., None] * self.u) / stiffness, there

    def resolvent(self, shift: Array, target: Array) -> Array:
        """The root of grad f_i(y_i) + shift y_i = target_i that minimises f_i + shift |.|^2/2 - <target_i, .>.

        If shift > s_i there is no other root.
        """
        y, there = self.roots(shift, target)
        height = self.value(y) + (np.asarray(shift) * (y**2).sum(axis=-1)) / 2 - (target * y).sum(axis=-1)
        best, lowest, found = y[0], height[0], there[0]
        for k in (1, 2):
            better = there[k] & (~found | (height[k] < lowest))
            best, lowest = np.where(better[..., None], y[k], best), np.where(better, height[k], lowest)
            found = found | there[k]
        return best

    def stationary_at(self, x: Array, alpha: Array) -> LessHuber:
        """The same functions with their centres moved by one vector, so that sum_i alpha_i grad f_i(x) = 0."""
        slope = (alpha[:, None] * self.gradient(np.broadcast_to(x, (self.n, self.d)))).sum(axis=-2)
        return replace(self, c=self.c + slope / (alpha[:, None] * self.h).sum(axis=0))


def bent(n: int, d: int, rng: np.random.Generator, array: Any = np.asarray) -> LessHuber:
    """A random family in small rationals, some of it convex; ``array`` makes the numbers, as of ``rational.exact``."""
    h, width = array(rng.integers(1, 5, (n, d))) / 2, array(rng.integers(1, 4, n)) / 2
    u, b = array(rng.integers(-2, 3, (n, d))), array(rng.integers(1, 5, n)) / 2
    c, t = array(rng.integers(-4, 5, (n, d))), array(rng.integers(-4, 5, n)) / 2
    return LessHuber(h, c, u, b, t, width)


@dataclass(frozen=True)
class LessParabola:
    """f_i(x) - (bend/2)|x - centre|^2 for given functions f_i, ``centre (..., d)``; no conjugates."""

    f: Functions
    centre: Array
    bend: Scalar

    @property
    def n(self) -> int:
        """Number of clients, or of functions."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of a point."""
        return self.f.d

    @property
    def mu(self) -> Array:
        """Least curvature of each function, shape ``(n,)``; negative of one that is not convex."""
        return self.f.mu - self.bend

    @property
    def L(self) -> Array:
        """Lipschitz constant of each gradient, shape ``(n,)``."""
        return np.maximum(self.f.L - self.bend, -self.mu)

    def value(self, x: Array) -> Array:
        """f_i(x_i): ``(..., n, d) -> (..., n)``."""
        return self.f.value(x) - self.bend * ((x - self.centre[..., None, :]) ** 2).sum(axis=-1) / 2

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i): ``(..., n, d) -> (..., n, d)``."""
        return self.f.gradient(x) - self.bend * (x - self.centre[..., None, :])

    def resolvent(self, shift: Scalar, target: Array) -> Array:
        """The roots y_i of grad f_i(y_i) + shift y_i = target_i, ``(..., n, d) -> (..., n, d)``; ``ValueError`` unless
        shift > -mu_i."""
        of: Any = self.f
        if min(np.ravel(shift + self.mu)) <= 0:
            raise ValueError("a proximal point is known where the objective is strongly convex")
        return of.resolvent(shift - self.bend, target - self.bend * self.centre[..., None, :])


def less_parabola(f: Functions, x: Array, bend: Scalar) -> Functions:
    """The functions, each less (bend/2)|. - x|^2."""
    if not bend:
        return f
    found: Any = LessParabola(f, x, bend)
    return found


def is_quadratic(f: Functions) -> bool:
    """Return True if every gradient, or operator, is an affine map."""
    affine: bool | None = getattr(f, "is_affine", None)
    if affine is not None:
        return affine
    return not isinstance(f.f if isinstance(f, LessParabola) else f, PiecewiseQuadratic | LessHuber | Kinked)
