"""Capital processes against the mean of samples.

A capital process is a product of factors whose conditional mean is at most 1 under the null hypothesis. It is a
nonnegative supermartingale of initial value 1, so it ever reaches 1/alpha with probability at most alpha (Ville 1939).
For the null E X <= m there are two kinds of factor.

*Betting*, where X >= a: 1 + lambda ((X - a)/(m - a) - 1) with lambda in [0, 1). It is the capital process of
Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (JRSS B 86, 2024), Section 4; it
needs no upper bound, so it also tests nonnegative heavy-tailed samples of any variance.

*Catoni*, where the variance is at most s^2 and no bound is known: exp(phi(lambda (X - m)))/(1 + lambda^2 s^2/2) with
phi(u) = sign(u) log(1 + |u| + u^2/2), from Wang and Ramdas, "Catoni-style confidence sequences for heavy-tailed mean
estimation" (SPA 163, 2023). As exp(phi(u)) <= 1 + u + u^2/2, its mean under E X = m is at most 1; phi increases, so it
is too under E X < m.

The capital is the average over a fixed grid of lambda. Fixed bets adapt a little less than predictable ones, but both
kinds of factor then decrease in m, and the power has a proved bound. Samples need one conditional mean (and variance
bound), not independence, for validity; the bound on the power takes them independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array

#: lambda for betting, and lambda s for Catoni. The smallest serves 10^6 samples, the largest those far from the null.
BETS = 0.98 * 2.0 ** -np.arange(12)

# Bounds on (X - a)/(m - a), which only lower the capital, and the least m - a: sixteen factors then fit a float.
_LARGEST_RATIO = 1e15
LEAST_SPAN = 1e-290

# Numbers that stay near the processor.
_NEAR = 2**15


class Assumed(NamedTuple):
    """The assumptions on the samples: ``low <= X <= high``, Var X <= ``variance``; scalars, or one number per
    statistic.

    A finite endpoint is used by the tests, and then the variance only to determine how small a defect they would catch.
    """

    low: Any = -math.inf
    high: Any = math.inf
    variance: Any = math.inf

    @property
    def mirrored(self) -> Assumed:
        """The corresponding assumptions on -X."""
        return Assumed(-np.asarray(self.high), -np.asarray(self.low), self.variance)

    def at(self, columns: Array | slice) -> Assumed:
        """Return the assumptions on some of the statistics."""
        return Assumed(*(np.asarray(v)[columns] for v in self))


def check_level(level: Any) -> None:
    """Raise ``ValueError`` unless 0 < level < 1."""
    if not isinstance(level, int | float | Fraction) or not 0 < level < 1:
        raise ValueError(f"an error level must be strictly between 0 and 1, got {level}")


def testable(assumed: Assumed) -> Array:
    """Return where E X <= m can be rejected."""
    return np.isfinite(assumed.low) | np.isfinite(assumed.variance)


def growth(x: Array, m: Array, assumed: Assumed) -> Array:
    """Logarithm of the product over samples ``x (n, S)`` of the factors against E X <= ``m (S,)``: ``(bets, S)``."""
    low, _, variance = assumed
    out = np.zeros((len(BETS), x.shape[1]))
    betting = np.isfinite(low) & np.isfinite(m)
    catoni = ~betting & np.isfinite(variance) & np.isfinite(m)
    if betting.any():
        a, at_most = low[betting], m[betting]
        with np.errstate(over="ignore"):
            ratio = np.minimum((x[:, betting] - a) / np.maximum(at_most - a, LEAST_SPAN), _LARGEST_RATIO)
        # A mean below the least value is impossible, and one equal to it leaves no other value.
        ratio[:, at_most < a] = _LARGEST_RATIO
        # One logarithm for sixteen factors, and so many samples at a time as stay near the processor.
        rows = 16 * max(1, _NEAR // (16 * ratio.shape[1]))
        for part in np.split(ratio, range(rows, len(ratio), rows)):
            whole = len(part) - len(part) % 16
            for j, bet in enumerate(BETS):
                factors = bet * part + (1 - bet)
                blocks = factors[:whole].reshape(16, -1, part.shape[1]).prod(axis=0)
                out[j, betting] += np.log(blocks).sum(axis=0) + np.log(factors[whole:].prod(axis=0))
    if catoni.any():
        scale = np.sqrt(np.maximum(variance[catoni], LEAST_SPAN))
        u = np.clip((x[:, catoni] - m[catoni]) / scale, -1e150, 1e150)
        for j, bet in enumerate(BETS):
            size = bet * abs(u)
            phi = np.copysign(np.log1p(size + size**2 / 2), u)
            out[j, catoni] = phi.sum(axis=0) - len(x) * math.log1p(bet**2 / 2)
    return out


def average(logs: Array) -> Array:
    """Logarithm of the average capital over the bets, the axis before the last."""
    most = logs.max(axis=-2, keepdims=True)
    return np.log(np.exp(logs - most).mean(axis=-2)) + most[..., 0, :]


def log_capital(x: Array, m: Array, assumed: Assumed) -> Array:
    """Logarithm of the capital ``(S,)`` against E X <= ``m (S,)`` after the samples ``x (n, S)``: of an e-value."""
    columns = [np.broadcast_to(np.asarray(v, dtype=float), x.shape[1:]) for v in (m, *assumed)]
    return average(growth(x, columns[0], Assumed(*columns[1:])))


# The smallest defect that a test of a given size is sure to catch: proved bounds on its power.

# The powers s of :func:`smallest_defect`; Catoni's capital has only the first.
_POWERS = (1, 2, 4, 8, 16)


def smallest_defect(target: Array, assumed: Assumed, level: float, size: int) -> Array:
    r"""The least D ``(S,)`` so that E X = target + D is found above the target with probability at least 1 - level/2.

    A proved bound, for independent samples: the capital K after ``size`` samples stays below 2/level with probability
    at most (2/level)^s E[K^-s], and 1/K is at most the number of bets times the product of 1/factor for any one bet.
    *Betting*: (1 + lambda (y - 1))^-s is convex with negative third derivative on y >= 0, so under a bound on the
    variance its mean is largest for two values, one of them y = 0 (the parabola that meets it at 0 and touches it
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
