"""Decide a statement from whether it holds for each seed: seen, not seen, or undecided.

A statement is seen where the hypothesis that it holds of at most half of all seeds is rejected, and not seen where the
one that it holds of at least half is, each at half of :data:`LEVEL`, by a capital process: more seeds may be added to a
run at any time. Two thirds of the capital are staked whole on every seed, that it agrees: they double with each, and
are lost with the first that does not. The rest is bet as :mod:`verify.statistics.e_process` does, for seeds that
disagree at times. So six that agree decide, as (2/3) 2^6 > 2/0.05; fewer cannot by any test at this level, as
2^5 < 2/0.05. A seed of which it is open whether the statement holds counts against either decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from verify.statistics.e_process import Assumed, log_capital

#: The probability of deciding "seen" for a statement that holds for at most half of all seeds, or vice versa.
LEVEL = 0.05
#: The share of the capital that is staked whole on each seed.
WHOLE = 2 / 3
#: Seeds that any decision takes.
LEAST = math.ceil(math.log2(2 / LEVEL))
#: The largest number of seeds needed for a decision that is reported.
MOST = 1000


class Observed(StrEnum):
    """The outcome of a statement on data."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    UNDECIDED = "undecided"
    NO_DATA = "no such data"
    NOT_RUN = "not run"


class Decision(NamedTuple):
    """``outcome``; ``seeds``: how many a decision takes, or would take if the rest came out as these did, None where
    they are split so evenly that :data:`MOST` would not do, or left open what they did."""

    outcome: Observed
    seeds: int | None


def decide(held: Sequence[bool | None]) -> Decision:
    """Decide a statement from whether it held for each seed, in order; None where that is open."""
    for_it = [value is True for value in held]
    against = [value is False for value in held]
    for outcome, found in ((Observed.SEEN, for_it), (Observed.NOT_SEEN, against)):
        if (after := _crossed(found)) is not None:
            return Decision(outcome, after)
    return Decision(Observed.UNDECIDED, min(filter(None, map(_continued, (for_it, against))), default=None))


def _crossed(found: Sequence[bool]) -> int | None:
    """After how many of these it is rejected that at most half are, if it is."""
    return next((n for n in range(LEAST, len(found) + 1) if _rejected(sum(found[:n]), n)), None)


def _rejected(agreeing: int, count: int) -> bool:
    """Return True if this many agreeing seeds reject a statement that holds with probability one half, in any order."""
    x = np.zeros((count, 1))
    x[:agreeing] = 1
    capital = (1 - WHOLE) * math.exp(log_capital(x, np.array([0.5]), Assumed(0.0, 1.0))[0])
    return capital + (WHOLE * 2.0**count if agreeing == count else 0.0) >= 2 / LEVEL


def _continued(found: Sequence[bool]) -> int | None:
    """After how many it would be, were the rest as these are."""
    share = sum(found) / len(found) if found else 0.0
    if share <= 0.5 or not _rejected(math.floor(share * MOST), MOST):
        return None
    low, high = len(found), MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _rejected(math.floor(share * middle), middle) else (middle, high)
    return high
