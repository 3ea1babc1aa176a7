"""The content of a claim, read for all n, d, letters and states: its problem, parameters, quantities and hypotheses.

The world comes from the claim's setting alone. The parts of a state are read off the fixed point, whose shape every
state of the setting has, or observed at instances of several sizes if this package's own recipes make the states; the
kinds of the parameters are those that they have at all instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isfunction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.problems.oracles import Oracle
from fedtheory.settings.hypotheses import of_each
from verify.base.case import Case
from verify.reading import data, known, oracles, terms, theory
from verify.reading.arrays import as_term
from verify.reading.drawable import undrawable_in
from verify.reading.program import AtStart, StepProgram, held, is_made_by, law_of, parameter, parts_after, theirs
from verify.reading.reader import Reader
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, Type, parts
from verify.reading.values import Condition, Named, NamedTupleValue, Several, Unknown, is_ours, is_record_class


@dataclass(frozen=True, eq=False)
class CodePath:
    """The content of a claim on one path through the conditions on letters in its code.

    ``conditions``: these, each with its answer; ``raising``: conditions under which the code that was read raises an
    error; ``quotients``: all that were formed, used or not, each with the number of conditions met before; ``letters``:
    the terms of those letters of the claim that can be read; ``quantities``: the terms that each function computes, by
    the function, and ``axis``: the axis along which a function puts several side by side; ``types``: of the parts of a
    state; ``program``: the step of the method, if the claim involves one; ``known``: the terms that the setting
    declares to be at most 0 in all states, if requested, side by side on ``known_axis``; ``masks``: those that
    hypotheses make true; ``signs``: numbers of each client that the setting declares nonnegative, or positive.
    """

    conditions: tuple[tuple[Condition, bool], ...]
    raising: tuple[tuple[str, Condition], ...]
    letters: Mapping[sympy.Expr, Term]
    quantities: Mapping[Any, tuple[Term, ...]]
    axis: int
    types: Mapping[str, Type]
    program: StepProgram | None
    known: tuple[Term, ...] = ()
    known_axis: int = -1
    masks: tuple[Term, ...] = ()
    signs: tuple[tuple[Term, bool], ...] = ()
    quotients: tuple[tuple[Term, int], ...] = ()

    @property
    def whose(self) -> frozenset[str]:
        """The parameters that name a client."""
        found = parts(*self.letters.values(), *(term for several in self.quantities.values() for term in several))
        return frozenset(str(term.data) for term in found if term.op is Op.CLIENT)


@dataclass(frozen=True, eq=False)
class Scene:
    """The arguments that functions of a claim are called with."""

    problem: Any
    params: Any
    state: Any
    types: Mapping[str, Type]
    with_g: bool


def cases(
    claim: Claim, instances: Sequence[Instance], functions: Sequence[Any], stepping: bool, known_too: bool = False
) -> Iterator[CodePath]:
    """Yield the terms that ``functions(problem, params, state)`` of a claim compute, on every path on which its
    hypotheses may hold.

    ``instances``: some that meet the hypotheses, in fractions; ``stepping``: True to read the step too; ``known_too``:
    True to read the inequalities that the setting declares for all states. Raise ``Unread`` with the reason if the code
    cannot be read.
    """
    hints = claim.setting.hints
    if not theory.holds(hints.signs) or (known_too and not theory.vouches(claim.setting)):
        # Runs at instances show nothing of other constants and states.
        raise Unread("what the setting says of all constants and states is not code of this package's theory")
    reader = Reader(known.FUNCTIONS, ())
    for _ in reader.paths():
        scene = _scene(claim, instances, reader)
        masks = _masks(claim, reader, scene)
        if masks is not None:
            of_all = claim.setting.hints.known if known_too else None
            signs = _signs(claim, reader, scene)
            yield replace(_case(claim, reader, scene, functions, stepping, of_all), masks=masks, signs=signs)


def _case(
    claim: Claim, reader: Reader, scene: Scene, functions: Sequence[Any], stepping: bool, of_all: Any
) -> CodePath:
    given = scene.problem, scene.params, scene.state
    letters = dict(_letters(claim, reader, scene))
    values = {function: _called(reader, function, scene) for function in functions}
    # An invariant is compared with nothing.
    kept = None if claim.setting.algorithm is None else claim.setting.algorithm.invariant
    if len({_axes(value) for function, value in values.items() if function is not kept}) > 1:
        raise Unread("the compared arrays are stacked differently")
    axis = next((value.axis for value in values.values() if isinstance(value, Several)), -1)
    found = {function: _terms(value) for function, value in values.items()}
    program = None
    if stepping:
        algorithm = claim.statement.algorithm
        if algorithm.schedules:
            raise Unread(f"parameters of {algorithm.name} vary with the round")
        law = law_of(reader, algorithm, given)
        after = reader.call_step(theirs(algorithm.step, algorithm.State), *given, oracles.drawn(law))
        letter_types = {name: value.type for name, value in scene.params.fields.items() if isinstance(value, Term)}
        step = parts_after(after, scene.types)
        program = StepProgram(algorithm.name, scene.types, letter_types, {}, scene.with_g, law, step, reader.raising)
    of_states: tuple[Term, ...] = ()
    axis_of_states = -1
    if of_all is not None:
        declared = reader.call(theirs(of_all), *given)
        of_states, axis_of_states = _terms(declared), getattr(declared, "axis", -1)
    enumerated = undrawable_in(term for several in (*found.values(), of_states) for term in several)
    taken, raising, quotients = tuple(reader.taken), (*reader.raising, *enumerated), tuple(reader.quotients)
    return CodePath(
        taken, raising, letters, found, axis, scene.types, program, of_states, axis_of_states, quotients=quotients
    )


def _called(reader: Reader, function: Any, scene: Scene) -> Any:
    """The value of a quantity of a state, or of where runs begin."""
    state = scene.state
    if isinstance(function, AtStart):
        given = {name: state.fields[name] for name in function.free}
        init = theirs(function.algorithm.init, function.algorithm.State)
        function, state = function.of, reader.call_with(init, (scene.problem, scene.params), given)
    return reader.call(theirs(function), scene.problem, scene.params, state)


def _signs(claim: Claim, reader: Reader, scene: Scene) -> tuple[tuple[Term, bool], ...]:
    """Return the numbers of each client whose signs the setting or a hypothesis declares."""
    given = scene.problem, scene.params
    found = [(as_term(reader.call(theirs(of), *given)), strict) for of, strict in claim.setting.hints.signs]
    # Instances have no others.
    own = (scene.params.fields[name] for name in claim.setting.own)
    found += [(term, True) for term in own if isinstance(term, Term)]
    return (*found, *((term, False) for term in _of_each(claim, reader, scene)))


def _of_each(claim: Claim, reader: Reader, scene: Scene) -> Iterator[Term]:
    """Yield the numbers of each client that hypotheses declare nonnegative; nothing is assumed of those that cannot be
    read.
    """
    for hypothesis in claim.requires:
        met = theirs(hypothesis.met)
        if not isfunction(met) or not is_made_by(met, of_each):
            continue
        try:
            term = as_term(_of_hypothesis(held(met, "numbers"), reader, scene))
        except Unread:
            continue
        if term.type.axes == (Axis.CLIENTS,) and not term.type.degree:
            yield term


def _of_hypothesis(function: Any, reader: Reader, scene: Scene) -> Any:
    """Return the value of a hypothesis given as code. What raises an error there is dropped: a hypothesis that cannot
    be decided is not met. Raise ``Unread`` if its code is not read."""
    before, made = len(reader.raising), len(reader.quotients)
    try:
        return reader.call(theirs(function), scene.problem, scene.params)
    finally:
        del reader.raising[before:], reader.quotients[made:]


def _terms(value: Any) -> tuple[Term, ...]:
    return value.of if isinstance(value, Several) else (as_term(value),)


def _axes(value: Any) -> tuple[Any, ...]:
    """Return the axis on which a function puts arrays side by side, then the axes of each."""
    return (value.axis, *(term.type.axes for term in value.of)) if isinstance(value, Several) else ()


def _masks(claim: Claim, reader: Reader, scene: Scene) -> tuple[Term, ...] | None:
    """Return the masks that hypotheses given as code make true; None if these do not hold on this path. Those that
    cannot be read may.
    """
    found: list[Term] = []
    for hypothesis in claim.requires:
        if hypothesis.met is None or hypothesis.states_membership(claim.setting.classes):
            continue
        try:
            value = _of_hypothesis(hypothesis.met, reader, scene)
        except Unread:
            continue
        if value is False or (isinstance(value, Condition) and not reader.answered(value)):
            return None
        if isinstance(value, Term) and value.type.mask and not value.type.axes:
            found.append(value)
    return tuple(found)


def _letters(claim: Claim, reader: Reader, scene: Scene) -> Iterator[tuple[sympy.Expr, Term]]:
    """Yield the letters of a claim that can be read, each with its term.

    Errors that their sources may raise are kept: without a value of a letter there is no statement.
    """
    for letter, source in claim.setting.sources.items():
        before, made = len(reader.raising), len(reader.quotients)
        try:
            if callable(source):
                value = reader.call(theirs(source), scene.problem, scene.params)
            else:
                value = _named(source, reader, scene)
            term = as_term(value)
        except ValueError:
            del reader.raising[before:], reader.quotients[made:]
            continue
        # A number of each client is not a letter: a statement is about one number.
        if not term.type.axes:
            yield letter, term


def _named(source: str, reader: Reader, scene: Scene) -> Any:
    """Return the value of a source that is a name, looked up as ``fedtheory.instances.value_of`` does."""
    of_problem = getattr(scene.problem, "fields", {})
    if source == "kappa" and of_problem:
        return terms.divide(as_term(of_problem["L"]), as_term(of_problem["mu"]))
    for fields in (of_problem if source in ("mu", "L", "n", "d") else {}, scene.params.fields):
        if source in fields:
            return fields[source]
    of_compressors = getattr(scene.params.fields.get("compressors"), "fields", {})
    if source in of_compressors:
        return of_compressors[source]
    raise ValueError(f"nothing is known of {source}")


# Arguments of functions


def scene_at(case: Case, reader: Reader) -> Scene:
    """Return the arguments of a claim's functions, with the parameters that are not letters as in one instance."""
    clients = set(case.setting.clients)
    reader.clients = max(clients) if len(clients) == 1 else 0
    return _scene(case.claim, [case.instance], reader, True)


def _scene(claim: Claim, instances: Sequence[Instance], reader: Reader, there: bool = False) -> Scene:
    problems = [_problem_of(claim, instance, there) for instance in instances]
    if not instances or any(kind != problems[0] for kind in problems):
        raise Unread("the instances have problems of several types, or there is no instance")
    of, with_g, single, resolvents, of_g, blocks = problems[0]
    if of is LinearProblem:
        problem = data.problem([instance.problem for instance in instances], reader)
    elif of is None or of is Problem:
        problem = oracles.problem(with_g, single, resolvents, fixed=True, of_g=of_g, blocks=blocks)
    else:
        raise Unread(f"problems are of the unknown type {of.__name__}")
    params = _params(claim, instances, reader, there)
    part_types = _types(claim, instances, reader, problem, params)
    State: Any = type(_state(instances[0]))
    if not is_record_class(State) or set(State._fields) != set(part_types):
        raise Unread(f"states of {claim.id} have code of their own, or undeclared parts")
    # Code that unpacks a state, or makes one of a tuple, uses the order of its class.
    types = {name: part_types[name] for name in State._fields}
    state = NamedTupleValue(State, {name: terms.leaf(Op.PART, name, kind) for name, kind in types.items()})
    return Scene(None if of is None else problem, params, state, types, with_g)


def _state(instance: Instance) -> Any:
    zero = np.zeros((1, instance.dimension), dtype=int)
    return instance.at(zero)[1]


def _problem_of(claim: Claim, instance: Instance, there: bool) -> tuple[Any, bool, bool, bool, bool, int]:
    """Return the type of a problem, and if it has a g, if there is only ever one client, if the f_i and g have
    resolvents, and the number of blocks of coordinates.
    """
    problem = instance.problem
    single = set(claim.setting.clients) == {1}
    if problem is None:
        return None, False, single, False, False, 0
    if type(problem) is Problem and not there and not is_ours(type(problem.f)):
        raise Unread(f"functions of type {type(problem.f).__name__} may be anything")
    f, g = getattr(problem, "f", None), getattr(problem, "g", None)
    split = getattr(problem, "blocks", None)
    blocks = 0 if split is None else len(split.sizes)
    return type(problem), g is not None, single, hasattr(f, "resolvent"), hasattr(g, "resolvent"), blocks


def _params(claim: Claim, instances: Sequence[Instance], reader: Reader, there: bool) -> NamedTupleValue:
    """Return the values of the parameters, each of one kind at all instances; ``there``: only these instances are
    meant.
    """
    cls = type(instances[0].params)
    if not is_record_class(cls):
        raise Unread("parameters have code of their own")
    symbolic: dict[str, Any] = {}
    make = claim.setting.drawing.parameters
    ours = there or theory.holds(make)
    numbers = {*claim.setting.own, *(v for v in claim.setting.sources.values() if isinstance(v, str))}
    for name in cls._fields:
        if not ours and name not in numbers:
            symbolic[name] = Unknown(f"the parameter {name}, which code outside the theory makes, may be anything")
            continue
        found = [_parameter(claim, reader, name, instance, there) for instance in instances]
        if any(not _alike(value, found[0]) for value in found):
            symbolic[name] = Unknown(f"the parameter {name}, which is of different kinds at different instances")
        else:
            # A parameter that is neither a letter nor a compressor has one value here, and may have others elsewhere.
            known_kind = isinstance(found[0], Term | Named | Unknown) or (there and type(found[0]) in (str, bool))
            symbolic[name] = found[0] if known_kind else Unknown(f"the parameter {name}, whose value is not known")
    return NamedTupleValue(cls, symbolic)


def _parameter(claim: Claim, reader: Reader, name: str, instance: Instance, there: bool) -> Any:
    drawing, value = claim.setting.drawing, getattr(instance.params, name)
    if set(claim.setting.clients) == {1} and (one := oracles.compressors(name, value, True)) is not None:
        return one
    if there and type(value) is Oracle:
        return oracles.oracle(name)
    if name in ("n", "d") and not (claim.setting.functions or drawing.special or drawing.parameters):
        # In a setting without functions these are the sizes of its states.
        return terms.leaf(Op.COUNT, name, terms.NUMBER)
    return parameter(reader, name, value, _sizes(instance)[0], {})


def _sizes(instance: Instance) -> tuple[int, int]:
    """Return n and d; without a problem, n is the length of the first parameter that is an array."""
    if instance.problem is not None:
        return instance.problem.n, instance.problem.d
    return next((len(value) for value in instance.params if isinstance(value, np.ndarray) and value.ndim == 1), 0), 0


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Term) and isinstance(other, Term):
        return one.type == other.type
    if isinstance(one, Named) and isinstance(other, Named):
        return one.what == other.what and one.fields.keys() == other.fields.keys()
    return not isinstance(one, Term | Named) and not isinstance(other, Term | Named)


def _types(
    claim: Claim, instances: Sequence[Instance], reader: Reader, problem: Named, params: NamedTupleValue
) -> dict[str, Type]:
    """Return the types of the parts of a state."""
    algorithm = claim.setting.algorithm
    if claim.setting.drawing.special is not None or algorithm is None:
        return types_seen(claim, instances)
    centre = theirs(algorithm.fixed_point, algorithm.State)
    before, made = len(reader.raising), len(reader.quotients)
    found = reader.call(centre, problem, params)
    fields: tuple[str, ...] = algorithm.State._fields
    if type(found) is tuple and len(found) == len(fields):
        found = NamedTupleValue(None, dict(zip(fields, found, strict=True)))
    del reader.raising[before:], reader.quotients[made:]
    if not isinstance(found, NamedTupleValue):
        raise Unread(f"the fixed point of {algorithm.name} is not a state")
    axes = {name: as_term(value).type.axes for name, value in found.fields.items()}
    return {name: Type(of, True, int(Axis.COORDINATES in of)) for name, of in axes.items()}


def types_seen(claim: Claim, instances: Sequence[Instance]) -> dict[str, Type]:
    """Return the types of the parts of a state, from their shapes at all instances; only for recipes of this
    package.
    """
    build = claim.setting.drawing.special
    if build is None or not _is_theory(build.build):
        raise Unread("the shapes of a state are not known for every n and d")
    found: dict[str, Type] | None = None
    sizes: set[tuple[int, ...]] = set()
    for instance in instances:
        n, d = _sizes(instance)
        if n < 2 or n == d:
            continue
        names = {n: Axis.CLIENTS, d: Axis.COORDINATES}
        if isinstance(instance.problem, LinearProblem):
            examples = instance.problem.f.examples
            if examples in names:
                continue
            names[examples] = Axis.EXAMPLES
        here: dict[str, Type] = {}
        state = _state(instance)
        if not is_record_class(type(state)):
            raise Unread("a state is not a NamedTuple")
        for name, value in state._asdict().items():
            shape = np.shape(value)[2:]
            if not set(shape) <= set(names):
                raise Unread(f"the part {name} of a state has the shape {shape}, with n = {n} and d = {d}")
            axes = tuple(names[k] for k in shape)
            here[name] = Type(axes, True, int(Axis.COORDINATES in axes))
        if found is not None and here != found:
            raise Unread("the shapes of a state differ from instance to instance")
        found = here
        sizes.add(tuple(names))
    return found if found is not None and len(sizes) > 1 else _types_of_varied(instances)


def _types_of_varied(instances: Sequence[Instance]) -> dict[str, Type]:
    """Return the same where the sizes of some axes do not vary: each axis of a part is the only one with its
    length at all instances, and has had two lengths."""
    found: dict[str, list[tuple[int, ...]]] = {}
    lengths: dict[Axis, list[int]] = {axis: [] for axis in (Axis.CLIENTS, Axis.COORDINATES, Axis.EXAMPLES)}
    for instance in instances:
        n, d = _sizes(instance)
        examples = instance.problem.f.examples if isinstance(instance.problem, LinearProblem) else 0
        for axis, length in zip(lengths, (n, d, examples), strict=True):
            lengths[axis].append(length)
        state = _state(instance)
        if not is_record_class(type(state)):
            raise Unread("a state is not a NamedTuple")
        for name, value in state._asdict().items():
            found.setdefault(name, []).append(np.shape(value)[2:])
    types = {}
    for name, shapes in found.items():
        if len(shapes) < len(instances) or len({len(shape) for shape in shapes}) > 1:
            raise Unread("the shapes of a state differ from instance to instance")
        axes = []
        for seen in map(list, zip(*shapes, strict=True)):
            alike = [axis for axis, several in lengths.items() if several == seen]
            if len(alike) != 1 or len(set(seen)) < 2:
                raise Unread("the shapes of a state were observed at one size only")
            axes += alike
        types[name] = Type(tuple(axes), True, int(Axis.COORDINATES in axes))
    return types


def _is_theory(function: Any) -> bool:
    """Return True if a function is defined in a file of this package's theory."""
    inner = getattr(function, "func", function)
    code = getattr(inner, "__code__", None)
    return code is not None and theory.is_file(code.co_filename)
