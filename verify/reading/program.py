"""A method as it is read: its draws and its step as terms, in which n, d and its letters are indeterminates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from inspect import Parameter, isfunction, signature
from typing import Any

import numpy as np

from fedtheory.algorithms import base
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.parts import RESTING, Start, at_optimum
from fedtheory.numbers import literals
from fedtheory.problems.base import Problem
from verify.reading import known, oracles, terms, theory
from verify.reading.arrays import as_term, axis_of
from verify.reading.delays import delays
from verify.reading.drawable import undrawable, undrawable_in
from verify.reading.reader import Reader
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, Type, parts
from verify.reading.values import Condition, Law, NamedTupleValue, Several, Unknown, is_record_class

#: The functions of this package that wrap the author's, and the name of these in them: their effect is computed here.
_HOLDERS = {
    literals.in_fractions: "function",
    base.beginning: "made",
    base.stepping: "step",
    base.drawing: "draws",
}


@dataclass(frozen=True, eq=False)
class StepProgram:
    """One step of a method, as terms.

    ``parts``: the types of the parts of a state; ``letters``: of its parameters that are indeterminates; ``fixed``:
    parameters with known values, for which alone this was read; ``with_g``: True if the problem has a g; ``law``: of
    the draws; ``step``: the terms of each part after it; ``raising``: conditions under which it raises an error.
    """

    name: str
    parts: Mapping[str, Type]
    letters: Mapping[str, Type]
    fixed: Mapping[str, Any]
    with_g: bool
    law: Law
    step: Mapping[str, Term]
    raising: Sequence[tuple[str, Condition]]


def read(
    algorithm: Algorithm,
    problem: Any,
    params: Any,
    counts: Mapping[str, int] | None = None,
    stepping: bool = True,
) -> StepProgram:
    """Read a step of an algorithm, for all n, d and letters; without ``stepping`` only the types of its states.

    ``problem``, ``params``: an example, which shows the types of the parameters, the shapes of a state, and whether
    functions have resolvents; its n and d differ, and d is not 1. If n is 1, this is read for a single client alone.
    ``counts``: parameters that are to be the numbers given, as where loops run to them. Raise ``Unread`` with the
    reason if the code cannot be read.
    """
    world = _Given.of(algorithm, problem, params, counts or {})
    law, step = Law("constant"), dict[str, Term]()
    if stepping:
        law = law_of(world.reader, algorithm, world.given)
        after = world.reader.call_step(theirs(algorithm.step, algorithm.State), *world.given, oracles.drawn(law))
        step = parts_after(after, world.types)
    symbolic = world.given[1].fields
    _check_used(world.reader, *step.values(), *law.terms())
    return StepProgram(
        algorithm.name,
        world.types,
        {name: value.type for name, value in symbolic.items() if isinstance(value, Term)},
        {name: value for name, value in symbolic.items() if not isinstance(value, Term | known.Named | Unknown)},
        problem.g is not None,
        law,
        step,
        world.reader.raising,
    )


def law_of(reader: Reader, algorithm: Algorithm, given: Sequence[Any]) -> Law:
    """Return the law of a step's draws, given a problem, parameters and a state, and note where there is none.

    Raise ``Unread`` if it is not a distribution, or if several clients share one draw.
    """
    law = reader.call(theirs(algorithm.draws), *given)
    if not isinstance(law, Law):
        raise Unread(f"{algorithm.name} draws from something that is not a distribution")
    if _is_shared(law) and given[0].fields.get("n") != 1:
        raise Unread(f"{algorithm.name} draws once for all clients")
    reader.raising += undrawable(law)
    return law


def _is_shared(law: Law) -> bool:
    """Return True if some part of a distribution is one draw, and not one for each client."""
    once = law.name == "independent" and axis_of(law.of[1]) is Axis.ONE
    return once or any(_is_shared(part) for part in law.of if isinstance(part, Law))


def quantities(
    function: Any,
    algorithm: Algorithm,
    problem: Any,
    params: Any,
    counts: Mapping[str, int] | None = None,
    raising: list[tuple[str, Condition]] | None = None,
) -> tuple[Term, ...]:
    """Return the terms that ``function(problem, params, state)`` computes, read as :func:`read` reads a step.

    One term, or several that it gives side by side, as invariants do. ``raising``: gets the conditions under which it
    raises an error.
    """
    world = _Given.of(algorithm, problem, params, counts or {})
    if isinstance(function, AtStart):
        found = _called(world, function.of, algorithm, _begun(world, algorithm, function.free))
    else:
        found = _called(world, function, algorithm, world.given[2])
    several = found.of if isinstance(found, Several) else (as_term(found),)
    _check_used(world.reader, *several)
    if raising is not None:
        raising += [*world.reader.raising, *undrawable_in(several)]
    return several


@dataclass(frozen=True)
class AtStart:
    """A quantity where runs begin, the parts ``free`` as they are in the state."""

    of: Any
    algorithm: Algorithm
    free: tuple[str, ...]

    def __call__(self, problem: Problem, params: object, state: object) -> Any:
        """Return the quantity where runs begin."""
        begun = self.algorithm.init(problem, params, **{name: getattr(state, name) for name in self.free})
        return self.of(problem, params, begun)


@dataclass(frozen=True)
class Exchanged:
    """A quantity of a state with some parts exchanged for other parts of it, by their names."""

    of: Any
    parts: tuple[tuple[str, str], ...]

    def __call__(self, problem: Problem, params: object, state: Any) -> Any:
        """Return the quantity of the changed state."""
        return self.of(problem, params, state._replace(**{name: getattr(state, other) for name, other in self.parts}))


def _called(world: _Given, function: Any, algorithm: Algorithm, state: Any) -> Any:
    """The term of a quantity of a state."""
    if isinstance(function, Exchanged):
        parts = parts_after(state, world.types)
        parts |= {name: parts[other] for name, other in function.parts}
        function, state = function.of, NamedTupleValue(algorithm.State, parts)
    return world.reader.call(theirs(function), *world.given[:2], state)


def _check_used(reader: Reader, *results: Term) -> None:
    """Raise ``Unread`` if a quotient is formed but occurs in none of the terms: its divisor may still be zero."""
    used = {id(term) for term in parts(*results)}
    for quotient, _ in reader.quotients:
        if id(quotient) not in used and any(t.op not in (Op.COUNT, Op.CONSTANT) for t in parts(quotient.of[-1])):
            raise reader.formed[id(quotient)]


def at_start(function: Any, algorithm: Algorithm, problem: Any, params: Any, free: Sequence[str]) -> tuple[Term, ...]:
    """Return the terms that ``function(problem, params, state)`` computes at the initial state, with the parts ``free``
    arbitrary.
    """
    world = _Given.of(algorithm, problem, params, {})
    found = _called(world, function, algorithm, _begun(world, algorithm, free))
    return found.of if isinstance(found, Several) else (as_term(found),)


def state_at_start(algorithm: Algorithm, problem: Any, params: Any, free: Sequence[str]) -> dict[str, Term]:
    """Return the parts of the initial state, with those in ``free`` arbitrary."""
    world = _Given.of(algorithm, problem, params, {})
    return parts_after(_begun(world, algorithm, free), world.types)


def _begun(world: _Given, algorithm: Algorithm, free: Sequence[str]) -> Any:
    kept = {name: terms.leaf(Op.PART, name, world.types[name]) for name in free}
    return world.reader.call_with(theirs(algorithm.init, algorithm.State), world.given[:2], kept)


def fixed_point(algorithm: Algorithm, problem: Any, params: Any) -> Mapping[str, Term]:
    """Return the parts of the fixed point of an algorithm, in the order of its state, read as :func:`read` reads a
    step.
    """
    world = _Given.of(algorithm, problem, params, {})
    found = world.reader.call(theirs(algorithm.fixed_point, algorithm.State), *world.given[:2])
    if not isinstance(found, NamedTupleValue) or set(found.fields) != set(world.types):
        raise Unread(f"the fixed point of {algorithm.name} is not a state")
    return {name: as_term(found.fields[name]) for name in world.types}


def source(
    of: Any, algorithm: Algorithm, problem: Any, params: Any, raising: list[tuple[str, Condition]] | None = None
) -> Term:
    """Return the number ``of(problem, params)``, read as :func:`read` reads a step.

    ``raising``: gets the conditions under which it raises an error.
    """
    world = _Given.of(algorithm, problem, params, {})
    found = as_term(world.reader.call(theirs(of), *world.given[:2]))
    _check_used(world.reader, found)
    if raising is not None:
        raising += world.reader.raising
    return found


@dataclass(frozen=True, eq=False)
class _Given:
    """The arguments of an algorithm's functions, and the types of the parts of a state."""

    reader: Reader
    given: tuple[known.Named, NamedTupleValue, NamedTupleValue]
    types: Mapping[str, Type]

    @classmethod
    def of(cls, algorithm: Algorithm, problem: Any, params: Any, counts: Mapping[str, int]) -> _Given:
        if problem.n == problem.d or problem.d == 1:
            raise ValueError("in the example n and d differ, and d is not 1")
        if algorithm.schedules:
            raise Unread(f"parameters of {algorithm.name} vary with the round")
        if not is_record_class(algorithm.State) or not is_record_class(type(params)):
            raise Unread(f"the states or parameters of {algorithm.name} have code of their own")
        reader = Reader(known.FUNCTIONS)
        types = parts_of(algorithm, problem, params)
        # If no part of the state is of the clients, the messages of a single one are points.
        points = problem.n == 1 and not any(Axis.CLIENTS in kind.axes for kind in types.values())
        fields = {
            name: parameter(reader, name, value, problem.n, counts, points) for name, value in params._asdict().items()
        }
        if problem.n == 1 and any(isinstance(v, Term) and Axis.CLIENTS in v.type.axes for v in fields.values()):
            raise Unread(f"{algorithm.name} has parameters of each client's own, and there is only one")
        state = NamedTupleValue(
            algorithm.State, {name: terms.leaf(Op.PART, name, kind) for name, kind in types.items()}
        )
        resolvents = [hasattr(getattr(problem, of, None), "resolvent") for of in ("f", "g")]
        named = problem.n if getattr(problem, "named", False) else 0
        if named and any(Axis.CLIENTS in kind.axes for kind in types.values()):
            raise Unread(f"{algorithm.name} has a vector of each client, and the functions have names: write points")
        given = oracles.problem(
            problem.g is not None,
            problem.n == 1,
            resolvents[0],
            of_g=resolvents[1],
            named=named,
            sets=oracles.of_sets(problem),
            coupling=getattr(problem, "coupling", None),
            reference=getattr(problem, "reference", None) is not None,
        )
        return cls(reader, (given, NamedTupleValue(type(params), fields), state), types)


def parameter(
    reader: Reader, name: str, value: Any, n: int | None, counts: Mapping[str, int], points: bool = False
) -> Any:
    """Return the symbolic value of a parameter: a letter, a letter of each of n clients, compressors, or a constant.

    ``points``: the messages of a single client are points, not the row of one client.
    """
    if name in counts:
        return counts[name]
    if isinstance(value, np.ndarray):
        if value.shape not in ((), (n,)):
            return Unknown(f"the parameter {name}, an array of shape {value.shape}")
        whole = value.dtype.kind in "iu"
        return terms.leaf(Op.LETTER, name, Type((Axis.CLIENTS,) if value.shape else ()), whole)
    if type(value) is tuple and len(value) == n and all(type(v) is bool for v in value):
        return terms.leaf(Op.LETTER, name, Type((Axis.CLIENTS,), mask=True))
    if not isinstance(value, bool) and isinstance(value, int | float | Fraction | np.number):
        return terms.leaf(Op.LETTER, name, terms.NUMBER, isinstance(value, int | np.integer))
    known_kind = oracles.compressors(name, value, points) or oracles.adversary(name, value, reader.is_in_step)
    known_kind = known_kind or oracles.mixing(name, value, n == 1) or delays(name, value, n == 1, reader.is_in_step)
    return known_kind or reader.lifted(value)


def parts_of(algorithm: Algorithm, problem: Any, params: Any) -> dict[str, Type]:
    """Return the types of the parts of a state, from their shapes at the example."""
    found = {}
    axes = {problem.n: Axis.CLIENTS, problem.d: Axis.COORDINATES, 1: Axis.ONE}
    given = list(signature(algorithm.init).parameters.values())[2:]
    asks = any(part.default is Parameter.empty and part.kind is not Parameter.VAR_KEYWORD for part in given)
    # A method that only defines a point has no start.
    state = (algorithm.fixed_point if asks else algorithm.init)(problem, params)
    for name, value in state._asdict().items():
        shape = np.shape(value)
        if not set(shape) <= set(axes):
            raise Unread(f"the part {name} of a state of {algorithm.name} has the shape {shape}")
        found[name] = Type(tuple(axes[k] for k in shape), True, int(problem.d in shape))
    return found


def parts_after(after: Any, types: Mapping[str, Type]) -> dict[str, Term]:
    """Return the parts of the result of a step, a NamedTuple, a mapping or a tuple, each of the type that it had."""
    if type(after) is tuple and len(after) == len(types):
        after = NamedTupleValue(None, dict(zip(types, after, strict=True)))
    if not isinstance(after, NamedTupleValue) or set(after.fields) != set(types):
        raise Unread("a step returns parts other than those of a state")
    found = {name: as_term(after.fields[name]) for name in types}
    for name, term in found.items():
        if term.type.axes != types[name].axes or term.type.degree not in (types[name].degree, terms.ANY_DEGREE):
            raise Unread(f"the part {name} of a state is {types[name]}, and after a step {term.type}")
    return found


def theirs(function: Any, State: type | None = None) -> Any:
    """Return the author's function without this package's wrappers; ``State``: the class that a step is to return."""
    while isfunction(function):
        holder = next((holder for holder in _HOLDERS if is_made_by(function, holder)), None)
        if holder is None:
            return function
        if holder is base.stepping and held(function, "State") is not State:
            raise Unread("a step returns states of a different class")
        function = held(function, _HOLDERS[holder])
    if type(function) is partial:
        return partial(theirs(function.func), *function.args, **function.keywords)
    return function


def starts_as_declared(init: Any, State: type) -> bool:
    """Return True if an ``init`` is the one that ``method`` supplies where the author gives none."""
    return type(init) is Start and init.State is State and theory.holds(init.starts)


def kinds_at_rest(algorithm: Algorithm) -> Mapping[str, str] | None:
    """Return the kinds of the parts of a state, if ``method`` supplies the fixed point; None if the author does."""
    centre: Any = algorithm.fixed_point
    if type(centre) is not partial or centre.func is not at_optimum or centre.keywords or len(centre.args) != 2:
        return None
    State, parts = centre.args
    found = [next((kind for kind, at in RESTING.items() if at is part), None) for part in parts]
    if State is not algorithm.State or None in found:
        return None
    return dict(zip(State._fields, found, strict=True))


def is_made_by(function: Any, holder: Any) -> bool:
    """Return True if a function is the inner function that ``holder`` returns."""
    holders = [holder, literals._reading.__wrapped__] if holder is literals.in_fractions else [holder]
    code = getattr(function, "__code__", None)
    return any(code is inner for h in holders for inner in h.__code__.co_consts if code)


def held(function: Any, name: str) -> Any:
    """Return the value that a function closes over under this name."""
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents
