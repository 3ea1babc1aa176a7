"""Residuals that stay zero along every run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement
from fedtheory.problems.base import Problem
from fedtheory.rational import Array


@dataclass(frozen=True)
class Invariant(Statement):
    """A residual that is zero before a step is zero after it, whatever is drawn."""

    algorithm: Algorithm
    residual: Callable[[Problem, Any, Any], Array]
    text: str
    kind: ClassVar[str] = "invariant"
