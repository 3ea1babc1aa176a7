"""Starts of runs, and options of methods, other than those that papers print."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any

from fedtheory.problems.base import Problem


@dataclass(frozen=True)
class GradientStart:
    """An ``init`` that begins ``part`` at ``mapping`` of ``point``, both of shape ``(..., n, d)``, and all else as
    ``init`` does; a part that is given stays as given."""

    init: Any
    part: str
    mapping: str
    point: str

    @property
    def __signature__(self) -> Signature:
        # It takes the same parts, but must not be unwrapped, or proofs would read ``init`` in its place.
        return signature(self.init)

    def __call__(self, problem: Problem, params: object, **given: Any) -> Any:
        """The state at the start of a run. Raise ``ValueError`` if nothing is known of such gradients."""
        state = self.init(problem, params, **given)
        if given.get(self.part) is not None:
            return state
        mapping = getattr(problem.f, self.mapping, None)
        if mapping is None:
            raise ValueError(f"the functions of the problem have no {self.mapping}")
        return self.init(problem, params, **{**given, self.part: mapping(getattr(state, self.point))})


@dataclass(frozen=True)
class WithOption:
    """The ``parameters`` of a recipe, except that the option ``name`` is ``value``."""

    parameters: Any
    name: str
    value: str

    def __call__(self, recipe: object, problem: Problem, exact: bool) -> Any:
        """The parameters; errors are those of ``parameters``."""
        return self.parameters(recipe, problem, exact)._replace(**{self.name: self.value})
