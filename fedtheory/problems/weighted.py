"""Stationary points of weighted sums f = sum_i alpha_i f_i, as FedADMM's eq. (2) has them."""

from __future__ import annotations

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.optimum import TOLERANCE, newton
from fedtheory.problems.quadratic import Quadratics


def weighted_gradient(problem: Problem, alpha: Array, x: Array) -> Array:
    """sum_i alpha_i grad f_i(x), ``(..., d) -> (..., d)``."""
    point = np.broadcast_to(x[..., None, :], (*x.shape[:-1], problem.n, problem.d))
    return (alpha[:, None] * problem.f.gradient(point)).sum(axis=-2)


def weighted_value(problem: Problem, alpha: Array, x: Array) -> Array:
    """f(x) = sum_i alpha_i f_i(x), ``(..., d) -> (...)``."""
    point = np.broadcast_to(x[..., None, :], (*x.shape[:-1], problem.n, problem.d))
    return (alpha * problem.f.value(point)).sum(axis=-1)


def stationary_point(problem: Problem, alpha: Array) -> Array:
    """A root of sum_i alpha_i grad f_i, ``(d,)``.

    The known optimum of the problem, which must be one for these weights; else the minimiser: of quadratics in closed
    form, exact on fractions, of other convex functions by Newton's method. ``ValueError`` when none is found.
    """
    f = problem.f
    if problem.known is not None:
        return problem.known.x
    if isinstance(f, Quadratics):
        return Problem(Quadratics(alpha[:, None, None] * f.H, f.c)).x_star

    def hessian(x: Array) -> Array:
        return (alpha[:, None, None] * f.hessian(np.broadcast_to(x, (f.n, f.d)))).sum(axis=0)

    slopes = alpha[:, None] * f.gradient(np.zeros((f.n, f.d)))
    scale = max(1.0, float(np.linalg.norm(slopes, axis=-1).sum()))
    x, _ = newton(lambda v: weighted_gradient(problem, alpha, v), hessian, np.zeros(f.d), np.asarray(1e-14 * scale))
    if np.linalg.norm(weighted_gradient(problem, alpha, x)) > TOLERANCE * scale:
        raise ValueError("no stationary point of the weighted sum found: give the problem a known one")
    return x
