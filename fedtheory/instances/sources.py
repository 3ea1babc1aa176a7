"""Where the values of letters come from: the problem, or the parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.problems.base import Problem

#: Where the value of a letter comes from: a constant of the problem or a field of the parameters, by name, or a
#: function.
Source = str | Callable[[Problem, Any], Any]
_OF_PROBLEM = ("mu", "L", "n", "d", "kappa")


def value_of(source: Source, problem: Any, params: Any) -> Any:
    """The value of one letter; ``ValueError`` where neither problem nor parameters have it."""
    if callable(source):
        return source(problem, params)
    if source == "kappa":
        if problem.mu == 0:
            raise ValueError("kappa = L/mu has no value where mu = 0")
        return problem.L / problem.mu
    if source in _OF_PROBLEM and not (problem is None and hasattr(params, source)):
        return getattr(problem, source)
    if hasattr(params, source):
        return getattr(params, source)
    if source in ("omega", "omega_av") and hasattr(params, "compressors"):
        return getattr(params.compressors, source)
    raise ValueError(f"neither the problem nor the parameters of the method have a value for {source!r}")
