"""An algorithm is data and pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.schedules import at_round
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Distribution, Draw, Size


@dataclass(frozen=True)
class Algorithm:
    """An iterative method.

    ``Params``, ``State``: NamedTuple classes whose fields carry the paper's letters.
    ``init(problem, params, **start) -> State``: the initial state the paper prints; ``start`` overrides parts of it.
    ``draws(problem, params, state) -> Distribution``: all randomness of one step.
    ``step(problem, params, state, draw) -> State``: deterministic; broadcasts over leading axes (replicas).
    ``fixed_point(problem, params) -> State``: the state that the method must not leave, at the optimum.
    ``invariant(problem, params, state) -> Array``: residuals that stay zero along every run, or None.
    ``schedules``: parameters that vary with the round, as expressions in its index k, by name; ``Params`` then has the
    field ``round``.
    A method that needs more of its problem than functions says so by the type of ``problem``.
    """

    name: str
    Params: type
    State: type
    init: Callable[..., Any]
    draws: Callable[[Any, Any, Any], Distribution]
    step: Callable[[Any, Any, Any, Draw], Any]
    fixed_point: Callable[[Any, Any], Any]
    invariant: Callable[[Any, Any, Any], Array] | None = None
    schedules: Mapping[str, sympy.Expr] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("init", "draws", "step", "fixed_point", "invariant"):
            object.__setattr__(self, name, in_fractions(getattr(self, name)))


def place(function: Callable[..., Any]) -> str:
    """Where a function is written: its name, file and line."""
    inner = unwrap(function)
    while isinstance(inner, partial):
        inner = unwrap(inner.func)
    code = getattr(inner, "__code__", None)
    if code is None:
        return repr(inner)
    return f"{code.co_name} ({Path(code.co_filename).name}, line {code.co_firstlineno})"


def no_step(*arguments: Any) -> Any:
    """The step of what has none: a point that a statement speaks of."""
    raise ValueError("a point has no step")


def zeros(*shape: int) -> Array:
    """Zeros to start from: integers, so that they turn neither fractions into floats nor floats into objects."""
    return np.zeros(shape, dtype=int)


def run(
    algorithm: Algorithm,
    problem: Problem,
    params: Any,
    rounds: int,
    rng: np.random.Generator,
    observe: Callable[[Any], Array],
    replicas: int = 1,
    state: Any = None,
) -> Array:
    """``observe(state)`` at rounds 0, ..., ``rounds``, for ``replicas`` seeds run at once: ``(rounds+1, replicas)``.

    ``state`` overrides the initial state.
    """
    if state is None:
        state = algorithm.init(problem, params)
    size: Size = (replicas,)
    state = type(state)(*(np.broadcast_to(field, (replicas, *field.shape)) for field in state))
    observed = [observe(state)]
    for k in range(rounds):
        params = at_round(algorithm.schedules, problem, params, k, False)
        state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng, size))
        observed.append(observe(state))
    return np.stack(observed)
