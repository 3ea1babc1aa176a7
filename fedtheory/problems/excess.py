"""By how much functions exceed their tangents."""

from __future__ import annotations

from fedtheory.numbers.rational import Array, apply
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import Quadratics


def bregman(f: Functions, x: Array, x_star: Array, slope: Array) -> Array:
    """f_i(x_i) - f_i(x*) - <slope_i, x_i - x*>, ``x (..., n, d) -> (..., n)``; for quadratics without cancellation.

    ``slope (..., n, d)``: the gradients at ``x_star (..., d)``.
    """
    at = x_star[..., None, :]
    z = x - at
    if isinstance(f, Quadratics):
        # The same where the slopes are others.
        return (z * (apply(f.H, z) / 2 + f.gradient(at) - slope)).sum(axis=-1)
    return f.value(x) - f.value(at) - (slope * z).sum(axis=-1)
