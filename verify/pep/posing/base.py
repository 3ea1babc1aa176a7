"""What the formal instances of all settings are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.optimum import Optimum
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.gram import Number


def batch(a: Array) -> Array:
    """The two leading axes of a state: one instance, one draw."""
    return a[None, None]


def each(value: Any, n: int) -> Array:
    """One constant for each of n clients, ``(n,)``."""
    return np.array([value] * n, dtype=object)


def make_problem(f: Any, g: Any, constants: tuple[Any, Any], x_star: Any, y_star: Array) -> Problem:
    """A problem of formal functions, with its class's constants (mu, L) and its optimum."""
    return Problem(f, g, constants, Optimum(np.array([x_star], dtype=object), y_star, 0.0))


def curvatures(problem: Problem) -> tuple[Number, Number]:
    """Least mu and largest L of the f_i and g: the declared ones, or those of a problem that does not keep to them."""
    parts = (problem.f,) if problem.g is None else (problem.f, problem.g)
    return min(problem.mu, *(v for part in parts for v in part.mu)), max(problem.L, *(v for p in parts for v in p.L))
