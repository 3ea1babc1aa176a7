"""A comparison of the terms that were read with the code itself, entry by entry at instances: a safety net, which
decides no claim.

Terms are evaluated on arrays, as the code computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.exact_functions import quotient
from fedtheory.numbers.literals import are_fractions
from fedtheory.numbers.rational import Array, exact, square_root
from fedtheory.randomness import UniformSubset, WeightedSubset, expectation
from verify.reading.claimed import CodePath
from verify.reading.oracles import VECTORS
from verify.reading.program import StepProgram, quantities, read
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, parts
from verify.reading.values import Condition


def step(program: StepProgram, problem: Any, params: Any, state: Any, draw: Any) -> dict[str, Array]:
    """Return the parts of the state after a step that was read, by name, in the shapes of a state with its replicas."""
    first, kind = next(iter(state)), next(iter(program.parts.values()))
    lead = np.shape(first)[: np.ndim(first) - len(kind.axes)]
    found = _values(tuple(program.step.values()), problem, params, state, draw)
    return {name: np.broadcast_to(found[id(term)], shape(term, problem, lead)) for name, term in program.step.items()}


def shape(term: Term, problem: Any, lead: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a term's value, after that of the replicas."""
    sizes = _places(problem)
    return (*lead, *(sizes[axis] for axis in term.type.axes))


def evaluated(term: Term, problem: Any, params: Any, state: Any, draw: Any = None) -> Any:
    """Return the value of a term: an array whose last axes, as far as it has them, are those of the term."""
    return _values((term,), problem, params, state, draw)[id(term)]


def _values(wanted: tuple[Term, ...], problem: Any, params: Any, state: Any, draw: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for term in parts(*wanted):
        # All draws come with their probabilities, which only expectations use.
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
        case Op.DRAW | Op.DIRECTION:
            return _given((term.data if isinstance(term.data, str) else term.data[0]).partition(".")[2], draw)
        case Op.ORACLE:
            return _given(term.data, problem)(*of)
        case Op.COMPRESSED:
            draw, *bound, at = of
            return getattr(params, term.data.partition(".")[0]).apply(draw, at, *bound)
        case Op.MIXED:
            return getattr(params, term.data).mix(*of)
        case Op.UNMIXED:
            return getattr(params, term.data).solve(*of)
        case Op.ANSWER:
            raise Unread("the answers of an adversary are not compared: each time they are others")
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
        case Op.BLOCK:
            return problem.part(of[0], term.data)
        case Op.ROOT | Op.SIZE:
            return square_root(of[0])
        case Op.SIGNS:
            return np.sign(of[0])
        case Op.LARGER:
            return np.maximum(*of)
        case Op.LISTED:
            return np.array(of).reshape(-1, *(1,) * (len(term.type.axes) - 1))
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
    """Return the attribute under a dotted name, in the first of some objects that has it."""
    names = path.split(".") if path else []
    found = next((thing for thing in among if not names or hasattr(thing, names[0])), among[0])
    for name in names:
        found = getattr(found, name)
    return found


def _with_axes(value: Any, term: Term) -> Any:
    """Return the value of a term, with at least its axes."""
    array = np.asarray(value)
    return array.reshape((1,) * max(0, len(term.type.axes) - array.ndim) + array.shape)


def _spread_shape(value: Any, term: Term, problem: Any, axis: Axis = Axis.CLIENTS) -> tuple[int, ...]:
    """Return the shape of a value with a place for each client, or for each example."""
    shape = list(np.shape(_with_axes(value, term)))
    shape[term.type.axes.index(axis) - len(term.type.axes)] = _places(problem)[axis]
    return tuple(shape)


def _places(problem: Any) -> dict[Axis, int]:
    """Return the length of each axis."""
    found = {Axis.CLIENTS: getattr(problem, "n", 0), Axis.COORDINATES: getattr(problem, "d", 0), Axis.ONE: 1}
    examples = getattr(getattr(problem, "f", None), "examples", None)
    return found if examples is None else {**found, Axis.EXAMPLES: examples}


def _viewed(value: Any, term: Term, problem: Any) -> Any:
    """Return the entries under other axes: axes of length 1 are removed, inserted and spread."""
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


#: Numbers of clients at which it is compared, and points at each.
CLIENTS, POINTS = (2, 3, 4, 5), 2


def check(claim: Claim, cases: Sequence[CodePath], instances: Sequence[Instance], rng: np.random.Generator) -> int:
    """Return the number of instances at which the terms agree with the code. Raise ``Unread`` if they differ, or if
    none can be compared.
    """
    compared, (first, more) = 0, _spread(instances)
    for k, instance in enumerate([*first, *more]):
        if compared and k >= len(first):
            break
        theta = exact(rng.integers(-7, 8, (POINTS, instance.dimension)))
        problem, state = instance.at(theta)
        sized = problem if problem is not None else _sizes(cases[0], state)
        case = next((c for c in cases if _occurs(c, sized, instance.params, state)), None)
        if case is not None:
            compared += _compare(claim, case, problem, sized, instance.params, state, rng)
    if not compared:
        raise Unread("there is no instance at which the symbolic result can be compared with the code")
    return compared


def _sizes(case: CodePath, state: Any) -> Any:
    """Return n and d as the shapes of states show them, in place of a problem."""
    shapes = [
        zip(kind.axes[::-1], np.shape(getattr(state, name))[::-1], strict=False) for name, kind in case.types.items()
    ]
    lengths = {axis: size for shape in shapes for axis, size in shape}
    return SimpleNamespace(n=lengths.get(Axis.CLIENTS), d=lengths.get(Axis.COORDINATES))


def _spread(instances: Sequence[Instance]) -> tuple[list[Instance], list[Instance]]:
    """Return one instance for each number of clients, with others to make up the number; and the rest, to be used if
    none of these can be compared.
    """
    by_size: dict[Any, Instance] = {}
    for instance in instances:
        by_size.setdefault(getattr(instance.problem, "n", None), instance)
    chosen = [by_size[n] for n in (None, 1, *CLIENTS) if n in by_size]
    left = [i for i in instances if not any(i is c for c in chosen)]
    few = max(0, POINTS - len(chosen))
    return chosen + left[:few], left[few:]


def _occurs(case: CodePath, problem: Any, params: Any, state: Any) -> bool:
    return all(holds(condition, problem, params, state) is answer for condition, answer in case.conditions)


def holds(condition: Any, problem: Any, params: Any, state: Any) -> bool:
    """Return True if a condition on letters, or a truth value, is true at numbers."""
    if not isinstance(condition, Condition):
        return bool(condition)
    if condition.by in ("not", "and", "or"):
        parts = [holds(part, problem, params, state) for part in condition.of]
        return not parts[0] if condition.by == "not" else (all if condition.by == "and" else any)(parts)
    left, right = (evaluated(term, problem, params, state) for term in condition.of)
    if condition.by in ("==", "!="):
        return bool(left == right) is (condition.by == "==")
    return bool(left < right if condition.by == "<" else left <= right)


def _compare(
    claim: Claim, case: CodePath, problem: Any, sized: Any, params: Any, state: Any, rng: np.random.Generator
) -> bool:
    """Return True if all terms were compared; the results of loops are read again, with the actual numbers of
    rounds.
    """
    lead = np.shape(state[0])[:2]
    loops = [_loops(terms) for terms in (*case.quantities.values(), case.known)]
    loops += [] if case.program is None else [_loops(case.program.step.values())]
    algorithm = claim.setting.algorithm
    # Read again for a single client, it would be read for that one alone, with other axes.
    if any(loops) and (problem is None or algorithm is None or problem.n in (1, problem.d) or problem.d == 1):
        return False
    counts = {name: value for name, value in params._asdict().items() if type(value) is int}
    of_all = claim.setting.hints.known
    functions = [(function, terms, case.axis) for function, terms in case.quantities.items()]
    for function, terms, axis in [*functions, *([(of_all, case.known, case.known_axis)] if case.known else [])]:
        if algorithm is not None and _loops(terms):
            terms = quantities(function, algorithm, problem, params, counts)
        there = np.asarray(function(problem, params, state))
        parts = [_full(evaluated(term, sized, params, state), term, sized, lead) for term in terms]
        here = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
        _same(here, np.broadcast_to(there, np.broadcast_shapes(np.shape(there), here.shape)), str(claim.id))
        if function is of_all and bool((there > 0).any()):
            raise Unread("a fact that the setting states of all states fails in one")
        if algorithm is not None and function is algorithm.invariant and bool((there != 0).any()):
            raise Unread("a state violates the invariant of the method")
    for of, strict in claim.setting.hints.signs if case.signs else ():
        numbers = np.asarray(of(problem, params))
        if not bool((numbers > 0 if strict else numbers >= 0).all()):
            raise Unread("a fact that the setting states of all constants fails for some")
    if case.program is not None:
        algorithm = claim.statement.algorithm
        draw = algorithm.draws(problem, params, state).sample(rng, lead)
        after = algorithm.step(problem, params, state, draw)
        program = case.program
        if _loops(program.step.values()):
            program = read(algorithm, problem, params, counts)
        for name, value in step(program, problem, params, state, draw).items():
            _same(value, np.broadcast_to(getattr(after, name), value.shape), f"the part {name} after a step")
    return True


def _loops(terms: Iterable[Term]) -> bool:
    """Return True if terms depend on the result of a loop that ends at a letter."""
    return any(term.op is Op.ANY for term in parts(*terms))


def _full(value: Any, term: Term, problem: Any, lead: tuple[int, ...]) -> Array:
    """Return a value with all axes of its term, after those of the replicas; values over all draws have them
    already.
    """
    if Axis.DRAWS in term.type.axes:
        return np.asarray(value)
    return np.broadcast_to(value, shape(term, problem, lead))


def _same(here: Array, there: Array, what: str) -> None:
    whole = are_fractions(here) and are_fractions(there)
    if not (bool((here == there).all()) if whole else np.allclose(here.astype(float), there.astype(float))):
        raise Unread(f"{what} is not what was read there")
