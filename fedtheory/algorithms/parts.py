"""The parts of a state: where each starts, and where it is at the optimum, by the words that declare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem, everywhere

StateT = TypeVar("StateT")

#: What a part of a state may be: one vector ``(..., d)``, which at the optimum is x* or, a momentum, 0; or one for each
#: client, ``(..., n, d)``, which there is 0, x* or grad f_i(x*). A feasible one is a point of the constraint set; a
#: dual one is a vector of the space of K x, which at the optimum is u*.
KINDS = ("point", "momentum", "clients", "models", "gradients", "feasible", "dual")
#: The same as types of the fields of a class of states.
Point = Annotated[Array, "point"]
Momentum = Annotated[Array, "momentum"]
Clients = Annotated[Array, "clients"]
Models = Annotated[Array, "models"]
Gradients = Annotated[Array, "gradients"]
Feasible = Annotated[Array, "feasible"]
Dual = Annotated[Array, "dual"]
#: Between a kind and the part from which it starts, and before the part whose mean another is.
_FROM, _MEAN = " from ", "mean of "

#: ``start(problem, given, begun)``: where a part starts that is not given, after the parts that have ``begun``.
StartOf = Callable[[Problem, Mapping[str, Any], Mapping[str, Any]], Array]


def zeros(*shape: int) -> Array:
    """Zeros to start from: integers, so that they turn neither fractions into floats nor floats into objects."""
    return np.zeros(shape, dtype=int)


@dataclass(frozen=True)
class Start:
    """The ``init`` of a method whose parts start as they are declared; each of ``starts`` is a part and its start.

    ``free``: the parts that may be given, by name or in this order.
    """

    State: Any
    starts: tuple[tuple[str, StartOf], ...]
    free: tuple[str, ...]

    @property
    def __signature__(self) -> Signature:
        names = (("problem", Parameter.empty), ("params", Parameter.empty), *((part, None) for part in self.free))
        return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value) for name, value in names])

    def given(self, *values: Any, **named: Any) -> dict[str, Any]:
        """Return the parts that are given, None for the others. Raise ``TypeError`` for others than may be given."""
        bound = signature(self).bind(None, None, *values, **named).arguments
        return {part: bound.get(part) for part, _ in self.starts}

    def __call__(self, problem: Problem, params: object, /, *values: Any, **named: Any) -> Any:
        """The state at the start, with the parts that are given."""
        return begun(self.State, self.starts, problem, self.given(*values, **named))


def begun(
    State: Callable[..., StateT],
    starts: Sequence[tuple[str, StartOf]],
    problem: Problem,
    given: Mapping[str, Any],
) -> StateT:
    """The state at the start, ``given[part]`` where that is not None: proofs read this code."""
    state: dict[str, Any] = {}
    for part, start in starts:
        state = {**state, part: start(problem, given, state) if given[part] is None else given[part]}
    return State(**state)


def starting(State: Any, kinds: Mapping[str, str]) -> Start:
    """Return the ``init`` of a method whose parts are declared by ``kinds``."""
    means = [part for part, kind in kinds.items() if kind.startswith(_MEAN)]
    free = [part for part in kinds if part not in means]
    return Start(State, tuple((part, _start(kinds[part], kinds)) for part in (*free, *means)), tuple(free))


def _start(kind: str, kinds: Mapping[str, str]) -> StartOf:
    if kind.startswith(_MEAN):
        of = kind.removeprefix(_MEAN)
        # What starts at 0 has the mean 0 in integers.
        return partial(_mean if _FROM in kinds[of] else _mean_or_zero, of)
    kind, _, of = kind.partition(_FROM)
    return partial(_STARTING_FROM[kind], of) if of else _STARTING[kind]


def fault(part: str, kinds: Mapping[str, str]) -> str:
    """Return what is wrong with the declaration of a part; empty if nothing."""
    kind, known = kinds[part], list(kinds)
    if kind in KINDS:
        return ""
    if kind.startswith(_MEAN):
        of = kind.removeprefix(_MEAN)
        if kinds.get(of, "").partition(_FROM)[0] not in _MEANS:
            return f"the part {part} of the state is the mean of {of}, which is not one of {_listed(_MEANS)}"
        return "" if sum(other.startswith(_MEAN) for other in kinds.values()) == 1 else "only one part may be a mean"
    first, _, of = kind.partition(_FROM)
    if first in _STARTING_FROM and of:
        before = known[: known.index(part)]
        good = of in before and kinds[of].partition(_FROM)[0] == "point"
        return "" if good else f"the part {part} of the state starts from {of}, which is not a point declared before it"
    return (
        f"the part {part} of the state must be one of {_listed(KINDS)}, or 'mean of' one of these, or "
        f"{_listed(_STARTING_FROM)} 'from' one of these, got {kind!r}"
    )


def _listed(names: Mapping[str, object] | Sequence[str]) -> str:
    return ", ".join(names)


def empty(problem: Problem, kind: str) -> Array:
    """The zeros at which a part of this kind starts unless it is given."""
    return _STARTING["point" if kind.startswith(_MEAN) else kind.partition(_FROM)[0]](problem, {}, {})


def _zero(problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return zeros(problem.d)


def _zeros(problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return zeros(problem.n, problem.d)


def _nearest(problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return problem.project(zeros(problem.d))


def _same(of: str, problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return begun[of]


def _everywhere(of: str, problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return everywhere(problem, begun[of])


def _slopes(of: str, problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return problem.f.gradient(begun[of][..., None, :])


def _mean(of: str, problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return begun[of].sum(axis=-2) / problem.n


def _mean_or_zero(of: str, problem: Problem, given: Mapping[str, Any], begun: Mapping[str, Any]) -> Array:
    return zeros(problem.d) if given[of] is None else begun[of].sum(axis=-2) / problem.n


_STARTING: Mapping[str, StartOf] = dict(
    zip(KINDS, (_zero, _zero, _zeros, _zeros, _zeros, _nearest, _zero), strict=True)
)
_STARTING_FROM: Mapping[str, Callable[..., Array]] = {"point": _same, "models": _everywhere, "gradients": _slopes}


def off_mean(part: str, of: str, problem: Problem, params: object, state: Any) -> Array:
    """A part of the state minus the mean of the clients' vectors that it is, ``(..., d)``: proofs read this code."""
    return getattr(state, part) - getattr(state, of).sum(axis=-2) / problem.n


def tie(kinds: Mapping[str, str]) -> Callable[..., Array] | None:
    """Return the invariant of a method with a part that is the mean of another; None for any other method."""
    pairs = [(part, kind.removeprefix(_MEAN)) for part, kind in kinds.items() if kind.startswith(_MEAN)]
    return partial(off_mean, *pairs[0]) if pairs else None


def at_optimum(
    State: Callable[..., StateT], parts: Sequence[Callable[[Problem], Array]], problem: Problem, params: object
) -> StateT:
    """The state at the optimum, with ``part(problem)`` for each of its parts: proofs read this code."""
    return State(*[part(problem) for part in parts])


def resting(State: Any, kinds: Mapping[str, str]) -> Callable[..., Any]:
    """Return the ``fixed_point`` of a method whose parts are declared by ``kinds``."""
    return partial(at_optimum, State, tuple(_rest(kind, kinds) for kind in kinds.values()))


def _rest(kind: str, kinds: Mapping[str, str]) -> Callable[[Problem], Array]:
    if kind.startswith(_MEAN):
        return _MEANS[kinds[kind.removeprefix(_MEAN)].partition(_FROM)[0]]
    return RESTING[kind.partition(_FROM)[0]]


def _optimum(problem: Problem) -> Array:
    return problem.x_star


def _inside(problem: Problem) -> Array:
    return problem.x_star


def _dual(problem: Problem) -> Array:
    return problem.u_star


def _nowhere(problem: Problem) -> Array:
    return 0 * problem.x_star


def _nothing(problem: Problem) -> Array:
    return 0 * problem.x_star[..., None, :] + zeros(problem.n, problem.d)


def _copies(problem: Problem) -> Array:
    return problem.x_star[..., None, :] + 0 * problem.y_star


def _gradients(problem: Problem) -> Array:
    return problem.y_star


def _mean_gradient(problem: Problem) -> Array:
    return problem.y_star.sum(axis=-2) / problem.n


#: What a part of each kind is at the optimum.
RESTING: Mapping[str, Callable[[Problem], Array]] = dict(
    zip(KINDS, (_optimum, _nowhere, _nothing, _copies, _gradients, _inside, _dual), strict=True)
)
_MEANS: Mapping[str, Callable[[Problem], Array]] = {
    "clients": _nowhere,
    "models": _optimum,
    "gradients": _mean_gradient,
}
