"""LoCoDL: the lifted space of eq. (12), and the operators S and W on it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.parts import zeros
from fedtheory.numbers.rational import Array
from fedtheory.papers.locodl.setting import n
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.relations import Quantity


class ConsensusParams(NamedTuple):
    """``n``: number of clients."""

    n: int


class Lifted(NamedTuple):
    """A point of the lifted space X: ``x (..., n, d)``, ``y (..., d)``."""

    x: Array
    y: Array


def origin(space: Any, params: object) -> Lifted:
    """x = y = 0."""
    return Lifted(zeros(space.n, space.d), zeros(space.d))


CONSENSUS = Setting(
    "x_1, ..., x_n, y in R^d",
    letters=(n,),
    algorithm=points(Lifted, ConsensusParams, origin),
    drawing=Drawing(sweep={"n": (1, 2, 3, 5, 8)}),
)


def norm(x: Array, y: Array) -> Array:
    """|(x, y)|_X^2 = sum_i |x_i|^2 + n |y|^2, eq. (12)."""
    return (x**2).sum(axis=(-1, -2)) + x.shape[-2] * (y**2).sum(axis=-1)


def W(point: Lifted) -> Lifted:
    """W x = x - S x, eq. (14)."""
    mean = _mean_of(point)
    return Lifted(point.x - mean[..., None, :], point.y - mean)


def _mean_of(point: Lifted) -> Array:
    size = point.x.shape[-2]
    return (point.x.sum(axis=-2) + size * point.y) / (2 * size)


def _rows(point: Lifted) -> Array:
    return np.concatenate([point.x, point.y[..., None, :]], axis=-2)


def _S_printed(problem: object, params: object, state: Lifted) -> Array:
    """S x = 1 x_bar, eq. (13)."""
    return _everywhere(_mean_of(state), state)


def _consensus_projection(problem: object, params: ConsensusParams, state: Lifted) -> Array:
    """The minimiser over a of sum_i |x_i - a|^2 + n |y - a|^2: one Newton step from a = 0, which is exact."""
    slope = -2 * state.x.sum(axis=-2) - 2 * params.n * state.y
    curvature = 2 * params.n + 2 * params.n
    return _everywhere(-slope / curvature, state)


def _everywhere(a: Array, like: Lifted) -> Array:
    """The rows of a point at which all clients and the server agree."""
    return _rows(Lifted(a[..., None, :] + 0 * like.x, a))


def _W_rows(problem: object, params: object, state: Lifted) -> Array:
    """W applied to (x, y): its n + 1 rows."""
    return _rows(W(state))


def _W_differences(problem: object, params: object, state: Lifted) -> Array:
    """(d_1 - d_bar, ..., d_n - d_bar, -d_bar) with d_i = x_i - y and d_bar = (1/2n) sum_i d_i, eq. (15)."""
    difference = state.x - state.y[..., None, :]
    mean = difference.sum(axis=-2) / (2 * state.x.shape[-2])
    return _rows(Lifted(difference - mean[..., None, :], -mean))


def differences(problem: object, params: object, state: Lifted) -> Array:
    """sum_i |x_i - y|^2."""
    return ((state.x - state.y[..., None, :]) ** 2).sum(axis=(-1, -2))


def _W_norm(problem: object, params: object, state: Lifted) -> Array:
    """|W(x, y)|^2 in the norm of X, in which y counts n times."""
    return norm(*W(state))


S_PRINTED, PROJECTION = (
    Quantity("S(x, y)", _S_printed),
    Quantity("argmin_a(sum_i|x_i-a|^2+n|y-a|^2)", _consensus_projection),
)
W_ROWS, W_DIFFERENCES = Quantity("W(x, y)", _W_rows), Quantity("(d_i-d_bar, -d_bar)", _W_differences)
DIFFERENCES, W_NORM = Quantity("sum_i|x_i-y|^2", differences), Quantity("|W(x, y)|^2", _W_norm)
