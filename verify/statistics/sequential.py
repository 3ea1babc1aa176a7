"""Anytime-valid tests of means, and the error level of a whole audit, shared out over its tests (alpha spending).

Samples arrive in batches; a test may stop after any batch, and its level bounds the chance of *ever* being wrong. The
tests are the capital processes of :mod:`verify.statistics.e_process`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.statistics.e_process import (
    BETS,
    Assumed,
    acceptable,
    average,
    check_level,
    growth,
    smallest_defect,
    testable,
)


class Ledger:
    """The error level of a whole audit, shared out by name before anything is tested.

    ``total``: the chance of any false alarm in the audit. ``names``: what is tested; each has the share total/len, or
    total * weight / sum of weights where ``names`` maps them to weights. Shares depend on the names alone, so any order
    and any number of parallel workers spend alike; each worker has a copy, and ``merge`` adds up what they spent.
    Amounts are fractions, so that nothing is lost to rounding. ``ValueError`` for a bad total, name or weight, and for
    spending more than a name has left.
    """

    def __init__(self, names: Iterable[str] | Mapping[str, Any], total: Any = Fraction(1, 10**6)) -> None:
        check_level(total)
        listed = list(names)
        weights = {name: Fraction(names[name]) if isinstance(names, Mapping) else Fraction(1) for name in listed}
        if not weights or len(weights) < len(listed) or any(w <= 0 for w in weights.values()):
            raise ValueError("a ledger needs names, each once, with positive weights")
        self.total = Fraction(total)
        self._shares = {name: self.total * w / sum(weights.values()) for name, w in weights.items()}
        self._spent = dict.fromkeys(weights, Fraction(0))

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def has(self, name: str) -> bool:
        """Return True if ``name`` has a share."""
        return name in self._shares

    def share(self, name: str) -> Fraction:
        """Return the whole share of ``name``."""
        if name not in self._shares:
            raise ValueError(f"the ledger has no share for {name!r}")
        return self._shares[name]

    def left(self, name: str) -> Fraction:
        """Return the unspent share of ``name``."""
        return self.share(name) - self._spent[name]

    def spend(self, name: str, level: Any = None) -> float:
        """Take ``level``, by default all that is left, from the share of ``name``; the level to test at."""
        amount = self.left(name) if level is None else Fraction(level)
        if not 0 < amount <= self.left(name):
            wanted = "all that is left" if level is None else f"{float(amount):g}"
            raise ValueError(f"{name!r} cannot spend {wanted}: {float(self.left(name)):g} of its share is left")
        self._spent[name] += amount
        return _rounded_down(amount)

    def split(self, name: str, k: int) -> float:
        """Take share/(k (k + 1)), k = 1, 2, ...: for tests whose number is not known beforehand. Each k once."""
        if not isinstance(k, int) or k < 1:
            raise ValueError(f"the parts of a share are numbered 1, 2, ..., got {k}")
        return self.spend(name, self.share(name) / (k * (k + 1)))

    @property
    def spent(self) -> Fraction:
        """The level spent in all, at most ``total``."""
        return sum(self._spent.values(), Fraction(0))


def _rounded_down(amount: Fraction) -> float:
    value = float(amount)
    return value if Fraction(value) <= amount else math.nextafter(value, 0.0)


#: Relative rounding errors of a statistic in float64.
ROUNDING = 1e-9
#: ``source(n)`` gives the next n samples of S statistics, ``(n, S)``.
Source = Callable[[int], Array]


class Ruling(StrEnum):
    """The decision of a test of E X <= m or E X = m."""

    ABOVE = "above"
    BELOW = "below"
    WITHIN = "not off by more than the defect"
    UNDECIDED = "undecided"
    OUTSIDE = "a sample outside the stated range"


@dataclass(frozen=True)
class MeanTest:
    """The result of one test of E X <= ``target``, or E X = ``target``, as ``relation`` says.

    ``samples`` used of at most ``size``; ``mean`` of those used. ``defect``: what WITHIN excludes.
    ``smallest_defect``: an excess of E X over the target (for "==": a difference) of this size or more is caught within
    ``size`` samples with probability at least 1 - ``level``/2 by a proved bound; infinite where none is proved (neither
    ``high`` nor ``variance`` is assumed) or ``size`` is too small for any; 0 where the range leaves no room for one.
    """

    name: str
    relation: str
    target: float
    decision: Ruling
    samples: int
    size: int
    mean: float
    level: float
    defect: float
    smallest_defect: float
    assumed: Assumed

    @property
    def refuted(self) -> bool:
        """True if the statement is refuted at the given level, provided that the assumptions on the samples hold.

        A sample outside the stated range refutes the range.
        """
        return self.decision in (Ruling.ABOVE, Ruling.BELOW, Ruling.OUTSIDE)


class Race(NamedTuple):
    """Decisions ``(S,)``, and after how many samples each was taken ``(S,)``."""

    decisions: Array
    samples: Array


class _Null(NamedTuple):
    """E[sign X] <= mean, for each statistic."""

    sign: int
    mean: Array


class Prepared(NamedTuple):
    """S tests ready to run: all of its arrays have shape ``(S,)``. Made by :func:`prepare`."""

    equal: Array
    target: Array
    assumed: Assumed
    level: float
    size: int
    defect: Array
    smallest_defect: Array
    rounding: Array


def prepare(
    target: Any,
    relation: Any,
    assumed: Assumed,
    level: float,
    size: int,
    defect: Any = None,
    rounding: Any = 0.0,
) -> Prepared:
    """Tests of E X ``relation`` ``target`` with at most ``size`` samples; ``relation``, ``target``: one, or one a test.

    ``level``: the chance that one test is ever wrong, half for refuting a true statement, half for accepting one off by
    more than ``defect``; several tests at once each have this level. ``defect``: by default the least that is decided
    one way or the other with probability 1 - ``level``. ``rounding``: errors of the samples that are no violation.
    ``ValueError`` for a relation other than "<=" and "==", a level outside (0, 1), or assumptions that allow no test.
    """
    if not np.isin(relation, ("<=", "==")).all():
        raise ValueError(f"the relation must be '<=' or '==', got {relation!r}")
    check_level(level)
    if not isinstance(size, int | np.integer) or size < 1:
        raise ValueError(f"the number of samples must be a positive integer, got {size}")
    given = (target, *assumed, rounding, 0.0 if defect is None else defect, np.asarray(relation) == "==")
    arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, dtype=float)) for a in given))
    m, low, high, variance, tolerance, wanted, equal = (a.copy() for a in arrays)
    bounds, both = Assumed(low, high, variance), equal > 0
    if np.isnan(arrays).any() or not np.isfinite(m).all() or (low > high).any():
        raise ValueError("a test needs finite targets and a range with low <= high")
    if (variance < 0).any() or (tolerance < 0).any() or (wanted < 0).any():
        raise ValueError("a variance, a defect and a rounding error must not be negative")
    if not (testable(bounds) & (testable(bounds.mirrored) | ~both)).all():
        raise ValueError("a mean can only be tested where the range is bounded on that side or the variance is bounded")
    # Thousands of equal tests have one smallest defect.
    different, which = np.unique([m, low, high, variance, tolerance, equal], axis=1, return_inverse=True)
    smallest, decided = (found[which.ravel()] for found in _defects(different, float(level), size))
    return Prepared(
        both, m, bounds, float(level), int(size), decided if defect is None else wanted, smallest, tolerance
    )


def _defects(tests: Array, level: float, size: int) -> tuple[Array, Array]:
    """The smallest defect found, and the least that is then decided, of each column (m, low, high, variance, ...)."""
    m, low, high, variance, rounding, equal = tests
    bounds = Assumed(low, high, variance)

    def side(m: Array, bounds: Assumed) -> tuple[Array, Array]:
        # The range leaves the mean this much room; where it is only what rounding needs, no excess is possible.
        room = np.maximum(bounds.high - m, 0.0)
        tight = room <= 3 * rounding
        smallest = np.where(tight, 0.0, rounding + smallest_defect(m + rounding, bounds, level, size))
        decided = np.maximum(np.minimum(smallest, room), acceptable(m, bounds, level, size))
        return smallest, np.where(tight, 4 * rounding, decided)

    above, below = side(m, bounds), side(-m, bounds.mirrored)
    smallest, decided = (np.maximum(a, np.where(equal, b, 0.0)) for a, b in zip(above, below, strict=True))
    return smallest, decided


def run(
    test: Prepared, source: Source, together: bool = True, first: int = 64, largest: int = 4096
) -> tuple[MeanTest, ...]:
    """Run the tests on one source of samples; the outcomes are named by their number.

    ``together``: stop at the first refutation, as when all are parts of one claim; the others then stay undecided.
    Batches double from ``first`` to ``largest`` samples. Raise ``ValueError`` if the source gives another shape.
    """
    kept: list[Array] = []

    def keeping(n: int) -> Array:
        kept.append(source(n))
        return kept[-1]

    decisions, samples = race(test, keeping, together, first, largest)
    x = np.concatenate(kept)
    S = len(test.target)
    mean = np.empty(S)
    for used in np.unique(samples):
        mean[samples == used] = x[:used, samples == used].mean(axis=0)
    return tuple(
        MeanTest(
            str(i),
            "==" if test.equal[i] else "<=",
            float(test.target[i]),
            decisions[i],
            int(samples[i]),
            test.size,
            float(mean[i]),
            test.level,
            float(test.defect[i]),
            float(test.smallest_defect[i]),
            Assumed(*(float(v[i]) for v in test.assumed)),
        )
        for i in range(S)
    )


def race(test: Prepared, source: Source, together: bool = False, first: int = 64, largest: int = 4096) -> Race:
    """Return each test's decision and its number of samples: the part that thousands of cases repeat.

    A test that excludes its defect goes on while others are undecided, and may still refute; a refutation stays.
    """
    S = len(test.target)
    decisions = _undecided(S)
    samples = np.zeros(S, dtype=int)
    nulls = _nulls(test)
    capital = np.zeros((len(nulls), len(BETS), S))
    crossed = np.zeros((len(nulls), S), dtype=bool)
    refuted = np.zeros(S, dtype=bool)
    used, batch = 0, first
    while used < test.size and not (refuted | (decisions == Ruling.WITHIN)).all() and not (together and refuted.any()):
        n = min(batch, test.size - used)
        x = np.asarray(source(n), dtype=float)
        if x.shape != (n, S):
            raise ValueError(f"the source must give samples of shape {(n, S)}, got {x.shape}")
        used, batch = used + n, min(2 * batch, largest)
        samples[~refuted] = used
        low, high, _ = test.assumed
        out = ~refuted & ~(np.isfinite(x) & (x >= low) & (x <= high)).all(axis=0)
        decisions[out] = Ruling.OUTSIDE
        going = ~refuted & ~out
        columns = slice(None) if going.all() else np.flatnonzero(going)
        for i, (sign, mean) in enumerate(nulls):
            if np.isfinite(mean).any():
                assumed = (test.assumed if sign > 0 else test.assumed.mirrored).at(columns)
                capital[i][:, columns] += growth(sign * x[:, columns], mean[columns], assumed)
                crossed[i, columns] |= average(capital[i][:, columns]) >= math.log(2 / test.level)
        decisions[columns] = _decided(crossed[:, columns], test.equal[columns])
        refuted = out | refuted | (decisions == Ruling.ABOVE) | (decisions == Ruling.BELOW)
    return Race(decisions, samples)


def _nulls(test: Prepared) -> list[_Null]:
    """Return the hypotheses against which the capitals bet: the claim, and the claim plus a defect; for equalities also
    their mirror images.
    """
    m, defect, rounding = test.target, test.defect, test.rounding
    below = np.where(test.equal, rounding - m, np.inf)  # nothing rejects an infinite bound
    nulls = [_Null(1, m + rounding), _Null(-1, -(m + defect)), _Null(-1, below), _Null(1, m - defect)]
    return nulls if test.equal.any() else nulls[:2]


def _undecided(S: int) -> Array:
    decisions = np.empty(S, dtype=object)
    decisions.fill(Ruling.UNDECIDED)  # np.full would make plain strings of them
    return decisions


def _decided(crossed: Array, equal: Array) -> Array:
    decisions = _undecided(crossed.shape[1])
    decisions[crossed[1] & (~equal | crossed[-1])] = Ruling.WITHIN
    if len(crossed) > 2:
        decisions[crossed[2]] = Ruling.BELOW
    decisions[crossed[0]] = Ruling.ABOVE
    return decisions
