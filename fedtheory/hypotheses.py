"""Hypotheses: the conditions under which a claim is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy

from fedtheory.problems.base import Problem
from fedtheory.rational import holds


@dataclass(frozen=True)
class Hypothesis:
    """A condition under which a claim is made, as printed.

    ``relation`` is a sympy relation in the paper's letters, or ``met(problem, params)`` decides it on an instance.
    ``says``: what it means along runs, of the kinds of :mod:`fedtheory.meanings`, for limits that are derived.
    """

    text: str
    relation: sympy.Basic | None = None
    met: Callable[[Problem, Any], bool] | None = None
    says: tuple[Any, ...] = ()

    def holds(self, problem: Problem, params: Any, values: Mapping[sympy.Expr, Any]) -> bool:
        """Whether the instance meets the hypothesis."""
        if self.met is not None and not self.met(problem, params):
            return False
        return self.relation is None or holds(self.relation, values)
