"""Test whether the mean of measured runs exceeds its bound; see :mod:`verify.statistics.e_process`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from verify.statistics.e_process import Assumed, check_level, log_capital, smallest_defect

# Rounds of a measured run at which it is tested.
_ROUNDS = 16


@dataclass(frozen=True)
class Exceedance:
    """The test of whether the mean of measured runs exceeds its bound.

    ``e_value``: the capital against "all means are at most the bound" after all ``seeds``, averaged over the ``rounds``
    tested; under that hypothesis its mean is at most 1. ``confidence``: 1 - 1/(the largest capital on the way), at
    least 0: with which the claim is refuted, however many seeds were meant to be run. ``mean_ratio``: the largest mean
    over the seeds, divided by the bound, among those rounds, and ``worst`` is its round. ``smallest_defect``: a mean of
    1 + that times the bound, at one of the rounds, is refuted at ``level`` by as many independent seeds with
    probability 1 - ``level``, if the variance of the ratio is at most ``variance``, the largest observed: a *stated
    alternative*, since nothing bounds the variance.
    """

    e_value: float
    confidence: float
    refuted: bool
    seeds: int
    rounds: tuple[int, ...]
    worst: int
    mean_ratio: float
    smallest_defect: float
    variance: float
    level: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        caught = f"{self.smallest_defect:.2g} of the bound" if math.isfinite(self.smallest_defect) else "no excess"
        verb = "exceeds" if self.refuted else "is not shown to exceed"
        return (
            f"the mean {verb} the bound at level {self.level:g} (e-value {self.e_value:.3g}); with {self.seeds} seeds "
            f"an excess of {caught} would be found, were the variance of the ratio {self.variance:.2g}"
        )


def exceedance(measured: Array, bound: Array, level: float) -> Exceedance:
    """Tests E[measured] <= ``bound (rounds+1,)`` with the independent seeds of ``measured (rounds+1, seeds)``.

    The ratios are nonnegative and may be heavy-tailed: nothing else is assumed. At most sixteen rounds are tested,
    evenly spaced up to the last, without the first, where bounds are equalities. ``ValueError`` for arrays that do not
    fit, fewer than two rounds or seeds, negative or infinite measurements, or bounds that are not positive.
    """
    check_level(level)
    measured, bound = to_float(measured), to_float(bound)
    if measured.ndim != 2 or bound.shape != measured.shape[:1] or min(measured.shape) < 2:
        raise ValueError(f"measurements (rounds+1, seeds) and bounds (rounds+1,), not {measured.shape}, {bound.shape}")
    if not (np.isfinite(measured).all() and (measured >= 0).all()):
        raise ValueError("the measurements must be finite and nonnegative")
    rounds = np.unique(np.linspace(1, len(bound) - 1, _ROUNDS).astype(int))
    if not (np.isfinite(bound).all() and (bound[rounds] > 0).all()):
        raise ValueError("the bounds must be finite and positive")
    ratio = (measured[rounds] / bound[rounds, None]).T
    seeds, R = ratio.shape
    checked = np.unique(np.geomspace(1, seeds, 64).astype(int))
    capital = np.array([np.logaddexp.reduce(log_capital(ratio[:s], np.ones(R), Assumed(0.0))) for s in checked])
    capital -= math.log(R)
    most = max(float(capital.max()), 0.0)
    variance = float(ratio.var(axis=0, ddof=1).max())
    worst = int(ratio.mean(axis=0).argmax())
    # Reached by one round alone, with the others at 0: R times as much capital is needed.
    share = 2 * float(level) / R
    defect = smallest_defect(np.ones(1), Assumed(*np.array([[0.0], [np.inf], [variance]])), min(share, 1.0), seeds)
    return Exceedance(
        math.exp(min(float(capital[-1]), 700.0)),
        -math.expm1(-most),
        most >= -math.log(level),
        seeds,
        tuple(map(int, rounds)),
        int(rounds[worst]),
        float(ratio.mean(axis=0)[worst]),
        float(defect[0]),
        variance,
        float(level),
    )
