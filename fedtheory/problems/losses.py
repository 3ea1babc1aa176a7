"""Losses phi_i(t) of a prediction t = x_i'w with a label y_i, their conjugates, and steps along one dual variable.

The logistic loss is log(1 + exp(-y t)). Federated Optimization prints it with a minus in front (Section 1.1), which is
concave: the convex one is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar

# Bisections and Newton steps for a root of an increasing function of one variable; a dozen are usual.
_NEWTON_STEPS = 100

# Sums of dual steps leave the box [0, 1] by rounding: so far it counts as inside.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Loss:
    """phi(t), convex and (1/``gamma``)-smooth in t; every function broadcasts over predictions and labels.

    ``value(t, y)``, ``slope(t, y)``, ``curvature(t, y)``: phi and its derivatives. ``conjugate(alpha, y)``:
    phi^*(-alpha). ``ascent(alpha, t, c, y)``: the maximiser delta of -phi^*(-alpha - delta) - t delta - c delta^2 / 2.
    """

    name: str
    gamma: Scalar
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]
    ascent: Callable[[Array, Array, Scalar, Array], Array]


def expit(t: Array) -> Array:
    """1 / (1 + exp(-t)), within two units of the last place, 0 where exp(-t) overflows."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-t)))


def _logistic_conjugate(alpha: Array, y: Array) -> Array:
    """b log b + (1 - b) log(1 - b) for b = alpha y in [0, 1], infinite elsewhere."""
    b = alpha * y
    inside = (b >= -_ROUNDING) & (b <= 1 + _ROUNDING)
    kept = np.clip(b, 0, 1)
    return np.where(inside, _entropy(kept) + _entropy(1 - kept), np.inf)


def _entropy(b: Array) -> Array:
    """b log b, 0 at b = 0."""
    return b * np.log(np.where(b > 0, b, 1))


def _logistic_ascent(alpha: Array, t: Array, c: object, y: Array) -> Array:
    """The new b = alpha y solves logit(b) + y t + c (b - old b) = 0: one increasing function of z = logit(b)."""
    b, pull = alpha * y, y * t
    low, high = -pull - c * (1 - b), -pull + c * b
    z, before = np.clip(-pull, low, high), high - low
    for _ in range(_NEWTON_STEPS):
        p = expit(z)
        residual = z + pull + c * (p - b)
        low, high = np.where(residual < 0, z, low), np.where(residual > 0, z, high)
        step = -residual / (1 + c * p * (1 - p))
        moved = z + step
        # A step outside the bracket, or not half as long as the last, is replaced by a bisection: Newton's may cycle.
        moved = np.where((moved < low) | (moved > high) | (2 * abs(step) > before), (low + high) / 2, moved)
        before = abs(moved - z)
        # Steps shrink quadratically, but for bisections: the next would be below rounding.
        done = np.all(before <= 1e-13 * (1 + abs(z)))
        z = moved
        if done:
            break
    return y * (expit(z) - b)


def squared(gamma: Scalar) -> Loss:
    """(t - y)^2/(2 gamma), for a gamma > 0 of the type of the data, or 1; exact on fractions."""
    bend = 1 if gamma == 1 else 1 / gamma
    return Loss(
        "squared",
        gamma,
        value=lambda t, y: bend * (t - y) ** 2 / 2,
        slope=lambda t, y: bend * (t - y),
        curvature=lambda t, y: 0 * t + bend,
        conjugate=lambda alpha, y: gamma * alpha**2 / 2 - alpha * y,
        ascent=lambda alpha, t, c, y: (y - t - gamma * alpha) / (gamma + c),
    )


SQUARED = squared(1)

LOGISTIC = Loss(
    "logistic",
    4,
    value=lambda t, y: np.logaddexp(0, -y * t),
    slope=lambda t, y: -y * expit(-y * t),
    curvature=lambda t, y: expit(t) * expit(-t),
    conjugate=_logistic_conjugate,
    ascent=_logistic_ascent,
)
