"""A problem of federated optimisation: n functions, one for each client, and perhaps a g."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.functions import Functions
from fedtheory.problems.optimum import Optimum, solve


@dataclass(frozen=True)
class Problem:
    """minimise sum_i f_i(x) + n g(x), over x in R^d; the average form (1/n) sum f_i + g has the same minimiser.

    ``g`` holds one function (``g.n == 1``) or is None. ``declared`` may state (mu, L) weaker than the true ones;
    ``known`` is the optimum where the construction fixes it.
    """

    f: Functions
    g: Functions | None = None
    declared: tuple[Any, Any] | None = None
    known: Optimum | None = None

    def __post_init__(self) -> None:
        if self.g is not None and (self.g.n != 1 or self.g.d != self.f.d):
            raise ValueError("g must be a single function on the space of the f_i")

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.f.n

    @property
    def d(self) -> int:
        """Dimension of the model."""
        return self.f.d

    @property
    def mu(self) -> Any:
        """A strong convexity constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[0]
        parts = [self.f.mu] if self.g is None else [self.f.mu, self.g.mu]
        return float(min(np.min(p) for p in parts))

    @property
    def L(self) -> Any:
        """A smoothness constant of every f_i and of g."""
        if self.declared is not None:
            return self.declared[1]
        parts = [self.f.L] if self.g is None else [self.f.L, self.g.L]
        return float(max(np.max(p) for p in parts))

    @cached_property
    def optimum(self) -> Optimum:
        """The minimiser, the optimal dual variables and the KKT residual (see :mod:`fedtheory.problems.optimum`)."""
        return self.known or solve(self)

    @property
    def x_star(self) -> Array:
        """The minimiser, shape ``(..., d)``."""
        return self.optimum.x

    @property
    def y_star(self) -> Array:
        """grad f_i(x*), the optimal dual variables, shape ``(..., n, d)``."""
        return self.optimum.y
