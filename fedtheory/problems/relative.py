"""Proximal points in the geometry of a reference function h, exact on fractions, of sums over the coordinates."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.piecewise import PiecewiseQuadratic


def breaks(f: Any) -> tuple[Array, ...]:
    """The points where derivatives of separable functions bend or jump: arrays ``(..., n, d)``, none for quadratics."""
    if isinstance(f, PiecewiseQuadratic):
        return f.kinks
    inner = getattr(f, "f", None)
    own = (f.kink,) if hasattr(f, "jump") else ()
    return own if inner is None else (*own, *breaks(inner))


def bregman_prox(f: Functions, h: Functions, gamma: Scalar, z: Array, about: Array) -> Array:
    """The point x at which gamma times the mean of the f_i, plus h - <z, .>, is least, ``(..., d) -> (..., d)``.

    All are sums over the coordinates of functions of one variable that are quadratic between some places, and the sum
    is strictly convex. ``about``: any point ``(..., d)``, where a place is added.
    """
    kinks = [about[..., None, :] + 0 * z[..., None, :]]
    kinks += [np.broadcast_to(at, (*z.shape[:-1], *at.shape[-2:])) for of in (f, h) for at in breaks(of)]
    places = np.sort(np.concatenate(kinks, axis=-2), axis=-2)
    ends = [places[..., k, :] for k in range(places.shape[-2])]

    def derivative(x: Array) -> Array:
        at = x[..., None, :]
        every = np.broadcast_to(at, (*at.shape[:-2], f.n, f.d))
        return gamma * f.gradient(every).sum(axis=-2) / f.n + h.gradient(at)[..., 0, :]

    def root(low: Array, width: Array) -> Array:
        """The root of the line that the derivative is between low and low + width."""
        none = width == 0
        safe = np.where(none, 0 * width + 1, width)
        one, two = low + safe / 3, low + safe * 2 / 3
        here = derivative(one)
        slope = np.where(none, 0 * width + 1, (derivative(two) - here) / (safe / 3))
        return one + (z - here) / slope

    # A root of one piece, moved to the nearest point of it, is where the solution, so moved, is.
    found: Array = np.minimum(root(ends[0] - 1, 0 * ends[0] + 1), ends[0])
    for low, high in pairwise(ends):
        found = found + np.minimum(np.maximum(root(low, high - low), low), high) - low
    return found + np.maximum(root(ends[-1], 0 * ends[-1] + 1), ends[-1]) - ends[-1]
