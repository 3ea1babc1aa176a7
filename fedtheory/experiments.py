"""Figures and tables of experiments as data: what a text states of one, and the runs on which that is looked for.

A statement is a list of comparisons between numbers that every run measures. A number is a :class:`Span`: a cost that a
run did not reach within its budget is more than it had spent, and what that leaves open is not decided. Runs are parted
into tasks, each of which measures all seeds of one part of the figure and can be repeated alone.

The number of seeds that must agree, and the resulting outcome, are not the paper's choice: see
:mod:`verify.experiments`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

#: The default number of seeds of a run: enough to decide a statement on which all of them agree.
SEEDS = 6
#: A trend is as clear as this where so much more of the pairs agree with it than contradict it.
TREND = 0.5


class Span(NamedTuple):
    """A number between two others, which are equal where it is known; ``Span(spent, inf)``: not reached before."""

    low: float
    high: float


#: The cost of a run that diverged, which no budget reaches.
NEVER = Span(math.inf, math.inf)
#: The numbers of one seed, by their names.
Numbers = Mapping[str, Span]


def known(value: float) -> Span:
    """A number that was measured. ``ValueError`` for one that is none."""
    if math.isnan(value):
        raise ValueError("a measured number must be a number")
    return Span(float(value), float(value))


class SeedComparison(Protocol):
    """A comparison of one seed's numbers; ``keys`` are the names of the numbers that it compares."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the numbers."""

    def holds(self, numbers: Numbers) -> bool | None:
        """Return whether it holds; None if the numbers leave it open."""


@dataclass(frozen=True)
class Less:
    """The least of the ``left`` numbers is below ``factor`` times the least of the ``right`` ones, or equal to it where
    that is not ``strict``. Methods of which one has to be the best stand on one side; the others need one comparison
    each."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    factor: float = 1.0
    strict: bool = True

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the numbers."""
        return (*self.left, *self.right)

    def holds(self, numbers: Numbers) -> bool | None:
        """Return whether it holds; None if a run that stopped early might still decide it."""
        left, right = _least(numbers, self.left), _least(numbers, self.right)
        low, high = self.factor * right.low, self.factor * right.high
        if left.high < low or (not self.strict and left.high <= low < math.inf):
            return True
        if left.low > high or math.isinf(left.low) or (self.strict and left.low == high):
            return False
        return None


@dataclass(frozen=True)
class Trend:
    """The numbers rise (``direction`` 1) or fall (-1) along ``along``: of all pairs at least half as many more agree
    than contradict (Kendall's rank correlation, where equal ones do neither)."""

    along: tuple[str, ...]
    direction: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the numbers."""
        return self.along

    def holds(self, numbers: Numbers) -> bool | None:
        """Return whether it holds; None if undecided pairs might decide it."""
        values = [numbers[key] for key in self.along]
        if all(math.isinf(value.low) for value in values):
            return None
        least = most = pairs = 0
        for j, after in enumerate(values):
            for before in values[:j]:
                pairs += 1
                if after.low > before.high or before.low > after.high:
                    sign = self.direction * (1 if after.low > before.high else -1)
                    least, most = least + sign, most + sign
                elif not _equal(before, after):
                    least, most = least - 1, most + 1
        if least >= TREND * pairs:
            return True
        return False if most < TREND * pairs else None


@dataclass(frozen=True)
class Within:
    """A number is between ``low`` and ``high``, both included: a level that the text names."""

    key: str
    low: float = -math.inf
    high: float = math.inf

    @property
    def keys(self) -> tuple[str, ...]:
        """The name of the number."""
        return (self.key,)

    def holds(self, numbers: Numbers) -> bool | None:
        """Return whether it holds; None if the number is not known precisely enough."""
        value = numbers[self.key]
        if self.low <= value.low and value.high <= self.high:
            return True
        return False if value.high < self.low or value.low > self.high else None


@dataclass(frozen=True)
class Stated:
    """A sentence of the text, in our words: at least the ``share`` of its ``parts`` hold ("most", "almost all").

    A part that compares numbers which the data at hand do not have (a regime for which there are too few rows) is left
    out; a sentence with no part left says nothing about these data. ``only``: the names of the sources that it is
    about; none: all.
    """

    text: str
    parts: tuple[SeedComparison, ...]
    share: float = 1.0
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.text or not self.parts or not 0 < self.share <= 1:
            raise ValueError("a statement needs a text, comparisons, and a share of them in (0, 1]")

    def left(self, numbers: Numbers) -> tuple[SeedComparison, ...]:
        """The parts that these numbers involve."""
        return tuple(part for part in self.parts if all(key in numbers for key in part.keys))

    def holds(self, numbers: Numbers) -> bool | None:
        """Return whether it holds for one seed; None if that is open, or if no part is left."""
        found = [part.holds(numbers) for part in self.left(numbers)]
        if not found:
            return None
        if found.count(True) >= self.share * len(found):
            return True
        return False if len(found) - found.count(False) < self.share * len(found) else None


class Curve(NamedTuple):
    """A line of a panel: medians over the seeds. ``log``: the axes with a logarithmic scale, as "xy"."""

    panel: str
    across: str
    up: str
    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    log: str = ""


class Result(NamedTuple):
    """The result of a task: ``numbers``, a tuple of one per seed, in order; ``curves``; ``notes``: what was tuned and
    how, in words.
    """

    numbers: Mapping[str, tuple[Span, ...]]
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Data that a figure is of. ``files``: their names, without the suffix of a compression; none: they are generated.
    ``missing``: what the paper says of data that nobody here has. ``seeds``: of its runs, unless stated otherwise:
    more where :data:`SEEDS` disagree and runs are cheap."""

    name: str
    files: tuple[str, ...] = ()
    missing: str = ""
    seeds: int = SEEDS


@dataclass(frozen=True)
class Figure:
    """A figure or table, as the text describes it.

    ``id``: begins with that of the paper; ``where``: place; ``statements``: what the text says; ``sources``: data that
    it is of; ``read(paths)``: the data in the files of one source, ``ValueError`` of one sentence where they cannot be
    read (None where all are generated); ``tasks(data, seeds)``: the runs, by names that are no longer than a file's,
    each a function without arguments; ``data`` is what ``read`` gave, or None for generated data. ``fair``: how all
    methods were tuned, in words; ``remark``: what follows from what was seen, in our words.
    """

    id: str
    where: str
    gist: str
    statements: tuple[Stated, ...]
    sources: tuple[Source, ...]
    tasks: Callable[[Any, tuple[int, ...]], Mapping[str, Callable[[], Result]]]
    read: Callable[[tuple[Path, ...]], Any] | None = None
    fair: str = ""
    remark: str = ""


#: Stepsizes that are tried of each method, as factors of its own theoretical one; the grid is widened by its ratio
#: while the best is at an end.
GRID = (0.5, 1.0, 2.0)
#: So often at most: logistic losses, whose slopes are bounded, let some methods take 2^10 or 2^15 times that stepsize.
WIDENED = 16


class Tuned(NamedTuple):
    """The factor of its theoretical stepsize that served a method best, and all that were tried, with their costs."""

    factor: float
    tried: Mapping[float, float]

    def __str__(self) -> str:
        tried = ", ".join(f"{factor:g}" for factor in sorted(self.tried))
        end = self.factor in (min(self.tried), max(self.tried))
        return f"{self.factor:g} times its theoretical stepsize, of {tried}{', still at an end' if end else ''}"


def tune(cost: Callable[[float], float], grid: Sequence[float] = GRID, widened: int = WIDENED) -> Tuned:
    """The factor of the least ``cost(factor)`` over a grid that is widened while its best is at an end.

    The same grid serves every method, so that all are tuned alike. Ties are broken towards the factor nearest to 1.
    A cost may be infinite; one that is not a number counts as infinite.
    """
    ordered = sorted(grid)
    ratio = ordered[-1] / ordered[-2]
    tried = {factor: _cost(cost, factor) for factor in ordered}
    for _ in range(widened):
        best = _best(tried)
        if best == min(tried):
            following = best / ratio
        elif best == max(tried):
            following = best * ratio
        else:
            break
        tried[following] = _cost(cost, following)
    return Tuned(_best(tried), tried)


def _best(tried: Mapping[float, float]) -> float:
    return min(tried, key=lambda factor: (tried[factor], abs(math.log(factor))))


def _cost(cost: Callable[[float], float], factor: float) -> float:
    value = cost(factor)
    return math.inf if math.isnan(value) else value


def _least(numbers: Numbers, keys: Sequence[str]) -> Span:
    spans = [numbers[key] for key in keys]
    return Span(min(span.low for span in spans), min(span.high for span in spans))


def _equal(a: Span, b: Span) -> bool:
    return a == b and a.low == a.high


def spent(
    costs: Iterable[float], budgets: Iterable[float] | float, diverged: Iterable[bool] | bool = False
) -> tuple[Span, ...]:
    """The costs of the seeds as spans: a cost that is infinite is more than its budget, or never where it diverged."""
    reached = list(costs)
    limits = [budgets] * len(reached) if isinstance(budgets, int | float) else budgets
    lost = [diverged] * len(reached) if isinstance(diverged, bool) else diverged
    return tuple(_spent(*one) for one in zip(reached, limits, lost, strict=True))


def _spent(cost: float, budget: float, diverged: bool) -> Span:
    if math.isfinite(cost):
        return known(cost)
    return NEVER if diverged else Span(float(budget), math.inf)


def numbers_of(results: Iterable[Result], seed: int) -> Numbers:
    """The numbers of one seed, by its place among the seeds, over all tasks of a figure."""
    return {key: values[seed] for result in results for key, values in result.numbers.items()}
