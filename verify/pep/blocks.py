"""Functions that are smooth in blocks of coordinates, known only by their class.

A vector stands in parts, one for each block, and inner products are sums over the parts: so blocks are orthogonal by
construction, and may have any number of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from verify.pep.gram import ZERO, Form, Number, row, value
from verify.pep.programs import Constraint


class _Known(NamedTuple):
    """A function at a point: the point and the gradient, ``(b,)``, and the value."""

    point: Array
    gradient: Array
    value: Form


@dataclass
class InBlocks:
    """n convex functions, each L_j-smooth along block j, of vectors in b parts.

    ``L (b,)``; ``origin (b,)``, ``slope (n, b)``: the optimum and the gradients there. What is known of a point is
    relative to these, the tangent at the optimum subtracted.
    """

    L: tuple[Number, ...]
    origin: Array
    slope: Array
    asked: list[dict[Any, _Known]] = field(default_factory=list)

    def __post_init__(self) -> None:
        nowhere = np.array([ZERO] * self.d, dtype=object)
        known = _Known(nowhere, nowhere, Form({}, {}, 0))
        self.asked = [{_key(nowhere): known} for _ in range(self.n)]

    @property
    def n(self) -> int:
        """The number of functions."""
        return len(self.slope)

    @property
    def d(self) -> int:
        """The number of parts of a vector."""
        return len(self.L)

    def gradient(self, x: Array) -> Array:
        """``(..., n, b) -> (..., n, b)``."""
        out = np.empty((*x.shape[:-2], self.n, self.d), dtype=object)

        def answer(index: tuple[int, ...], at: _Known) -> None:
            out[index] = self.slope[index[-1]] + at.gradient

        self._each(x, answer)
        return out

    def value(self, x: Array) -> Array:
        """``(..., n, b) -> (..., n)``."""
        out = np.empty((*x.shape[:-2], self.n), dtype=object)

        def answer(index: tuple[int, ...], at: _Known) -> None:
            i = index[-1]
            out[index] = at.value + _inner(self.slope[i], at.point) + value(f"f level_{i}")

        self._each(x, answer)
        return out

    def _each(self, x: Array, answer: Callable[[tuple[int, ...], _Known], None]) -> None:
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        for index in np.ndindex(x.shape[:-1]):
            i, point = index[-1], np.array([ZERO + v for v in x[index] - self.origin], dtype=object)
            known, key = self.asked[i], _key(point)
            if key not in known:
                k = len(known)
                new = np.array([row(f"grad f({k})_{i} part {j}") for j in range(self.d)], dtype=object)
                known[key] = _Known(point, new, value(f"f({k})_{i}"))
            answer(index, known[key])

    def constraints(self) -> Iterator[Constraint]:
        """Yield the inequalities between each two points, along each block."""
        for i in range(self.n):
            for (k, one), (m, other) in permutations(enumerate(self.asked[i].values()), 2):
                tangent = other.value + _inner(other.gradient, one.point - other.point)
                turned = one.gradient - other.gradient
                for j, L in enumerate(self.L):
                    why = f"f_{i + 1} is convex, and {L}-smooth along block {j + 1}, between its points {k} and {m}"
                    form = tangent + turned[j] ** 2 / (2 * L) - one.value
                    yield Constraint(f"f_{i}[{k},{m}] block {j}", form, partial(str, why))


def _inner(one: Array, other: Array) -> Form:
    return sum((a * b for a, b in zip(one, other, strict=True)), Form({}, {}, 0))


def _key(point: Array) -> tuple[Any, ...]:
    return tuple(v.key for v in point)
