"""An algorithm from its step alone: what is left out has the plainest value."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, place, zeros
from fedtheory.algorithms.schedules import ROUND, checked
from fedtheory.numbers import validation
from fedtheory.numbers.literals import in_fractions
from fedtheory.randomness import Constant, Distribution

#: What a part of a state may be: one vector, or one for each client.
SHAPES = ("point", "clients")
#: What the problem calls its sizes, its condition number and its parts: no parameter is called so.
OF_PROBLEM = ("n", "d", "kappa", "x", "g", "clients")


def method(
    name: str,
    step: Callable[..., Any],
    params: Sequence[str],
    state: Mapping[str, str],
    init: Callable[..., Any] | None = None,
    draws: Callable[..., Any] | None = None,
    fixed_point: Callable[..., Any] | None = None,
    invariant: Callable[..., Any] | None = None,
    schedules: Mapping[str, Any] | None = None,
) -> Algorithm:
    """The algorithm with this ``step(problem, params, state, draw) -> state``, a mapping or a tuple of the new parts.

    ``params``: names of its parameters; ``state``: its parts by name, each a "point" ``(..., d)`` or "clients"
    ``(..., n, d)``; ``init`` and ``fixed_point`` give a mapping or a tuple too. Unless given: all parts start at 0; the
    draws are those of ``params.compressors`` or of ``params.noise``, or there are none; at the fixed point points are
    the optimum and clients' vectors 0. ``schedules``: parameters that vary with the round, by name, as expressions in
    its index ``round_index`` and in letters; the step has their values at its round.
    ``ValueError`` for another shape, for a function of other arguments, for a parameter that is called as a part of the
    problem is, or for a schedule that is no number, infinite or negative at some round.
    """
    if isinstance(params, str) or not isinstance(state, Mapping):
        raise ValueError(f"{name}: params are names in a list, and state a mapping of names to {' or '.join(SHAPES)}")
    given = ("problem", "params", "state")
    for part, function, taken in (
        ("step", step, (*given, "draw")),
        ("draws", draws, given),
        ("fixed_point", fixed_point, given[:2]),
        ("invariant", invariant, given),
    ):
        if function is not None:
            validation.function(f"the {part} of {name}", function, taken)
    for part, shape in state.items():
        if shape not in SHAPES:
            raise ValueError(f"the part {part} of the state must be one of {', '.join(SHAPES)}, got {shape!r}")
    parts_too = [p for p in params if p in OF_PROBLEM]
    if parts_too:
        raise ValueError(f"the parameter {parts_too[0]} has the name of a part of the problem: take another letter")
    varying = checked(schedules or {}, params)
    fields = [*params, *varying, ROUND] if varying else list(params)
    # A run begins with round 0.
    Params: Any = namedtuple("Params", fields, defaults=(0,) if varying else ())  # type: ignore[misc]
    State: Any = namedtuple("State", list(state))  # type: ignore[misc]

    def start(problem: Any, params: Any, **parts: Any) -> Any:
        empty = {p: zeros(problem.d) if s == "point" else zeros(problem.n, problem.d) for p, s in state.items()}
        return State(**(empty | {p: value for p, value in parts.items() if value is not None}))

    known = [Parameter(p, Parameter.POSITIONAL_OR_KEYWORD, default=None) for p in state]
    first = [Parameter(p, Parameter.POSITIONAL_OR_KEYWORD) for p in given[:2]]
    start.__signature__ = Signature([*first, *known])  # type: ignore[attr-defined]

    def rest(problem: Any, params: Any) -> Any:
        x = problem.x_star
        nothing = np.zeros((problem.n, problem.d), dtype=int)
        return State(**{p: x if s == "point" else 0 * x[..., None, :] + nothing for p, s in state.items()})

    def drawn(problem: Any, params: Any, state: Any) -> Any:
        if hasattr(params, "compressors"):
            return params.compressors.draws
        return params.noise.draws if hasattr(params, "noise") else Constant()

    return Algorithm(
        name,
        Params,
        State,
        start if init is None else stepping(init, State),
        drawn if draws is None else drawing(draws),
        stepping(step, State),
        rest if fixed_point is None else stepping(fixed_point, State),
        invariant,
        varying,
    )


def drawing(draws: Callable[..., Any]) -> Callable[..., Any]:
    """The ``draws``, its ``__wrapped__``; ``ValueError`` where it gives no distribution."""
    draws = in_fractions(draws)

    @wraps(draws)
    def drawn(problem: Any, params: Any, state: Any) -> Any:
        found = draws(problem, params, state)
        if not isinstance(found, Distribution):
            given = f"an object of type {type(found).__name__}"
            raise ValueError(f"{place(draws)} gives {given}, where a distribution is due, such as Bernoulli(params.p)")
        return found

    return drawn


def stepping(step: Callable[..., Any], State: Any) -> Callable[..., Any]:
    """The function that gives a ``State`` where ``step``, its ``__wrapped__``, gives a mapping or a tuple of its parts.

    So may ``init`` and ``fixed_point``. ``ValueError`` where it gives something else, or other parts.
    """

    step = in_fractions(step)

    @wraps(step)
    def stepped(*given: Any, **parts: Any) -> Any:
        found = step(*given, **parts)
        if isinstance(found, Mapping):
            if set(found) == set(State._fields):
                return State(**found)
            told = f"the parts {', '.join(map(str, found))}"
        elif isinstance(found, tuple | list):
            if len(found) == len(State._fields):
                return State(*found)
            told = f"{len(found)} parts"
        else:
            told = f"an object of type {type(found).__name__}"
        due = ", ".join(State._fields)
        raise ValueError(f"{place(step)} gives {told}, where a mapping or a tuple of the state's parts {due} is due")

    return stepped
