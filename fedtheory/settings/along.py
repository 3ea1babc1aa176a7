"""Quantities of whole runs, by the iterations of which a run consists: in a form that rules can see.

An instance is a run: its parameters are the run's, and its state is all of its history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.settings.iterations import At, Iteration


@dataclass(frozen=True, eq=False)
class Along:
    """Runs as iterations: ``points(problem, run, history)`` are the parameters and points of the iterations 0, 1, ...,
    each for all clients. ``last``: the letter of the iteration up to which a statement speaks of a run, which is its
    parameter ``k``."""

    iteration: Iteration
    points: Callable[[Problem, Any, Any], Iterator[tuple[Any, Any]]]
    last: sympy.Symbol


@dataclass(frozen=True)
class Least:
    """The least of a number over the iterations ``first``, ..., k of a run."""

    along: Along
    of: At
    first: int

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The least; where there are no such iterations, the number of the first."""
        points = list(self.along.points(problem, run, history))[self.first : max(run.k, self.first) + 1]
        found: Array = np.min(np.stack([self.of(problem, *point) for point in points]), axis=0)
        return found


@dataclass(frozen=True)
class Start:
    """A number of the state with which a run begins."""

    along: Along
    of: At

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The number, before the first iteration."""
        return self.of(problem, *next(self.along.points(problem, run, history)))


@dataclass(frozen=True)
class Infimum:
    """The infimum of a function of the state, over all states, as ``value(problem, run)`` computes it."""

    along: Along
    of: At
    value: Callable[[Problem, Any], Any]

    def __call__(self, problem: Problem, run: Any, history: Any) -> Array:
        """The infimum, the same for all starts."""
        return np.asarray(self.value(problem, run))[None, None]
