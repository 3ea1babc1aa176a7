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
#: ``start(problem, given, begun)``: the start of a part that is not given, once the parts before it have ``begun``.
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
        """Return the given parts, None for the others. Raise ``TypeError`` for a part that may not be given."""
        bound = signature(self).bind(None, None, *values, **named).arguments
        return {part: bound.get(part) for part, _ in self.starts}

    def __call__(self, problem: Problem, params: object, /, *values: Any, **named: Any) -> Any:
        """The state at the start, with the parts that are given."""
        return begun(self.State, self.starts, problem, self.given(*values, **named))


def begun(
    State: Callable[..., StateT], starts: Sequence[tuple[str, StartOf]], problem: Problem, given: Mapping[str, Any]
) -> StateT:
    """The state at the start, ``given[part]`` where that is not None: proofs read this code."""
    state: dict[str, Any] = {}
    for part, start in starts:
        state = {**state, part: start(problem, given, state) if given[part] is None else given[part]}
    return State(**state)


def _split(kind: str) -> tuple[str, str]:
    """Return a kind and the part that it names, if any: "mean" and "h" of "mean of h", "point" and "" of "point"."""
    first, _, of = kind.partition(" of " if kind.startswith("mean ") else " from ")
    return first, of


def _is_mean(kind: str) -> bool:
    return _split(kind)[0] == "mean"


def starting(State: Any, kinds: Mapping[str, str]) -> Start:
    """Return the ``init`` of a method whose parts are declared by ``kinds``."""
    free = [part for part, kind in kinds.items() if not _is_mean(kind)]
    order = (*free, *(part for part in kinds if part not in free))
    return Start(State, tuple((part, _start(kinds[part], kinds)) for part in order), tuple(free))


def _start(kind: str, kinds: Mapping[str, str]) -> StartOf:
    first, of = _split(kind)
    if first == "mean":
        # The mean of zeros is an integer 0, which leaves fractions and floats as they are.
        return partial(_mean if _split(kinds[of])[1] else _mean_or_zero, of)
    return partial(_STARTING_FROM[first], of) if of else _STARTING[first]


def fault(part: str, kinds: Mapping[str, str]) -> str:
    """Return what is wrong with the declaration of a part; empty if nothing."""
    if kinds[part] in KINDS:
        return ""
    (first, of), known = _split(str(kinds[part])), list(kinds)
    if first == "mean" and of:
        if _split(str(kinds.get(of)))[0] not in _MEANS:
            return f"the part {part} of the state is the mean of {of}, which is not one of {', '.join(_MEANS)}"
        several = sum(_is_mean(str(kind)) for kind in kinds.values()) > 1
        return "only one part of the state may be a mean" if several else ""
    if first in _STARTING_FROM and of:
        good = of in known[: known.index(part)] and _split(str(kinds[of]))[0] == "point"
        return "" if good else f"the part {part} of the state starts from {of}, which is not a point declared before it"
    due = f"{', '.join(KINDS)}, 'mean of' some, or {', '.join(_STARTING_FROM)} 'from' one"
    return f"the part {part} of the state must be one of {due}, got {kinds[part]!r}"


def empty(problem: Problem, kind: str) -> Array:
    """The zeros at which a part of this kind starts unless it is given."""
    return _STARTING["point" if _is_mean(kind) else _split(kind)[0]](problem, {}, {})


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
    """A part of the state minus the clients' mean that it should equal, ``(..., d)``: proofs read this code."""
    return getattr(state, part) - getattr(state, of).sum(axis=-2) / problem.n


def tie(kinds: Mapping[str, str]) -> Callable[..., Array] | None:
    """Return the invariant of a method with a part that is the mean of another; None for any other method."""
    pairs = [(part, _split(kind)[1]) for part, kind in kinds.items() if _is_mean(kind)]
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
    first, of = _split(kind)
    return _MEANS[_split(kinds[of])[0]] if first == "mean" else RESTING[first]


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


#: The value at the optimum of a part of each kind.
RESTING: Mapping[str, Callable[[Problem], Array]] = dict(
    zip(KINDS, (_optimum, _nowhere, _nothing, _copies, _gradients, _inside, _dual), strict=True)
)
#: The same of the means of clients' vectors.
_MEANS = {"clients": _nowhere, "models": _optimum, "gradients": _mean_gradient}
