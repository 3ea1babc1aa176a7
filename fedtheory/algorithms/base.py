"""An algorithm is data and pure functions.

:func:`method` makes one from its step alone: what is left out has the plainest value. The methods of this package are
made by it too, with classes for their parameters and states.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import Parameter, signature, unwrap
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

import numpy as np
import sympy

from fedtheory.algorithms.parts import KINDS, empty, fault, resting, starting, tie
from fedtheory.algorithms.schedules import ROUND, at_round, checked
from fedtheory.numbers import validation
from fedtheory.numbers.literals import in_fractions
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.hostile import in_step
from fedtheory.randomness import Constant, Distribution, Independent, Size

#: The parameters of a method, its state, and what a step draws.
ParamsT = TypeVar("ParamsT")
StateT = TypeVar("StateT")
DrawT = TypeVar("DrawT")


@dataclass(frozen=True)
class Algorithm(Generic[ParamsT, StateT, DrawT]):
    """An iterative method, as data and pure functions.

    Most users make one with :func:`method`. Its type is ``Algorithm[Params, State, Draw]``. A method that needs more of
    its problem than functions says so by the type of ``problem``.

    Args:
        name: The name, as in reports and in ``fedtheory.algorithms.get``.
        Params: A NamedTuple class whose fields carry the paper's letters for the parameters.
        State: A NamedTuple class whose fields are the parts of the state: ``(..., d)`` for a point, ``(..., n, d)`` for
            one vector per client. Leading axes are replicas.
        init: ``init(problem, params, **start) -> State``: the initial state that the paper prints; ``start`` overrides
            parts of it.
        draws: ``draws(problem, params, state) -> Distribution``: all randomness of one step.
        step: ``step(problem, params, state, draw) -> State``: deterministic; broadcasts over leading axes.
        fixed_point: ``fixed_point(problem, params) -> State``: the state at the optimum, which no step may leave.
        invariant: ``invariant(problem, params, state) -> Array``: residuals that stay zero along every run, or None.
        schedules: Parameters that vary with the round, as expressions in its index k, by name; ``Params`` then has the
            field ``round``.
        feasible: The parts of the state that are points of the constraint set, in every state.
        dual: The parts of the state that are vectors of the space of K x, in every state.

    Examples:
        >>> from fedtheory import algorithms
        >>> gd = algorithms.get("gradient-descent")
        >>> gd.Params._fields, gd.State._fields
        (('gamma',), ('x',))
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> problem = Problem(diagonal([[2.0], [4.0]], [[1.0], [0.0]]))
        >>> params = gd.Params(gamma=0.25)
        >>> gd.step(problem, params, gd.init(problem, params), None)
        State(x=array([0.25]))
    """

    name: str
    Params: type[ParamsT]
    State: type[StateT]
    init: Callable[..., StateT]
    draws: Callable[[Any, ParamsT, StateT], Distribution]
    step: Callable[[Any, ParamsT, StateT, DrawT], StateT]
    fixed_point: Callable[[Any, ParamsT], StateT]
    invariant: Callable[[Any, ParamsT, StateT], Array] | None = None
    schedules: Mapping[str, sympy.Expr] = field(default_factory=dict, hash=False)
    feasible: tuple[str, ...] = ()
    dual: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("init", "draws", "step", "fixed_point", "invariant"):
            object.__setattr__(self, name, in_fractions(getattr(self, name)))


def place(function: Callable[..., object]) -> str:
    """The place of a function's definition: its name, file and line."""
    inner = unwrap(function)
    while isinstance(inner, partial):
        inner = unwrap(inner.func)
    code = getattr(inner, "__code__", None)
    if code is None:
        return repr(inner)
    return f"{code.co_name} ({Path(code.co_filename).name}, line {code.co_firstlineno})"


def no_step(*arguments: object) -> Any:
    """The step of something without steps: a point that a statement is about."""
    raise ValueError("a point has no step")


def run(
    algorithm: Algorithm,
    problem: Problem,
    params: object,
    rounds: int,
    rng: np.random.Generator,
    observe: Callable[[Any], Array],
    replicas: int = 1,
    state: Any = None,
) -> Array:
    """Run a method, and observe its states: ``(rounds + 1, replicas)``, for all replicas at once.

    Args:
        algorithm: The method.
        problem: The problem.
        params: Its parameters.
        rounds: The number of rounds.
        rng: The random numbers of the draws.
        observe: ``observe(state)``: a number for each replica, ``(replicas,)``, at rounds 0, ..., ``rounds``.
        replicas: The number of independent runs.
        state: The initial state, in place of the method's own.

    Returns:
        What was observed, stacked along a first axis of length ``rounds + 1``.

    Examples:
        >>> import numpy as np
        >>> from fedtheory import algorithms
        >>> from fedtheory.problems.base import Problem
        >>> from fedtheory.problems.quadratic import diagonal
        >>> gd, problem = algorithms.get("gradient-descent"), Problem(diagonal([[2.0]], [[1.0]]))
        >>> rng = np.random.default_rng(0)
        >>> run(gd, problem, gd.Params(0.25), 2, rng, lambda state: state.x[..., 0])
        array([[0.  ],
               [0.5 ],
               [0.75]])
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


#: The ways in which ``init`` may take a part of the state.
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
#: The problem's names of its sizes, its condition number and its parts: no parameter may have them.
OF_PROBLEM = ("n", "d", "kappa", "x", "g", "clients")


def method(
    name: str,
    step: Callable[[Any, ParamsT, StateT, DrawT], Any],
    params: Sequence[str] | type[ParamsT],
    state: Mapping[str, str] | type[StateT],
    init: Callable[..., Any] | None = None,
    draws: Callable[..., Distribution] | None = None,
    fixed_point: Callable[..., Any] | None = None,
    invariant: Callable[..., Array] | None = None,
    schedules: Mapping[str, Any] | None = None,
) -> Algorithm[ParamsT, StateT, DrawT]:
    """Make an algorithm from its step; whatever is left out has the plainest value.

    By default all parts of the state start at 0; the draws are those of ``params.compressors`` or of ``params.noise``,
    or those of ``params.compressor`` for each client by itself, or there are none; at the fixed point, points are the
    optimum and clients' vectors are 0. ``step``, ``init`` and ``fixed_point`` return a mapping or a tuple of the parts,
    or the state itself if ``state`` is its class.

    Args:
        name: The name, as in reports.
        step: ``step(problem, params, state, draw)`` returns the state after the step: the value of each of its parts.
        params: The names of the parameters, or a NamedTuple class of them.
        state: The parts of the state by name, each ``"point"`` for ``(..., d)`` or ``"clients"`` for ``(..., n, d)``;
            if they are elsewhere at the optimum, ``"momentum"`` for a point that is 0 there, ``"models"`` for
            clients' copies of x*, ``"gradients"`` for the grad f_i(x*); ``"feasible"`` for a point of the constraint
            set, which starts at the one nearest to 0; ``"dual"`` for a vector of the space of K x, u* at the optimum.
            ``"point from x"``, ``"models from x"`` and ``"gradients from x"`` start where x does, at copies of it, and
            at the grad f_i(x). ``"mean of h"`` is the mean of clients' vectors, in every state: where no invariant is
            given, this is it. Or a NamedTuple class of them, with fields of the types ``Point``, ``Momentum``,
            ``Clients``, ``Models``, ``Gradients``, ``Feasible`` and ``Dual`` of ``fedtheory.algorithms.parts``, or such
            as ``Annotated[Array, "mean of h"]``.
        init: ``init(problem, params, **parts)``; a part that it takes without a default starts at 0 by default.
        draws: ``draws(problem, params, state)``: a distribution.
        fixed_point: ``fixed_point(problem, params)``: the parts of the state at the optimum.
        invariant: ``invariant(problem, params, state)``: residuals that stay zero along every run.
        schedules: Parameters that vary with the round, by name, as expressions in ``fedtheory.round_index`` and in
            letters; the step has their values at its round.

    Returns:
        The algorithm.

    Raises:
        ValueError: For another shape, for a function of other arguments, for an ``init`` beside feasible parts, for a
            parameter that has the name of a part of the problem, or for a schedule that is not a number, infinite or
            negative at some round.

    Examples:
        >>> import fedtheory as ft
        >>> def step(problem, params, state, draw):
        ...     slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
        ...     return {"x": state.x - params.gamma * slope}
        >>> gd = ft.method("gd", step, ["gamma"], {"x": "point"})
        >>> gd.Params(gamma=1)
        Params(gamma=1)
        >>> ft.method("gd", step, ["gamma"], {"x": "matrix"})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: the part x of the state must be one of point, momentum, ..., got 'matrix'
    """
    kinds: Any = _kinds(state, step) if isinstance(state, type) else state
    names: Any = params._fields if isinstance(params, type) else params  # type: ignore[attr-defined]
    if isinstance(names, str) or not isinstance(kinds, Mapping):
        raise ValueError(f"{name}: params are names in a list, and state a mapping of names to {' or '.join(KINDS)}")
    given = ("problem", "params", "state")
    for part, function, taken in (
        ("step", step, (*given, "draw")),
        ("draws", draws, given),
        ("fixed_point", fixed_point, given[:2]),
        ("invariant", invariant, given),
    ):
        if function is not None:
            validation.function(f"the {part} of {name}", function, taken)
    # The fields of a class may be of any type where nothing is left out.
    declared = kinds is state or init is None or fixed_point is None
    if faults := [wrong for part in kinds if declared and (wrong := fault(part, kinds))]:
        raise ValueError(faults[0])
    if taken_too := [p for p in names if p in OF_PROBLEM and names is params]:
        one = taken_too[0]
        raise ValueError(f"the parameter {one} has the name of a part of the problem: take another letter, as {one}_0")
    varying = checked(schedules or {}, names)
    if varying and names is not params:
        raise ValueError(f"{name}: where some vary with the round, params are the names of the others")
    # A run begins with round 0.
    made = _record("Params", [*names, *varying, ROUND], (0,)) if varying else _record("Params", names)
    feasible, dual = (tuple(part for part, kind in kinds.items() if kind == of) for of in ("feasible", "dual"))
    if feasible and init is not None:
        # Proofs take it that every run begins in the constraint set.
        raise ValueError(f"{name}: the feasible part {feasible[0]} starts at the point nearest to 0: leave init out")
    Params: Any = made if names is params else params
    State: Any = _record("State", kinds) if kinds is state else state
    begin = starting(State, kinds) if init is None else init
    rest: Any = resting(State, kinds) if fixed_point is None else fixed_point
    drawn = default_draws if draws is None else draws
    # Functions of this package return states and distributions, and are read as they are.
    if kinds is state or in_fractions(step) is not step:
        begin = begin if init is None else beginning(name, init, State, kinds)
        rest = rest if fixed_point is None else stepping(fixed_point, State)
        drawn = drawn if draws is None else drawing(draws)
        step = stepping(step, State)
    kept = tie(kinds) if invariant is None else invariant
    return Algorithm(name, Params, State, begin, drawn, step, rest, kept, varying, feasible, dual)


def _record(name: str, fields: Iterable[str], defaults: Sequence[int] = ()) -> Any:
    return namedtuple(name, list(fields), defaults=defaults)


def _kinds(State: type, step: Callable[..., object]) -> dict[str, str]:
    """The kinds of the parts that a class of states declares; another type of a field stands for itself."""
    module = sys.modules.get(State.__module__)
    # Code that is run as no module has its names where its functions look them up.
    names = getattr(unwrap(step), "__globals__", {}) if module is None else vars(module)
    hints = get_type_hints(State, names, include_extras=True)
    return {part: getattr(of, "__metadata__", (str(of),))[0] for part, of in hints.items()}


#: The parameters from which :func:`default_draws` draws.
DRAWN_FROM = ("compressors", "compressor", "noise")


def default_draws(problem: Problem, params: Any, state: object) -> Distribution:
    """The draws of ``params.compressors``, of ``params.compressor`` for each client, of ``params.noise``, or none."""
    if hasattr(params, "compressors"):
        return params.compressors.draws
    if hasattr(params, "compressor"):
        return Independent(params.compressor.draws, problem.n)
    return params.noise.draws if hasattr(params, "noise") else Constant()


def beginning(name: str, init: Callable[..., object], State: object, kinds: Mapping[str, str]) -> Callable[..., Any]:
    """The ``init`` of a method, its ``__wrapped__``, as :func:`stepping` has it; a part of the state that it has no
    default for starts at 0 where it is not given.

    Raise ``ValueError`` unless it is a function of problem, params, and parts of the state by their names.
    """
    due = f"the init of {name} must be a function of (problem, params) and of parts of the state, by their names"
    if not callable(init):
        raise ValueError(f"{due}, got {init!r}")
    made = stepping(init, State)
    given = list(signature(made).parameters.values())
    if wrong := [p for p in given[2:] if p.name not in kinds or p.kind not in _BY_NAME]:
        raise ValueError(f"{due}: {wrong[0]} is none of {', '.join(kinds)}")
    asked = [p.name for p in given[2:] if p.default is Parameter.empty]

    @wraps(made)
    def begun(problem: Problem, params: object, **parts: object) -> Any:
        return made(problem, params, **{p: empty(problem, kinds[p]) for p in asked if p not in parts}, **parts)

    return begun if asked else made


def drawing(draws: Callable[..., object]) -> Callable[..., Distribution]:
    """The ``draws``, its ``__wrapped__``. Raise ``ValueError`` if it gives no distribution."""
    draws = in_fractions(draws)

    @wraps(draws)
    def drawn(problem: Problem, params: object, state: object) -> Distribution:
        found = draws(problem, params, state)
        if not isinstance(found, Distribution):
            given = f"an object of type {type(found).__name__}"
            raise ValueError(f"{place(draws)} gives {given}, where a distribution is due, such as Bernoulli(params.p)")
        return found

    return drawn


def stepping(step: Callable[..., object], State: Any) -> Callable[..., Any]:
    """The function that gives a ``State`` where ``step``, its ``__wrapped__``, gives a mapping or a tuple of its parts.

    So may ``init`` and ``fixed_point``. Raise ``ValueError`` if it gives something else, or other parts.
    """

    step = in_fractions(step)

    @wraps(step)
    def stepped(*given: object, **parts: object) -> Any:
        if len(given) == 4:
            # No init or fixed point: these are not given a state and a draw.
            given = (given[0], in_step(given[1]), *given[2:])
        found, names = step(*given, **parts), State._fields
        values: Sequence[object] = ()
        if isinstance(found, Mapping):
            got = f"the parts {', '.join(map(str, found))}"
            values = [found[part] for part in names] if set(found) == set(names) else ()
        elif isinstance(found, tuple | list):
            got, values = f"{len(found)} parts", found
        else:
            got = f"an object of type {type(found).__name__}"
        if len(values) != len(names):
            due = ", ".join(names)
            raise ValueError(f"{place(step)} gives {got}, where a mapping or a tuple of the state's parts {due} is due")
        if missing := [part for part, value in zip(names, values, strict=True) if value is None]:
            raise ValueError(f"{place(step)} gives None for the part {missing[0]} of the state")
        return State(*values)

    return stepped
