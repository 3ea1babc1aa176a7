"""Minimisers of regularised losses of rows, by Newton's method on all clients at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.optimum import newton

# Newton steps before a regularised loss is approached through stronger regularisation, and after.
_DIRECT_STEPS = 25


_FINAL_STEPS = 200


class Regularised(Protocol):
    """n losses of bounded gradient, each of a client's rows ``A (n, m, p)``, plus (mu_i/2) |.|^2; a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def A(self) -> Array:
        """The rows of each client: ``(n, m, p)``."""

    @property
    def mu(self) -> Array:
        """The mu_i: ``(n,)``."""

    @property
    def L(self) -> Array:
        """Constants of smoothness: ``(n,)``."""

    def gradient(self, x: Array) -> Array:
        """grad f_i(x_i), in the shape of ``x (..., n, d)``."""

    def hessian(self, x: Array) -> Array:
        """The Hessians of the f_i at ``x (..., n, d)``: ``(..., n, d, d)``."""


def regularised_minimiser(f: Regularised, y: Array, loss: str) -> Array:
    """argmin_w f_i(w) - <w, y_i>, ``(..., n, d) -> (..., n, d)``, by Newton's method on all clients.

    |grad f_i(w) - y_i| <= 1e-12 max(1, |y_i|), or as small as rounding allows. Raises ``ValueError``, which names the
    ``loss``, when y is so large against mu_i that Newton's method does not converge.
    """
    # The gradient of the loss is bounded, so y / mu leaves a bounded residual however large y is; when y is small the
    # quadratic model at 0 is the better start.
    origin = np.zeros(y.shape[-2:])
    model = np.linalg.solve(f.hessian(origin), (y - f.gradient(origin))[..., None])[..., 0]
    w, done = _newton_to(f, y, _nearer(f, y, model, y / f.mu[:, None]), _DIRECT_STEPS)
    hard = ~done.all(axis=-1)
    if not hard.any():
        return w
    y, start = y[hard], w[hard]
    if (2 * f.mu < f.L).any():
        # Far out the loss is nearly piecewise linear, and Newton's steps jump from kink to kink. More regularisation
        # smooths them: start from the solution w for 10 mu, or 10 w where the loss is linear.
        eased = regularised_minimiser(replace(f, mu=10 * f.mu), y, loss)
        start = _nearer(f, y, eased, 10 * eased)
    w[hard], done = _newton_to(f, y, start, _FINAL_STEPS)
    if not done.all():
        raise ValueError(f"no conjugate of the {loss} loss found, the least mu is {np.min(f.mu):.1e}")
    return w


def _newton_to(f: Regularised, y: Array, start: Array, iterations: int) -> tuple[Array, Array]:
    """The points whose gradients are ``y (..., n, d)``, and whether each was found."""
    # Summing the rows costs this much rounding even when y and w are small.
    rounding = 10 * np.finfo(np.float64).eps * np.linalg.norm(f.A, axis=-1).max(axis=-1)
    tolerance = np.maximum(1e-12 * np.maximum(1, np.linalg.norm(y, axis=-1)), rounding)
    return newton(lambda w: f.gradient(w) - y, f.hessian, start, tolerance, iterations)


def _nearer(f: Regularised, y: Array, one: Array, other: Array) -> Array:
    """Client by client, the start whose gradient is nearer to y."""
    error, alternative = (np.linalg.norm(f.gradient(w) - y, axis=-1) for w in (one, other))
    return np.where((error <= alternative)[..., None], one, other)
