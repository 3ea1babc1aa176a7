"""Coordinates in blocks, each with a smoothness constant of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import is_quadratic
from fedtheory.problems.separable import profiles


@dataclass(frozen=True)
class Blocks:
    """Consecutive coordinates in blocks of these ``sizes``, and the smoothness constants ``L`` that are declared of
    them, one for each block.

    Raise ``ValueError`` unless there is a constant for each block, and each has a coordinate.
    """

    sizes: tuple[int, ...]
    L: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.L) or min(self.sizes, default=0) < 1:
            raise ValueError(f"{len(self.L)} blocks of coordinates are due, each of one at least, got {self.sizes}")

    def part(self, v: Array, block: int) -> Array:
        """``v (..., d)`` in one block, counted from 0, and 0 in the others: ``(..., d)``."""
        if type(block) is not int or not 0 <= block < len(self.sizes):
            raise ValueError(f"blocks are counted from 0 to {len(self.sizes) - 1}, got {block!r}")
        here = np.repeat(np.arange(len(self.sizes)) == block, self.sizes)
        return np.where(here, v, 0 * v)


def smoothness(f: Functions, x: Array, sizes: tuple[int, ...]) -> Array:
    """Smoothness constants of convex functions in each block of coordinates, ``(n, blocks)``, or more than these.

    Of sums over coordinates the largest slope in a block, ``x (d,)`` being any point; of quadratics the trace of the
    block of the Hessian, which is its largest eigenvalue where that has rank one; of others the constant of the whole.
    Functions may state them, as ``block_smoothness``.
    """
    stated = getattr(f, "block_smoothness", None)
    if stated is not None:
        return np.asarray(stated, dtype=object)
    ends = np.cumsum(sizes)
    of_coordinates = profiles(f, x)
    if of_coordinates is not None:
        steep = np.array([[max(p.slopes) for p in parts] for parts in of_coordinates], dtype=object).T
        return np.stack([rows.max(axis=-1) for rows in np.split(steep, ends[:-1], axis=-1)], axis=-1)
    if is_quadratic(f):
        steps = np.eye(f.d, dtype=int)
        at = np.broadcast_to(x, (f.n, f.d))
        slopes = [(f.gradient(at + step) - f.gradient(at))[:, j] for j, step in enumerate(steps)]
        diagonal = np.stack(slopes, axis=-1)
        return np.stack([rows.sum(axis=-1) for rows in np.split(diagonal, ends[:-1], axis=-1)], axis=-1)
    return np.repeat(np.asarray(f.L)[:, None], len(sizes), axis=-1)
