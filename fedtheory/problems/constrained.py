"""min sum_i h_i(x_i) subject to sum_i x_i = 0, where the h_i are a problem's f_i."""

from __future__ import annotations

from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.problems.base import Problem


def multiplier(problem: Problem) -> Array:
    """The lambda at which the grad h_i^*(lambda) sum to 0, ``(d,)``: of quadratic h, c_i + H_i^{-1} lambda do."""
    H_inverse = problem.f.H_inverse  # type: ignore[attr-defined]
    return apply(inverse(H_inverse.sum(axis=0)), -problem.f.c.sum(axis=-2))  # type: ignore[attr-defined]
