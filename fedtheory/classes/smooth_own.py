"""Functions with Lipschitz gradients, each with a constant of its own among the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedtheory.classes.base import FunctionClass
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class SmoothOwn(FunctionClass):
    """Each f_i has an r_i-Lipschitz gradient, convex or not, with the r_i ``(n,)`` of a field ``r`` of ``Params``,
    which the setting's ``parameters`` make of the clients' entries ``r``.

    A property of each f_i. Nothing is known of an optimum, and the class has no letters. The members are quadratics,
    and quadratics less a bend.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("none",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each with an r_i-Lipschitz gradient"

    @property
    def letters(self) -> Mapping[Any, Source]:
        """None: the r_i are parameters."""
        return {}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return all(-r <= mu and r >= L for mu, L, r in zip(f.mu, f.L, params.r, strict=True))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        r = np.maximum(params.r, np.maximum(problem.f.L, -problem.f.mu))
        return -r, r
