"""The smallest defect that a test of a given size is sure to catch: proved bounds on its power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fedtheory.numbers.rational import Array
from verify.statistics.e_process import BETS, LEAST_SPAN, Assumed

# The powers s of :func:`smallest_defect`; Catoni's capital has only the first.
_POWERS = (1, 2, 4, 8, 16)


def smallest_defect(target: Array, assumed: Assumed, level: float, size: int) -> Array:
    r"""The least D ``(S,)`` so that E X = target + D is found above the target with probability at least 1 - level/2.

    A proved bound, for independent samples: the capital K after ``size`` samples stays below 2/level with probability
    at most (2/level)^s E[K^-s], and 1/K is at most the number of bets times the product of 1/factor for any one bet.
    *Betting*: (1 + lambda (y - 1))^-s is convex with negative third derivative on y >= 0, so under a bound on the
    variance its mean is largest for two values, of which one is y = 0 (the parabola that meets it at 0 and touches it
    at the other value lies above it), or without that bound for the two ends of the range. *Catoni*, s = 1:
    exp(-phi(u)) <= 1 - u + u^2/2. Infinite where no D will do, or neither ``high`` nor ``variance`` is known.
    """

    def caught(D: Array) -> Array:
        return _log_miss(target, target + D, assumed, level, size) <= math.log(level / 2)

    return _least(caught, target, assumed)


def acceptable(target: Array, assumed: Assumed, level: float, size: int) -> Array:
    """The least D so that E X >= target + D is rejected with probability at least 1 - level/2 under E X = target."""

    def caught(D: Array) -> Array:
        return _log_miss(-(target + D), -target, assumed.mirrored, level, size) <= math.log(level / 2)

    return _least(caught, target, assumed)


def _least(caught: Callable[[Array], Array], target: Array, assumed: Assumed) -> Array:
    """The least positive D with ``caught(D)``, to 1e-6 of its size; infinite if there is none."""
    low, high, variance = assumed
    widths = [np.where(np.isfinite(w), abs(w), 0.0) for w in (high - low, target - low, high - target, variance**0.5)]
    scale = np.maximum(np.max(widths, axis=0), LEAST_SPAN)
    small, large = np.full_like(scale, -30.0), np.full_like(scale, 30.0)
    for _ in range(40):
        middle = (small + large) / 2
        enough = caught(scale * np.exp(middle))
        small, large = np.where(enough, small, middle), np.where(enough, middle, large)
    return np.where(caught(scale * np.exp(large)), scale * np.exp(large), np.inf)


def _log_miss(null: Array, mean: Array, assumed: Assumed, level: float, size: int) -> Array:
    """Bound on the log-probability ``(S,)`` that E X <= ``null`` is not rejected while E X = ``mean`` > null."""
    low, high, variance = assumed
    bets = BETS[:, None]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        span = np.maximum(null - low, LEAST_SPAN)
        y = (mean - low) / span
        top = (high - low) / span
        value = np.minimum(np.where(np.isfinite(variance), y + (variance / span / (mean - low)), np.inf), top)
        at_zero = np.where(value > 0, np.maximum(1 - y / value, 0.0), 0.0)
        # E[K^-s] for a few s: the larger ones serve few samples of small variance.
        rates = np.stack([(at_zero / (1 - bets) ** s + (1 - at_zero) / (1 + bets * (value - 1)) ** s) for s in _POWERS])
        gap = (mean - null) / np.sqrt(np.maximum(variance, LEAST_SPAN))
        u = np.minimum(bets * gap, 1.0)  # a larger excess is caught no less
        catoni = (1 + bets**2 / 2) * (1 - u + (bets**2 + u**2) / 2)
        rates = np.where(np.isfinite(low), rates, np.inf)
        rates[0] = np.where(np.isfinite(low), rates[0], np.where(np.isfinite(variance), catoni, np.inf))
        log = np.log(rates)
    rate = np.where(np.isnan(log), np.inf, log).min(axis=1)
    cost = math.log(len(BETS)) + math.log(2 / level)
    bound = (size * rate + cost * np.array(_POWERS)[:, None]).min(axis=0)
    return np.where(null < low, -np.inf, bound)  # an impossible mean
