"""Starts of runs, and options of methods, other than those that papers print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Signature, signature
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem, everywhere


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


@dataclass(frozen=True)
class OtherStart:
    """A start of runs that papers allow beside that of ``init``: all is as there, but for one part.

    ``text``: the start in words; ``part``: what begins elsewhere; ``value(problem, params, points, draw)``: where it
    begins, at the models ``points (n, d)`` of the clients; ``drawn``: True if that takes a draw, one of a step.
    """

    text: str
    part: str
    value: Callable[[Problem, Any, Array, Any], Array]
    drawn: bool = False

    def begun(self, init: Any, problem: Problem, params: object, draw: object, **given: Any) -> Any:
        """The states ``(K, ...)`` at the start of a run, one for each of the draws; one alone if none is taken."""
        usual = init(problem, params, **given)
        x = np.asarray(usual[0])
        points = x if x.ndim == 2 else everywhere(problem, x)
        state = init(problem, params, **{**given, self.part: self.value(problem, params, points, draw)})
        count = np.shape(getattr(state, self.part))[0] if self.drawn else 1
        parts = zip(state, usual, strict=True)
        return type(state)(*(np.broadcast_to(value, (count, *np.shape(own))) for value, own in parts))


def nothing(problem: Problem, params: object, points: Array, draw: object) -> Array:
    """0, of each client."""
    return 0 * points


def gradients(problem: Problem, params: object, points: Array, draw: object) -> Array:
    """The gradients of the f_i."""
    return problem.f.gradient(points)


def centred_gradients(problem: Problem, params: object, points: Array, draw: object) -> Array:
    """The gradients of the f_i less their mean, of methods whose control variates sum to zero."""
    found = problem.f.gradient(points)
    return found - found.sum(axis=-2, keepdims=True) / problem.n
