"""Federated Optimization, Section 3.1: O(1) rounds, as a number of them, and the best that a choice of parameters does.

"Converges in O(1) rounds" is about all data at once. It is read as :data:`ROUNDS` rounds to a gap that is a quarter of
the first, with the best parameters for the data: where the rounds that are needed grow with the scale of the data, no
other number does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.data import OFTEN, ONE_NODE, SEPARATE, RidgeInstances
from fedtheory.papers.fedopt.predictors import setting
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity

ROUNDS, SHARE = 100, sympy.Rational(1, 4)

_rate = sympy.Symbol("rate", real=True)


def few_rounds(rate: Callable[[LinearProblem, Any, Any], Array]) -> Inequality:
    """The statement that ``ROUNDS`` rounds leave a ``SHARE`` of f(w^0) - f*; ``rate``: the factor of the worst error.

    The gap is quadratic.
    """
    return Inequality(_rate ** (2 * ROUNDS), SHARE, (Quantity(_rate, rate),))


def _one_each(f: LinearModels) -> bool:
    return f.n == f.examples and bool(((f.X != 0).sum(axis=1) == 1).all())


def _stiff(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    """One example a node, of one feature, on a wide scale."""
    sizes = [Fraction(int(rng.integers(1, 10))) * Fraction(10) ** int(rng.integers(0, 4)) for _ in range(3)]
    zero = Fraction(0)
    if kind == SEPARATE:
        return 2, tuple(
            {"examples": ({"x": (zero,) * k + (sizes[k],) + (zero,) * (1 - k), "y": zero},)} for k in (0, 1)
        )
    one = {"examples": ({"x": (sizes[0], zero), "y": zero},)}
    K = int(rng.integers(2, 4) if rng.random() > OFTEN else rng.integers(4, 13))
    return 2, (one,) * (1 if kind == ONE_NODE else K)


def stiff(kind: str, parameters: str, posed: RidgeInstances | None = None) -> Setting:
    """One example of one feature on each node that holds data, on a wide scale; ``parameters``: what is chosen."""
    posed = replace(posed or RidgeInstances(), kind=kind, clients=_stiff, holds=lambda recipe, f: _one_each(f))
    return setting(f"{kind}: one example of one feature each, lambda > 0; {parameters}", posed)


def speeds(method: Any, problem: LinearProblem, params_at: Callable[[int], object], draw: Array | None) -> Array:
    """The c_j, ``(d,)``, where a round at the stepsize h multiplies an error along coordinate j by 1 - h c_j.

    That it does is checked by running ``method`` at two stepsizes; ``ValueError`` on other data, or unless c_j > 0.
    """
    d = problem.d
    errors = np.eye(d, dtype=int) + 0 * problem.f.X[0, 0]

    def moved(stepsize: int) -> Array:
        state = method.State(problem.x_star + errors)
        after = method.step(problem, params_at(stepsize), state, draw)
        return errors - (np.asarray(after[0]) - problem.x_star)

    once, c = moved(1), np.diagonal(moved(1))
    rounding = 0 if problem.f.exact else 1e-9 * abs(c).max()
    off = abs(np.stack([once - np.diag(c), moved(2) - 2 * np.diag(c)]))
    if not (off <= rounding).all() or not (c > 0).all():
        raise ValueError("a round does not multiply the errors by 1 - h c_j")
    return c


def best_rate(method: object, problem: LinearProblem, params_at: Callable[[int], object], draw: Array) -> Scalar:
    """The least over all stepsizes h of the largest factor, in size, by which a round multiplies an error.

    For data as :func:`speeds` asks for: max_j |1 - h c_j| is at least (c_max - c_min)/(c_max + c_min), whatever h,
    since c_max (1 - h c_min) - c_min (1 - h c_max) = c_max - c_min, and h = 2/(c_max + c_min) attains it.
    """
    c = speeds(method, problem, params_at, draw)
    return (c.max() - c.min()) / (c.max() + c.min())
