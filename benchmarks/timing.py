"""Times that can be compared on a machine that is not idle: runs in turn, and medians of the ratios of neighbours."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array


class Line(NamedTuple):
    """One number of the report: ``value`` in ``unit``, and what it should be, at most or at least ``limit``.

    ``item``: the benchmark; ``what``: what was measured; ``note``: what it was measured against.
    """

    item: str
    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the limit is kept; None where there is none."""
        if self.at_most is None and self.at_least is None:
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )


def in_turn(variants: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Array]:
    """Seconds of processor time of each variant, ``(repeats,)``; each round runs all of them, after one that does not
    count. All run in one thread, so that on an idle machine this is the time that they take."""
    for run in variants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(repeats):
        for name, run in variants.items():
            begun = time.process_time()
            run()
            seconds[name].append(time.process_time() - begun)
    return {name: np.array(values) for name, values in seconds.items()}


class Compared(NamedTuple):
    """``ratio``: the median of the ratios of times run in turn; the medians ``of`` and ``to`` in seconds; ``least``:
    the ratio of the least times, which on a machine that is busy is nearer to that on one that is not."""

    ratio: float
    of: float
    to: float
    least: float

    @property
    def words(self) -> str:
        """The times, and the ratio of the least."""
        return f"{1e3 * self.of:.3g} ms against {1e3 * self.to:.3g} ms; least times {self.least:.3g}"


def compared(of: Callable[[], Any], to: Callable[[], Any], repeats: int) -> Compared:
    """Two functions run in turn."""
    times = in_turn({"of": of, "to": to}, repeats)
    one, other = times["of"], times["to"]
    return Compared(
        float(np.median(one / other)), float(np.median(one)), float(np.median(other)), float(one.min() / other.min())
    )
