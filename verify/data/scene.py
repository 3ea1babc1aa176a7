"""The arguments of functions of a claim about data, and the known relations between its letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.agreement import Agreement
from fedtheory.learning.lower_bounds import Copies, Examples
from fedtheory.numbers.rational import exact
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from verify.data import arrays, comparing, copies, nodes, own_functions
from verify.data.arrays import Array, AtMost, Greatest
from verify.data.comparing import REPLICAS, There
from verify.data.problem import SMOOTHNESS, STRENGTH, problem
from verify.data.reader import PART, DataReader
from verify.data.space import COUNTS, LEAST, SIZE, SUMMED, Product, Space
from verify.data.squares import Fact
from verify.data.stacked import SideBySide
from verify.exact import reals, symbolic
from verify.reading import theory
from verify.reading.claimed import types_seen
from verify.reading.declarations import declarations
from verify.reading.program import theirs
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.reading.values import (
    Condition,
    Made,
    Named,
    NamedTupleValue,
    Rule,
    Unknown,
    is_keeper,
    is_record_class,
    relation_of,
)

#: The prefix of the names of parameters, and the name of what is drawn.
PARAMETER, DRAW = "params.", "a draw"


@dataclass(frozen=True)
class Ground:
    """The letters of a claim as elements of the field, and the relations between them that are known."""

    names: Mapping[sympy.Symbol, sympy.Expr]
    relations: tuple[sympy.Basic, ...]
    letters: Mapping[sympy.Expr, Array]
    facts: tuple[Fact, ...]
    given: tuple[Mapping[Product, Any], ...] = ()
    bounded: tuple[AtMost, ...] = ()

    def expression(self, c: Any) -> sympy.Expr:
        """Return an element of the field in the letters of the claim."""
        return c.as_expr().xreplace(dict(self.names))

    def is_nonzero(self, c: Any) -> bool:
        """Return True if an element of the field is nonzero for all values of the letters."""
        _, factors = c.numer.factor_list()
        made = [self.expression(c.field(factor)) for factor, _ in factors]
        return bool(c) and all(f.is_nonzero or reals.implied(sympy.Ne(f, 0), self.relations) for f in made)

    def is_at_least_zero(self, c: Any, strictly: bool = False) -> bool:
        """Return True if an element of the field is at least 0, or above it, for all values of the letters."""
        number = self.expression(c)
        sign = number.is_positive if strictly else number.is_nonnegative
        by = sympy.Gt if strictly else sympy.Ge
        return bool(sign) or reals.implied(by(number, 0, evaluate=False), self.relations)


@dataclass(frozen=True)
class Scene:
    """The arguments of a claim's functions."""

    problem: Named
    params: NamedTupleValue
    state: NamedTupleValue

    @property
    def given(self) -> tuple[Any, Any, Any]:
        """The problem, the parameters and the state."""
        return self.problem, self.params, self.state


def scene_of(
    claim: Claim,
    instances: Sequence[Instance],
    reader: DataReader,
    fixed: Mapping[str, Fraction],
    optimal: bool = False,
) -> Scene:
    """Return the arguments of a claim's functions; ``fixed``: letters that are numbers; ``optimal``: True if x* is
    known to be the minimiser.

    Raise ``Unread`` if something of them is not known.
    """
    space, first = reader.space, instances[0]
    space.alone = fixed.get(COUNTS[Axis.CLIENTS]) == 1
    if claim.setting.functions is not None:
        if claim.setting.drawing.parameters is None:
            return _scene_of_own_functions(claim, instances, reader, fixed)
        return _scene_on_nodes(claim, instances, reader, fixed)
    if any(type(instance.problem) is not LinearProblem for instance in instances):
        raise Unread("the problem is not one of labelled examples")
    made = problem([instance.problem for instance in instances], reader, fixed, optimal)
    if not is_record_class(type(first.params)):
        raise Unread("parameters have code of their own")
    types = types_seen(claim, instances)
    params = NamedTupleValue(
        type(first.params),
        {name: _parameter(space, name, instances, fixed) for name in type(first.params)._fields},
    )
    State = type(first.at(np.zeros((1, first.dimension), dtype=int))[1])
    parts = {name: arrays.leaf(space, PART + name, kind.axes, True) for name, kind in types.items()}
    state = NamedTupleValue(State, {name: parts[name] for name in State._fields})
    scene = Scene(made, params, state)
    return _invariant(claim, reader, scene)


def _scene_on_nodes(
    claim: Claim, instances: Sequence[Instance], reader: DataReader, fixed: Mapping[str, Fraction]
) -> Scene:
    """Return the arguments where the functions are of a class, and a parameter says how nodes hold them."""
    space, first, algorithm = reader.space, instances[0], claim.setting.algorithm
    make = claim.setting.drawing.parameters
    if any(type(i.problem) is not Problem or i.problem.g is not None for i in instances) or not theory.holds(make):
        raise Unread("the problem is not one of functions that nodes hold")
    if not is_record_class(type(first.params)) or algorithm is None or not is_record_class(algorithm.State):
        raise Unread("parameters or states have code of their own")
    sizes = nodes.dealt_out(instances)
    if sizes is None:
        space.copied = copies.counted(claim, instances)
    of_nodes = {
        sizes: lambda: arrays.leaf(space, SIZE, (Axis.CLIENTS,)),
        space.copied: lambda: arrays.letter(space, space.count(Axis.CLIENTS)),
    }
    params = NamedTupleValue(
        type(first.params),
        {
            name: of_nodes.get(name, partial(_parameter, space, name, instances, fixed))()
            for name in type(first.params)._fields
        },
    )
    made = nodes.problem(space) if space.copied is None else copies.problem(claim, reader)
    return _around_fixed_point(claim, reader, made, params)


def _scene_of_own_functions(
    claim: Claim, instances: Sequence[Instance], reader: DataReader, fixed: Mapping[str, Fraction]
) -> Scene:
    """Return the arguments where each client has a function of its own, of a class of which nothing is used."""
    space, first, algorithm = reader.space, instances[0], claim.setting.algorithm
    with_g = {i.problem.g is not None for i in instances if type(i.problem) is Problem}
    if any(type(i.problem) is not Problem for i in instances) or len(with_g) != 1:
        raise Unread("the problem is not one of a function of each client, always with a g, or always without")
    if not is_record_class(type(first.params)) or algorithm is None or not is_record_class(algorithm.State):
        raise Unread("parameters or states have code of their own")
    if set(claim.setting.drawing.g) != with_g or not declarations(claim.setting.functions).differentiable:
        raise Unread("functions are not known to have gradients")
    space.own = True
    fields = {name: _parameter(space, name, instances, fixed) for name in type(first.params)._fields}
    made = own_functions.problem(space, with_g.pop())
    return _around_fixed_point(claim, reader, made, NamedTupleValue(type(first.params), fields))


def _around_fixed_point(claim: Claim, reader: DataReader, made: Named, params: NamedTupleValue) -> Scene:
    """Return the arguments where the states have the shapes of the method's fixed point."""
    space, algorithm = reader.space, claim.setting.algorithm
    assert algorithm is not None
    centre = reader.call(theirs(algorithm.fixed_point, algorithm.State), made, params)
    if not isinstance(centre, NamedTupleValue) or centre.of is not algorithm.State:
        raise Unread("the fixed point of the method is not a state")
    parts = {name: one_array(part).axes for name, part in centre.fields.items()}
    state = {name: arrays.leaf(space, PART + name, axes, True) for name, axes in parts.items()}
    return _invariant(claim, reader, Scene(made, params, NamedTupleValue(algorithm.State, state)))


def _parameter(space: Space, name: str, instances: Sequence[Instance], fixed: Mapping[str, Fraction]) -> Any:
    values = [getattr(instance.params, name) for instance in instances]
    if all(isinstance(v, int | float | Fraction) and type(v) is not bool for v in values):
        symbol = PARAMETER + name
        if all(type(v) is int for v in values):
            space.whole.add(symbol)
        if symbol in fixed:
            return arrays.constant(space, fixed[symbol])
        return arrays.letter(space, space.field(sympy.Symbol(symbol)))
    if is_keeper(type(values[0])) and all(type(v) is type(values[0]) for v in values):
        names = [f for f in type(values[0]).__dataclass_fields__ if all(callable(getattr(v, f)) for v in values)]
        rules = {f: Rule(f, partial(_answer, space, f"{PARAMETER}{name}.{f}", instances)) for f in names}
        return Named(f"the parameter {name}", rules)
    return Unknown(f"the parameter {name}, whose value is not known")


def _answer(space: Space, name: str, instances: Sequence[Instance], *given: Any) -> Array:
    """Return what a function among the parameters gives, of which nothing is known but that the same gives the same."""

    def value(at: tuple[Any, ...], there: There) -> Any:
        _, field, part = name.split(".")
        function = getattr(getattr(there.params, field), part)
        found = np.asarray(function(*(_real(one, there) for one in at)))
        return exact(found.reshape(found.shape[REPLICAS:]))

    for one in given:
        draw = isinstance(one, Named) and one.what == DRAW
        problem = isinstance(one, Made) and one.of is LinearModels
        if not (isinstance(one, Array) and not one.mask) and not problem and not draw:
            raise ValueError("a function among the parameters is given something other than an array")
    text = "; ".join(arrays.text(one) if isinstance(one, Array) else type(one).__name__ for one in given)
    shapes = set()
    for there in (at_instance(space, instance) for instance in instances):
        sizes = {there.length(axis): axis for axis in COUNTS}
        if len(sizes) == len(COUNTS) and 1 not in sizes:
            shape = np.shape(value(given, with_letters(space, there)))
            shapes.add(tuple(sizes.get(k, Axis.ONE) for k in shape))
    if len(shapes) != 1:
        raise ValueError("the shape of what a function among the parameters gives is not seen")
    whole = f"{name} ({text})"
    space.made_of[whole] = (value, given)
    return arrays.leaf(space, whole, shapes.pop(), True)


def _real(one: Any, there: There) -> Any:
    """Return what stands for a value at an instance, with the axes of replicas that it has in code."""
    if not isinstance(one, Array):
        return there.problem.f if isinstance(one, Made) else None
    value = np.asarray(comparing.evaluated(one, there), dtype=object)
    return value.reshape((1,) * REPLICAS + value.shape) if one.batched else value if one.axes else value.item()


def at_instance(space: Space, instance: Instance) -> There:
    """Return an instance at one of its states, with its axes of replicas."""
    made, state = instance.at(exact(np.arange(1, instance.dimension + 1)[None] % 7 - 2))
    params: Any = instance.params
    held: Any = None
    if space.own:
        return There(made, params, state, {})
    if space.copied is not None:
        held = Copies(made.f, getattr(params, space.copied))
    elif not isinstance(made, LinearProblem):
        held = Examples(made.f, getattr(params, nodes.dealt_out([instance]) or ""))
    return There(made, params, state, {}, held)


def with_letters(space: Space, there: There) -> There:
    """Return an instance with the values of the letters."""
    known: dict[str, Any] = {COUNTS[axis]: there.length(axis) for axis in COUNTS}
    if isinstance(there.f, LinearModels):
        known |= {STRENGTH: there.f.lam, SMOOTHNESS: there.f.loss.gamma}
    if space.copied is not None:
        known[LEAST] = there.problem.mu
    for symbol in map(str, space.field.symbols):
        value = getattr(there.params, symbol.removeprefix(PARAMETER), 0) if symbol.startswith(PARAMETER) else 0
        known.setdefault(symbol, value if isinstance(value, int | float | Fraction) else 0)
    return replace(there, letters=known)


def _invariant(claim: Claim, reader: DataReader, scene: Scene) -> Scene:
    """Return a scene in whose states the invariant of the method is zero."""
    algorithm = claim.statement.algorithm
    if algorithm is None or algorithm.invariant is None or not isinstance(claim.statement, Agreement):
        return scene
    if set(scene.state.fields) != set(algorithm.State._fields):
        return scene
    residual = one_array(reader.call(theirs(algorithm.invariant), *scene.given))
    for name, part in scene.state.fields.items():
        (own,) = part.of
        c = residual.of.get(own)
        rest = {p: b for p, b in residual.of.items() if p != own}
        if c is not None and part.axes == residual.axes and not any(f.name == own[0].name for p in rest for f in p):
            solved = Array(part.space, part.axes, {p: -b / c for p, b in rest.items()}, True)
            reader.space.divisors.append(c)
            return replace(scene, state=NamedTupleValue(scene.state.of, {**scene.state.fields, name: solved}))
    raise Unread("the invariant of the method does not determine a part of the state")


def one_array(value: Any) -> Array:
    """Return a value that is one array. Raise ``Unread`` for any other."""
    if not isinstance(value, Array):
        raise Unread("an array is expected")
    return value


def parts_of(space: Space, value: Any) -> tuple[tuple[Array, ...], int]:
    """Return the arrays that a function gives side by side, and the axis along which it does."""
    if isinstance(value, SideBySide):
        return value.parts, value.axis
    return (arrays.of(space, value),), -1


# Known facts about letters


def ground_of(claim: Claim, reader: DataReader, scene: Scene) -> Ground:
    """Return what is known of the letters of a claim on the path that is read."""
    space = reader.space
    names: dict[sympy.Symbol, sympy.Expr] = {}
    letters: dict[sympy.Expr, Array] = {}
    facts: list[Fact] = []
    equal: list[tuple[sympy.Expr, Any]] = []
    for k, (letter, source) in enumerate(claim.setting.sources.items()):
        raised, divided = len(reader.raising), len(space.divisors)
        try:
            value = reader.call(theirs(source), *scene.given[:2]) if callable(source) else _named(source, scene)
        except (ValueError, KeyError):
            del reader.raising[raised:], space.divisors[divided:]
            continue
        if isinstance(value, Greatest):
            spare = sympy.Symbol(f"letter {k}")
            names[spare], letters[letter] = letter, arrays.letter(space, space.field(spare))
            facts += _facts(space, value.of, space.field(spare))
        elif isinstance(value, Array) and not value.axes and set(value.of) <= {()}:
            letters[letter], c = value, value.number()
            symbol = next((s for s, g in zip(space.field.symbols, space.field.gens, strict=True) if g == c), None)
            if symbol is not None and symbol not in names:
                names[symbol] = letter
            else:
                equal.append((letter, c))
    for symbol in space.field.symbols:
        whole = str(symbol) in COUNTS.values()
        names.setdefault(
            symbol, sympy.Dummy(str(symbol), **({"positive": True, "integer": True} if whole else {"real": True}))
        )
    bounded = tuple(_asserted(claim, reader, scene))
    for bound in bounded:
        for fact in _facts(space, bound.of, space.field(bound.number)):
            if bound.number == 1:
                space.exclusive.add(fact.mask)
            facts.append(fact)
    given = tuple(_of_all_vectors(claim, reader, scene))
    found = Ground(names, tuple(symbolic.assumed(claim)), letters, tuple(facts), given, bounded)
    more = [sympy.Eq(letter, found.expression(c), evaluate=False) for letter, c in equal]
    for condition, answer in reader.taken:
        relation = relation_in(found, condition)
        more.append(relation if answer else sympy.Not(relation))
    return replace(found, relations=(*found.relations, *more))


def _asserted(claim: Claim, reader: DataReader, scene: Scene) -> Iterator[AtMost]:
    """Yield that entries are at most a number, as hypotheses given as code say; nothing is assumed of those that cannot
    be read."""
    for hypothesis in claim.requires:
        if hypothesis.met is None:
            continue
        raised, divided, taken = len(reader.raising), len(reader.space.divisors), len(reader.taken)
        try:
            value = reader.call(theirs(hypothesis.met), *scene.given[:2])
        except ValueError:
            continue
        finally:
            # A hypothesis that cannot be decided is not met.
            del reader.raising[raised:], reader.space.divisors[divided:]
        if isinstance(value, AtMost) and len(reader.taken) == taken:
            yield value


def _of_all_vectors(claim: Claim, reader: DataReader, scene: Scene) -> Iterator[Mapping[Product, Any]]:
    """Yield what hypotheses assert of all vectors, of the parts of a state with a number for each example."""
    for every in (h.every for h in claim.requires if h.every is not None and theory.holds(h.every)):
        for part in scene.state.fields.values():
            if isinstance(part, Array) and part.axes == (Axis.EXAMPLES,):
                left, right = reader.call(theirs(every), *scene.given[:2], part)
                yield arrays.add(right, arrays.negative(left)).of


def _named(source: str, scene: Scene) -> Any:
    return scene.params.fields[source] if source in scene.params.fields else scene.problem.fields[source]


def _facts(space: Space, counts: Array, bound: Any) -> Iterator[Fact]:
    """Yield that a mask is 1 of at most so many clients, where these are counted for each feature."""
    if counts.axes == (Axis.COORDINATES,) and len(counts.of) == 1:
        ((made, c),) = counts.of.items()
        if c == space.field.one and len(made) == 1 and space.is_mask(made[0].name):
            (f,) = made
            if space.axes(f.name) == (Axis.CLIENTS, Axis.COORDINATES) and f.at[1] == 0 and f.at[0] >= SUMMED:
                yield Fact(bound, f.name)


def fixed_letters(claim: Claim, about: Ground) -> dict[str, Fraction]:
    """Return the letters that the hypotheses equate with numbers, by the names of what they are."""
    of = {letter: symbol for symbol, letter in about.names.items()}
    found = {}
    for relation in symbolic.assumed(claim):
        if isinstance(relation, sympy.Eq) and relation.lhs in of and relation.rhs.is_Rational:
            found[str(of[relation.lhs])] = Fraction(int(relation.rhs.p), int(relation.rhs.q))
    return found


def relation_in(about: Ground, condition: Condition) -> sympy.Basic:
    """Return a condition on letters as a relation between those of the claim."""
    return relation_of(condition, lambda side: about.expression(side.number()))
