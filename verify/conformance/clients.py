"""The clients of a problem one by one, for implementations that are made of clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


def client(problem: Problem, i: int) -> Client:
    """The i-th client of a problem by itself, for implementations made of clients.

    >>> from fedtheory.problems.base import Problem
    >>> from fedtheory.problems.quadratic import diagonal
    >>> client(Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]])), 1).gradient([3.0])
    array([12.])
    """
    if not 0 <= i < problem.n:
        raise ValueError(f"the clients are numbered 0 to {problem.n - 1}, got {i}")
    return Client(problem, i)


@dataclass(frozen=True)
class Client:
    """One f_i: ``gradient(x)`` and ``value(x)`` for ``x (d,)``."""

    problem: Problem
    i: int

    def gradient(self, x: Any) -> Array:
        """grad f_i(x), ``(d,) -> (d,)``."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return self.problem.f.gradient(points)[self.i]

    def value(self, x: Any) -> float:
        """f_i(x)."""
        points = np.tile(np.asarray(x, dtype=float), (self.problem.n, 1))
        return float(self.problem.f.value(points)[self.i])
