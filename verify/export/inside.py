"""A point of a domain: what is proved of letters says nothing where no letters are allowed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Any

from verify.multipliers.charts import SlackChart
from verify.multipliers.domains import Domain
from verify.multipliers.ratios import terms

#: The most charts whose slacks are tried.
_CHARTS = 8
#: The most choices of slacks.
_TRIES = 400
_SIZES = (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(4), Fraction(1, 4), Fraction(16), Fraction(1, 16))


def point(domain: Domain) -> tuple[Fraction, ...]:
    """Letters that the domain allows: a chart, followed back from slacks. Raise ``ValueError`` if none are found.

    Checked in fractions, so that it does not matter how they were found.
    """
    for chart in (*islice(domain.charts, _CHARTS), domain.plain):
        for slacks in islice(_slacks(domain, chart), _TRIES):
            found = _letters(chart, slacks)
            if found is not None and _allowed(domain, found):
                return found
    raise ValueError("no letters are found that the domain allows")


def _slacks(domain: Domain, chart: SlackChart) -> Iterator[list[Fraction]]:
    """All alike first, so that the numbers are short; then on wide scales, those that may be 0 too."""
    places = range(len(domain.ring.names()))
    for size in _SIZES:
        yield [size for _ in places]
    rng = random.Random(0)
    while True:
        low = [Fraction(2) ** rng.randint(-8, 8) for _ in places]
        # Letters that stand for maxima are only bounded from below.
        low = [x * 2**12 if i in domain.bounded else x for i, x in enumerate(low)]
        yield [Fraction(0) if i not in chart.positive and rng.random() < 0.25 else x for i, x in enumerate(low)]


def _letters(chart: SlackChart, slacks: Sequence[Fraction]) -> tuple[Fraction, ...] | None:
    """Convert slacks to letters; None if this divides by 0."""
    values = list(slacks)
    for i, num, den in reversed(chart.steps):
        below = value(den, values)
        if below == 0:
            return None
        values[i] = value(num, values) / below
    return tuple(values)


def _allowed(domain: Domain, values: Sequence[Fraction]) -> bool:
    signs = [(x, i in domain.positive) for i, x in enumerate(values)]
    signs += [(value(c.poly, values), c.strict) for c in domain.constraints]
    return all(x > 0 or (x == 0 and not strict) for x, strict in signs)


def value(p: Any, values: Sequence[Fraction]) -> Fraction:
    """A polynomial where the letters are numbers."""
    return sum((c * prod(x**k for x, k in zip(values, m, strict=True)) for m, c in terms(p)), Fraction(0))
