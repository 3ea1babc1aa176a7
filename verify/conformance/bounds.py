r"""Tests of a mean from its samples' sums alone, for thousands of means at once, each with a stated power.

Two bounds for n independent samples of one distribution, n fixed beforehand. *Chernoff*, samples in [0, 1]:
P(n kl(mean of samples, p) >= L on one side) <= exp(-L) (Hoeffding 1963, Theorem 1). The samples of a sequence need only
have conditional mean p. *Empirical Bernstein*, samples in an interval of length W: with probability at least 1 - 2
exp(-L) the mean of the samples is off by less than sqrt(2 V L/n) + 7 W L/(3 (n - 1)), V their variance (Maurer and
Pontil, COLT 2009, Theorem 4).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

import numpy as np

from fedtheory.numbers.rational import Array


def divergence(q: Array, p: Array) -> Array:
    """kl(q, p) of two coins, for probabilities in [0, 1]; infinite where p excludes q."""
    with np.errstate(divide="ignore", invalid="ignore"):
        heads = np.where(q > 0, q * np.log(q / p), 0.0)
        tails = np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - p)), 0.0)
    return np.maximum(np.nan_to_num(heads + tails, nan=np.inf), 0.0)


def coin_refuted(mean: Array, p: Array, n: int, level: float) -> Array:
    """Return where means of n samples in [0, 1] refute the expectations p, each at this level (two-sided)."""
    return n * divergence(np.clip(mean, 0.0, 1.0), p) >= math.log(2 / level)


@cache
def coin_defect(p: float, n: int, level: float) -> float:
    """The least D such that a coin of probability p + D (or p - D) is refuted with probability at least 1 - level.

    Infinite where n samples are too few for any.
    """
    need = math.log(2 / level) / n

    def found(D: float, sign: int) -> bool:
        q = p + sign * D
        # The mean of the samples stays on this side of a point that refutes p with probability 1 - level.
        between = np.linspace(p, q, 200)
        return bool(((divergence(between, np.array(p)) >= need) & (divergence(between, np.array(q)) >= need)).any())

    def least(sign: int) -> float:
        sizes = np.geomspace(1e-6, 1.0, 120)
        sizes = sizes[sizes <= (1 - p if sign > 0 else p)]
        first = bisect_left(sizes, True, key=lambda D: found(float(D), sign))
        return float(sizes[first]) if first < len(sizes) else math.inf

    return min(least(1), least(-1)) if 0 < p < 1 else 0.0


def bernstein_radius(variance: Array, width: Array, n: int, level: float) -> Array:
    """The largest deviation of the mean of n samples with this sample variance, each at this level."""
    L = math.log(4 / level)
    return np.sqrt(2 * variance * L / n) + 7 * width * L / (3 * (n - 1))


def bernstein_defect(variance: float, width: float, n: int, level: float) -> float:
    """The least error of a mean that is found with probability at least 1 - level, for samples of this variance.

    Twice the radius, with what the sample standard deviation may exceed the true one by (Theorem 10 there).
    """
    L = math.log(4 / level)
    deviation = math.sqrt(max(variance, 0.0)) + width * math.sqrt(2 * L / (n - 1))
    return float(2 * bernstein_radius(np.array(deviation**2), np.array(width), n, level))
