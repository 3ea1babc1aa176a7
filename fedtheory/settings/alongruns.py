"""Quantities of whole runs, as of the iterations of which a run consists: in a form that rules can see.

A run is what an instance is of: its parameters are the run's, and its state is all of its history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.settings.iterations import At, Iteration


@dataclass(frozen=True, eq=False)
class Along:
    """Runs as iterations: ``points(problem, run, history)`` are the parameters and points of the iterations 0, 1, ...,
    each for all clients."""

    iteration: Iteration
    points: Callable[[Problem, Any, Any], Iterator[tuple[Any, Any]]]


@dataclass(frozen=True)
class Least:
    """The least of a number of an iteration, over the iterations ``first``, ..., k of a run, k its parameter ``k``."""

    along: Along
    of: At
    first: int

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The least; over no iterations that of the iteration ``first``."""
        last = max(run.k, self.first)
        points = list(self.along.points(problem, run, history))[self.first : last + 1]
        found: Array = np.min(np.stack([self.of(problem, *point) for point in points]), axis=0)
        return found


@dataclass(frozen=True)
class Start:
    """A number of the state with which a run begins."""

    along: Along
    of: At

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The number, before the first iteration."""
        return self.of(problem, *next(iter(self.along.points(problem, run, history))))


@dataclass(frozen=True)
class Infimum:
    """The infimum of a function of the state, over all states, as ``value(problem, run)`` computes it."""

    of: At
    value: Callable[[Problem, Any], Any]

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The infimum, the same for all starts."""
        return np.asarray(self.value(problem, run))[None, None]
