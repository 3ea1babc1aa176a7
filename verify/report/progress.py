"""The progress of an audit, by the cost of its claims and not their number, with what runs and how long it may take.

The clock is for the reader alone: nothing that is found depends on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from verify.base.plain import clean

#: The share of the work that the first estimate counts for beside what was seen.
_PRIOR = 0.05
#: A log has a line whenever another such share of the work is done.
_LOGGED = 0.05
_MINUTE, _HOUR = 60, 3600


class Pace:
    """How much of the work is done, and how long the rest may take.

    ``costs``: of each claim, in any unit; ``seconds``: how long all of it is expected to take. ``clock`` gives the
    seconds that have passed.
    """

    def __init__(
        self, costs: Mapping[str, float], seconds: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._costs, self._expected, self._clock = costs, seconds, clock
        self._cost = sum(costs.values()) or 1.0
        self._begun, self._spent = clock(), 0.0
        self.claims = 0

    def done(self, id: str) -> None:
        """Count a claim as tested."""
        self._spent += self._costs[id]
        self.claims += 1

    @property
    def total(self) -> int:
        """The number of claims."""
        return len(self._costs)

    @property
    def share(self) -> float:
        """The share of the work that is done."""
        # A sum of all costs may exceed the total by a rounding error.
        return min(self._spent / self._cost, 1.0)

    @property
    def left(self) -> float:
        """Seconds that the rest may take: as expected at first, and then as what was done took."""
        pace = (_PRIOR * self._expected + self._clock() - self._begun) / (_PRIOR + self.share)
        return pace * (1 - self.share)

    def line(self, running: Sequence[str] = ()) -> str:
        """All of it in a line."""
        line = f"{self.share:4.0%}, {self.claims} of {self.total} claims, about {duration(self.left)} left"
        return f"{line}; running: {', '.join(running)}" if running else line


def duration(seconds: float) -> str:
    """A time in words, to two digits or so."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"


class Shown:
    """Progress of a running audit: a bar on a terminal, an occasional line in a log.

    ``verbose``: a log then has a line for each claim.
    """

    def __init__(self, to: Console, pace: Pace, verbose: bool, update: Callable[[], None]) -> None:
        self._to, self._pace, self._verbose, self._update = to, pace, verbose, update
        self._logged = 0.0
        self.running: tuple[str, ...] = ()

    def run(self, ids: Sequence[str]) -> None:
        """Tell which claims are tested now, after one more is done."""
        self.running = tuple(ids)
        if not self._to.is_terminal and self._pace.share >= self._logged + _LOGGED:
            self._logged = self._pace.share
            self._to.print(clean(self._pace.line(ids)), soft_wrap=True)
        self._update()

    def arrive(self, id: str, text: str) -> None:
        """Count a claim; ``text`` is its result."""
        self._pace.done(id)
        if self._verbose and not self._to.is_terminal:
            self._to.print(clean(f"[{self._pace.claims}/{self._pace.total}] {text}"), soft_wrap=True)


class _Bar(Progress):
    """A bar with a line below it."""

    below: Callable[[], str] = staticmethod(lambda: "")

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        yield Text(f"  {clean(self.below())}", no_wrap=True, overflow="ellipsis")


@contextmanager
def shown(to: Console, pace: Pace, verbose: bool = False) -> Iterator[Shown]:
    """Yield the display of an audit's progress; on a terminal it is erased at the end."""
    if not to.is_terminal:
        yield Shown(to, pace, verbose, lambda: None)
        return
    columns = (TextColumn("claims"), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with _Bar(*columns, console=to, transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def update() -> None:
            bar.update(task, completed=pace.share, description=pace.line().strip(), refresh=True)

        display = Shown(to, pace, verbose, update)
        bar.below = lambda: f"running: {', '.join(display.running)}" if display.running else ""
        update()
        yield display


__all__ = ["Pace", "Shown", "duration", "shown"]
