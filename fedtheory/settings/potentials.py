"""Quantities that most theorems speak of, as functions of (problem, params, state) for a state with a point ``x``."""

from __future__ import annotations

from typing import Any

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


def distance(problem: Problem, params: Any, state: Any) -> Array:
    """|x - x*|^2."""
    found: Array = ((state.x - problem.x_star) ** 2).sum(axis=-1)
    return found


def gap(problem: Problem, params: Any, state: Any) -> Array:
    """f(x) - f(x*), f the mean of the f_i."""
    here, there = (problem.f.value(x[..., None, :]).sum(axis=-1) / problem.n for x in (state.x, problem.x_star))
    found: Array = here - there
    return found


def heterogeneity(problem: Problem, params: Any, state: Any) -> Array:
    """(1/n) sum_i |grad f_i(x*)|^2."""
    found: Array = (problem.y_star**2).sum(axis=(-1, -2)) / problem.n
    return found
