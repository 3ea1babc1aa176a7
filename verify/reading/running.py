"""What is read, at numbers: terms evaluated on arrays, as the code computes them, to compare the two entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, square_root
from fedtheory.numbers.sourcecode import quotient
from fedtheory.randomness import UniformSubset, WeightedSubset, expectation
from verify.reading.known import VECTORS
from verify.reading.program import Program
from verify.reading.terms import Axis, Op, Term, parts


def step(program: Program, problem: Any, params: Any, state: Any, draw: Any) -> dict[str, Array]:
    """The parts of the state after a step that was read, by name; shapes are those of a state with its replicas."""
    first, kind = next(iter(state)), next(iter(program.parts.values()))
    lead = np.shape(first)[: np.ndim(first) - len(kind.axes)]
    found = _values(tuple(program.step.values()), problem, params, state, draw)
    return {name: np.broadcast_to(found[id(term)], shape(term, problem, lead)) for name, term in program.step.items()}


def shape(term: Term, problem: Any, lead: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what a term is, after that of the replicas."""
    sizes = _places(problem)
    return (*lead, *(sizes[axis] for axis in term.type.axes))


def value(term: Term, problem: Any, params: Any, state: Any, draw: Any = None) -> Any:
    """What a term is: an array whose last axes, as far as it has them, are those of the term."""
    return _values((term,), problem, params, state, draw)[id(term)]


def _values(wanted: tuple[Term, ...], problem: Any, params: Any, state: Any, draw: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for term in parts(*wanted):
        # All draws come with their probabilities, which expectations alone want.
        of = [
            found[id(part)][0] if part.op is Op.ALL and term.op is not Op.EXPECTED else found[id(part)]
            for part in term.of
        ]
        if term.op is Op.EXPECTED and term.of[0].op is Op.ALL:
            of[0] = of[0][0]
        found[id(term)] = _value(term, of, problem, params, state, draw)
    return found


def _value(term: Term, of: list[Any], problem: Any, params: Any, state: Any, draw: Any) -> Any:
    match term.op:
        case Op.CONSTANT:
            if term.type.mask:
                return bool(term.data)
            return int(term.data) if term.data.denominator == 1 else term.data
        case Op.LETTER:
            return getattr(params, term.data)
        case Op.COUNT:
            return getattr(problem, term.data)
        case Op.PART:
            return getattr(state, term.data)
        case Op.GIVEN:
            return VECTORS[term.data](problem) if term.data in VECTORS else _given(term.data, problem, params)
        case Op.DRAW:
            return _given((term.data if isinstance(term.data, str) else term.data[0]).partition(".")[2], draw)
        case Op.ORACLE:
            return _given(term.data, problem)(*of)
        case Op.COMPRESSED:
            return getattr(params, term.data.partition(".")[0]).apply(*of)
        case Op.SUM:
            _, axis, kept = term.data
            return np.sum(_with_axes(of[0], term.of[0]), axis=axis, keepdims=kept)
        case Op.VIEW:
            return _viewed(of[0], term, problem)
        case Op.WITHIN:
            array = np.broadcast_to(of[0], _spread_shape(of[0], term.of[0], problem, Axis.EXAMPLES))
            return np.add.reduceat(array, problem.f.starts, axis=term.data)
        case Op.HELD:
            array = np.broadcast_to(of[0], _spread_shape(of[0], term.of[0], problem))
            return np.take(array, problem.f.owner, axis=term.data)
        case Op.ALL:
            kind, name = term.data
            law = getattr(params, name).draws if kind == "compression" else _SUBSETS[kind](*of)
            return law.support(True)
        case Op.EXPECTED:
            return expectation(_with_axes(of[0], term.of[0]), of[1][1], term.data)
        case Op.LEAST | Op.MOST:
            return (np.min if term.op is Op.LEAST else np.max)(of[0], axis=-1)
        case Op.CLIENT:
            axes = term.of[0].type.axes
            array = np.broadcast_to(_with_axes(of[0], term.of[0]), _spread_shape(of[0], term.of[0], problem))
            return np.take(array, getattr(params, term.data), axis=axes.index(Axis.CLIENTS) - len(axes))
        case Op.ROOT:
            return square_root(of[0])
        case Op.POWER:
            return of[0] ** term.data
    return _OPERATIONS[term.op](*of)


_SUBSETS: Mapping[str, Callable[..., Any]] = {"subset": UniformSubset, "weighted subset": WeightedSubset}
_OPERATIONS: Mapping[Op, Callable[..., Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.MULTIPLY: lambda a, b: a * b,
    # Whole numbers have quotients in the code too, where it runs in fractions.
    Op.DIVIDE: quotient,
    Op.CHOOSE: np.where,
    Op.NOT: np.logical_not,
    Op.AND: np.logical_and,
    Op.OR: np.logical_or,
}


def _given(path: str, *among: Any) -> Any:
    """What is found under names with dots between them: in the first of some objects that has it."""
    names = path.split(".") if path else []
    found = next((thing for thing in among if not names or hasattr(thing, names[0])), among[0])
    for name in names:
        found = getattr(found, name)
    return found


def _with_axes(value: Any, term: Term) -> Any:
    """The value of a term, with at least its axes."""
    array = np.asarray(value)
    return array.reshape((1,) * max(0, len(term.type.axes) - array.ndim) + array.shape)


def _spread_shape(value: Any, term: Term, problem: Any, axis: Axis = Axis.CLIENTS) -> tuple[int, ...]:
    """The shape of a value with a place for each client, or for each example."""
    shape = list(np.shape(_with_axes(value, term)))
    shape[term.type.axes.index(axis) - len(term.type.axes)] = _places(problem)[axis]
    return tuple(shape)


def _places(problem: Any) -> dict[Axis, int]:
    """How many places axes have."""
    found = {Axis.CLIENTS: getattr(problem, "n", 0), Axis.COORDINATES: getattr(problem, "d", 0), Axis.ONE: 1}
    examples = getattr(getattr(problem, "f", None), "examples", None)
    return found if examples is None else {**found, Axis.EXAMPLES: examples}


def _viewed(value: Any, term: Term, problem: Any) -> Any:
    """Entries under other axes: those with one place leave and enter, and are spread."""
    before, after = term.of[0].type.axes, term.type.axes
    sizes = _places(problem)
    array = _with_axes(value, term.of[0])
    lead = array.shape[: array.ndim - len(before)]
    kept = [k for axis, k in zip(before, array.shape[len(lead) :], strict=True) if axis is not Axis.ONE]
    own = [axis for axis in before if axis is not Axis.ONE]
    if Axis.DRAWS in own:
        sizes[Axis.DRAWS] = kept[own.index(Axis.DRAWS)]
    shape = []
    for axis in after:
        if own and axis is own[0]:
            own.pop(0)
            shape.append(kept.pop(0))
        else:
            shape.append(1)
    return np.broadcast_to(array.reshape((*lead, *shape)), (*lead, *(sizes[axis] for axis in after)))
