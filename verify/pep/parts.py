"""Functions of vectors in parts, for methods that draw coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from verify.pep.gram import ZERO, Form, Sample, interpolation, row, value
from verify.pep.programs import Constraint


@dataclass
class Coordinates:
    """n functions of a class, of vectors in d parts, of which gradients can be asked.

    ``origin (d,)``, ``slope (n, d)``: the optimum and the gradients there. Inner products are sums over the parts.
    """

    mu: Array
    L: Array
    origin: Array
    slope: Array
    asked: list[dict[Any, tuple[Array, Array, Form]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        nowhere = np.array([ZERO] * self.d, dtype=object)
        known = (nowhere, nowhere, Form({}, {}, 0))
        self.asked = [{tuple(v.key for v in nowhere): known} for _ in range(self.n)]

    @property
    def n(self) -> int:
        """How many functions there are."""
        return len(self.mu)

    @property
    def d(self) -> int:
        """How many parts a vector has."""
        return len(self.origin)

    def gradient(self, x: Array) -> Array:
        """``(..., n, d) -> (..., n, d)``."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.n, self.d))
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape[:-1]):
            i = index[-1]
            point = np.array([ZERO + v for v in x[index] - self.origin], dtype=object)
            key = tuple(v.key for v in point)
            if key not in self.asked[i]:
                k = len(self.asked[i])
                new = np.array([row(f"grad f({k})_{i} part {j}") for j in range(self.d)], dtype=object)
                self.asked[i][key] = (
                    point,
                    self.L[i] * point if self.mu[i] == self.L[i] else new,
                    value(f"f({k})_{i}"),
                )
            out[index] = self.slope[i] + self.asked[i][key][1]
        return out

    def constraints(self) -> Iterator[Constraint]:
        """Every pair of points is interpolated."""
        for i in range(self.n):
            if self.mu[i] == self.L[i]:
                continue
            for (k, one), (j, other) in permutations(enumerate(self.asked[i].values()), 2):
                # Each part has its share of the value, so that the sum over the parts is the form of the whole.
                pairs = zip(_samples(*one), _samples(*other), strict=True)
                forms = [interpolation(a, b, self.mu[i], self.L[i]) for a, b in pairs]
                form = sum(forms, Form({}, {}, 0))
                why = (
                    f"f_{i + 1} is {self.mu[i]}-strongly convex and {self.L[i]}-smooth, between its points {k} and {j}"
                )
                yield Constraint(f"f_{i}[{k},{j}]", form, partial(str, why))


def _samples(point: Array, gradient: Array, height: Form) -> list[Sample]:
    return [Sample(x, g, height / len(point)) for x, g in zip(point, gradient, strict=True)]
