"""Claims about labelled examples, shown for all data: for every number of examples, clients and features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.selections import ClientPicks
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.learning.lower_bounds import Copies
from fedtheory.numbers.rational import exact
from fedtheory.problems.linear_models import LinearModels
from fedtheory.randomness import Bernoulli, UniformSubset
from fedtheory.settings.relations import Quantity
from verify.data import arrays, comparing, completing, draws, squares
from verify.data.arrays import Array
from verify.data.comparing import There
from verify.data.draws import Coin, OneExample
from verify.data.folds import Picks
from verify.data.problem import reader_of, space_of
from verify.data.reader import DataReader
from verify.data.scene import (
    DRAW,
    PARAMETER,
    Ground,
    Scene,
    at_instance,
    fixed_letters,
    ground_of,
    one_array,
    parts_of,
    relation_in,
    scene_of,
    with_letters,
)
from verify.data.space import Space
from verify.data.squares import Knowledge, Used
from verify.exact import reals
from verify.reading.program import theirs
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.reading.values import Condition, Named

#: Instances at which what was read is compared with the code.
COMPARED = 3


def note(claim: Claim) -> str:
    """Return in words what a proof shows."""
    if claim.setting.functions is None or (claim.setting.clients != (1,) and claim.setting.drawing.parameters):
        covered = "all data, any numbers of examples, clients and features"
    else:
        covered = "all functions of the class, any numbers of clients, in all dimensions"
    return f"read off the code in index notation: for {covered}"


def applies(claim: Claim) -> bool:
    """Return True if a claim states that two sides are equal or ordered in every state, or over a step, or that two
    methods agree, in a setting whose instances are all that it has."""
    setting = claim.setting
    kinds = isinstance(claim.statement, Identity | Inequality | Agreement | OneStep)
    of_data = setting.drawing.special is not None and setting.functions is None
    on_nodes = setting.functions is not None and setting.drawing.parameters is not None
    of_methods = setting.functions is not None and isinstance(claim.statement, Agreement)
    return kinds and (of_data or on_nodes or of_methods)


@dataclass(frozen=True)
class Sides:
    """The result of reading one path.

    ``pairs``: the sides, with their relations; ``read``: the functions that were read, each with the arrays that it
    gives, and the axis along which it gives several.
    """

    pairs: tuple[tuple[Array, Array, str], ...]
    read: tuple[tuple[Any, tuple[Array, ...], int], ...]


@dataclass(frozen=True)
class Shown:
    """The pairs that are shown on one path through the conditions on letters. ``of``: of each pair its sides, and the
    sums that are not negative and add up to the right less the left, none where it is 0.

    Where parts of the state were moved first, this is the difference of states so moved.

    ``compared``: at how many instances what was read agrees with the code.
    """

    about: Ground
    space: Space
    of: tuple[tuple[Array, Array, tuple[Used, ...]], ...]
    compared: int


def prove(claim: Claim, instances: Sequence[Instance]) -> str:
    """Return why a claim is not shown for all data; empty if it is. Raise ``Unread`` if its code is not read."""
    found = shown(claim, instances)
    return found if isinstance(found, str) else ""


def shown(claim: Claim, instances: Sequence[Instance]) -> str | tuple[Shown, ...]:
    """Return what shows a claim on each path; or why it is not shown. Raise ``Unread`` if its code is not read."""
    found = _shown(claim, instances, False)
    if isinstance(found, str) and claim.setting.functions is None:
        try:
            again = _shown(claim, instances, True)
        except (ValueError, ArithmeticError):
            return found
        return found if isinstance(again, str) else again
    return found


def _shown(claim: Claim, instances: Sequence[Instance], optimal: bool) -> str | tuple[Shown, ...]:
    """Return the same where ``optimal`` says if x* is known to be the minimiser."""
    fixed: dict[str, Fraction] = {}
    # Letters that the hypotheses fix are read as the numbers that they are.
    for _again in range(2):
        space = space_of([PARAMETER + name for name in type(instances[0].params)._fields] + _spare(claim))
        reader = reader_of(space)
        made: list[Shown] = []
        for _path in reader.paths():
            space.divisors.clear()
            space.divided.clear()
            space.reciprocals.clear()
            reader.shifts.clear()
            scene = scene_of(claim, instances, reader, fixed, optimal)
            about = ground_of(claim, reader, scene)
            known = fixed_letters(claim, about)
            if not fixed and known:
                break
            found = _on_path(claim, instances, reader, scene, about)
            if isinstance(found, str):
                return found
            made.append(found)
        else:
            if any(one.compared for one in made):
                return tuple(made)
            return "there is no instance at which what was read can be compared with the code"
        fixed = known
    return "the letters that are fixed do not settle"


def _spare(claim: Claim) -> list[str]:
    """Return names of letters that are not read as an expression in others."""
    return [f"letter {k}" for k, _ in enumerate(claim.setting.sources)]


# Conclusions


def _on_path(
    claim: Claim,
    instances: Sequence[Instance],
    reader: DataReader,
    scene: Scene,
    about: Ground,
) -> str | Shown:
    """Return why a claim is not shown on one path, or what shows it."""
    sides = (
        _agreeing(claim, reader, scene)
        if isinstance(claim.statement, Agreement)
        else _stated(claim, reader, scene, about)
    )
    about = replace(about, relations=(*about.relations, *_taken(about, reader)))
    shifts = dict(reader.shifts)
    if sympy.false in about.relations or reals.contradictory(about.relations):
        return Shown(about, reader.space, (), 0)
    positive = partial(about.is_at_least_zero, strictly=True)
    known = Knowledge(reader.space, about.is_at_least_zero, positive, about.facts, about.given, about.bounded)
    found = []
    reciprocals = reader.space.reciprocals
    reciprocals.update({name: _at_numbers(one, reader) for name, one in reciprocals.items()})
    for left, right, relation in sides.pairs:
        left, right = (_at_numbers(side, reader) for side in (left, right))
        difference = arrays.add(right, arrays.negative(left))
        used = () if difference.is_zero() else _added_up(difference, known, shifts) if relation == "<=" else None
        if used is None:
            return "the two sides do not reduce to the same sum, or to one that is larger by squares"
        found.append((left, right, used))
    if why := _unmet(reader, about):
        return why
    return Shown(about, reader.space, tuple(found), _compare(claim, sides, instances, reader))


def _at_numbers(of: Array, reader: DataReader) -> Array:
    """Return an array with the numbers that letters are on this path."""
    for condition, answer in reader.taken:
        if isinstance(condition, Condition) and condition.by == "==" and answer:
            for letter, number in (condition.of, condition.of[::-1]):
                c, value = letter.number(), number.number()
                if c in of.space.field.gens and value.numer.is_ground and value.denom.is_ground:
                    at = value.numer.coeff(1) / value.denom.coeff(1)
                    put = {made: b.subs(c, at) for made, b in of.of.items()}
                    of = replace(of, of={made: b for made, b in put.items() if b})
    return of


def _added_up(difference: Array, known: Knowledge, shifts: Mapping[str, Array]) -> tuple[Used, ...] | None:
    """Return sums that are not negative and add up to a difference in all states, or in those where parts are moved by
    what no part of a state enters: these are all states too. None if none are found."""
    if any(f.name in known.space.made_of for made in difference.of for f in made):
        # Expressions in a part of the state move with it.
        shifts = {}
    moved = difference
    for name, more in shifts.items():
        moved = arrays.substituted(moved, name, arrays.negative(more))
    used = completing.added_up(difference, known)
    return completing.added_up(moved, known) if used is None else used


def _taken(about: Ground, reader: DataReader) -> Iterator[sympy.Basic]:
    for condition, answer in reader.taken:
        relation = relation_in(about, condition)
        yield relation if answer else sympy.Not(relation)


def _stated(claim: Claim, reader: DataReader, scene: Scene, about: Ground) -> Sides:
    space, drawing = reader.space, None
    statement: Any = claim.statement
    if isinstance(statement, OneStep):
        drawing = _step_of(statement.algorithm, reader, scene)
    found: dict[sympy.Expr, tuple[Array, ...]] = {}
    read = []
    for quantity in statement.quantities:
        if (quantity.after and drawing is None) or quantity.domain is not None:
            raise Unread(f"{quantity.expression} is of some states only, or of those after a step")
        after = drawing if quantity.after else scene.state
        parts, axis = parts_of(space, reader.call(theirs(quantity.of), *scene.given[:2], after))
        found[quantity.expression] = parts
        read.append((_after_a_step(statement, quantity) if quantity.after else quantity.of, parts, axis))
    if not _are_alike([(parts, axis) for _, parts, axis in read]):
        raise Unread("quantities stack different arrays")
    pairs = []
    for k in range(len(read[0][1]) if read else 0):
        here = {**about.letters, **{expression: parts[k] for expression, parts in found.items()}}
        for comparison in statement.comparisons:
            if comparison.relation not in ("==", "<="):
                raise Unread(f"the claim says {comparison.relation}")
            left, right = (_of_expression(space, side, here) for side in (comparison.left, comparison.right))
            if drawing is not None:
                left = draws.expected(left)
            if draws.occurs_in(left) or draws.occurs_in(right):
                raise Unread("a side depends on a draw outside of an expectation")
            pairs.append((left, right, comparison.relation))
    if not pairs:
        raise Unread("nothing is compared")
    return Sides(tuple(pairs), tuple(read))


def _step_of(algorithm: Algorithm, reader: DataReader, scene: Scene) -> Any:
    """Return the state after a step, in which nothing is drawn, or one example of all."""
    if algorithm.schedules:
        raise Unread(f"parameters of {algorithm.name} vary with the round")
    law = reader.call(theirs(algorithm.draws), *scene.given)
    if not isinstance(law, OneExample):
        raise Unread("a step draws something other than one example of all")
    return reader.call(theirs(algorithm.step, algorithm.State), *scene.given, law.drawn())


def _after_a_step(statement: OneStep, quantity: Quantity) -> Any:
    def value(problem: Any, params: Any, state: Any) -> Any:
        draw = sampled(statement.algorithm, problem, params, state)
        return quantity.of(problem, params, statement.algorithm.step(problem, params, state, draw))

    return value


def _are_alike(stacked: Sequence[tuple[tuple[Array, ...], int]]) -> bool:
    """Return True if arrays side by side are compared each with one that has as many places along their axis."""
    if all(len(parts) == 1 for parts, _ in stacked):
        return True
    lengths = {(axis, tuple(part.axes[axis] for part in parts)) for parts, axis in stacked}
    return len(lengths) == 1


def _of_expression(space: Space, expression: sympy.Expr, here: Mapping[sympy.Expr, Array]) -> Array:
    if expression in here:
        return here[expression]
    if expression.is_Rational:
        return arrays.constant(space, Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, sympy.Add | sympy.Mul):
        first, *rest = (_of_expression(space, part, here) for part in expression.args)
        for other in rest:
            first = (arrays.add if isinstance(expression, sympy.Add) else arrays.multiply)(first, other)
        return first
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer:
        return arrays.power(_of_expression(space, expression.base, here), int(expression.exp))
    raise Unread(f"{expression} is not known from what was read")


def _agreeing(claim: Claim, reader: DataReader, scene: Scene) -> Sides:
    """Return what two methods show after a step with the same draw, and the invariant of the first after it."""
    statement: Any = claim.statement
    space, given = reader.space, scene.given
    draw = _drawn(statement.algorithm, reader, given)
    second = reader.call(theirs(statement.counterpart), *given)
    if type(second) is not tuple or len(second) != 2:
        raise Unread("the counterpart is not a pair of parameters and a state")
    other = (scene.problem, *second)
    pairs: list[tuple[Array, Array, str]] = []
    shown, after = [], []
    for algorithm, arguments, seen in zip(
        (statement.algorithm, statement.second), (given, other), statement.seen, strict=True
    ):
        if algorithm.schedules:
            raise Unread(f"parameters of {algorithm.name} vary with the round")
        step = theirs(algorithm.step, algorithm.State)
        after.append(reader.call(step, *arguments, draw))
        shown.append(parts_of(space, reader.call(theirs(seen), *arguments[:2], after[-1])))
    (left, axis), (right, again) = shown
    if not _are_alike([(left, axis), (right, again)]):
        raise Unread("the methods show different arrays")
    pairs += [(one, two, "==") for one, two in zip(left, right, strict=True)]
    if statement.algorithm.invariant is not None:
        kept = one_array(reader.call(theirs(statement.algorithm.invariant), *given[:2], after[0]))
        pairs.append((kept, arrays.multiply(arrays.constant(space, 0), kept), "=="))

    def at(which: int) -> Any:
        def value(problem: Any, params: Any, state: Any) -> Any:
            given = problem, params, state
            if which:
                params, state = statement.counterpart(problem, params, state)
            algorithm = (statement.algorithm, statement.second)[which]
            draw = sampled(statement.algorithm, *given)
            return statement.seen[which](problem, params, algorithm.step(problem, params, state, draw))

        return value

    return Sides(tuple(pairs), ((at(0), left, axis), (at(1), right, axis)))


def _drawn(algorithm: Algorithm, reader: DataReader, given: tuple[Any, ...]) -> Any:
    """Return what is known of the draw of a step: that it is rows of each client, or a coin, or nothing."""
    raised, divided = len(reader.raising), len(reader.space.divisors)
    try:
        law = reader.call(theirs(algorithm.draws), *given)
    except ValueError:
        del reader.raising[raised:], reader.space.divisors[divided:]
        return Named(DRAW, {})
    if isinstance(law, Coin):
        zero, one = (arrays.constant(reader.space, end) for end in (0, 1))
        reader.raising += [("Bernoulli", Condition("<", sides)) for sides in ((law.p, zero), (one, law.p))]
        return law.drawn()
    if not isinstance(law, Picks):
        return Named(DRAW, {})
    reader.raising.append(("ClientPicks", Condition("<", (law.steps, arrays.constant(reader.space, 1)))))
    return law


def sampled(algorithm: Algorithm, problem: Any, params: Any, state: Any) -> Any:
    """Return the rows that the clients draw at an instance, the example that is drawn, or a coin, the same whenever it
    is asked; None where nothing is."""
    law = algorithm.draws(problem, params, state)
    return law.sample(np.random.default_rng(0)) if isinstance(law, ClientPicks | UniformSubset | Bernoulli) else None


def _unmet(reader: DataReader, about: Ground) -> str:
    """Return an obligation that does not follow from the hypotheses; empty if all do."""
    space = reader.space
    for where, condition in reader.raising:
        if not reals.implied(sympy.Not(relation_in(about, condition)), about.relations):
            return f"an error may be raised ({where})"
    for c in space.divisors:
        if not about.is_nonzero(c):
            return f"{about.expression(c)} may be zero, and the code divides by it"
    for made in space.divided:
        if not all(space.is_positive(f.name) for f in made):
            return "the code divides by numbers of the data or the state that may be zero"
    for one in space.reciprocals.values():
        signs = [squares.is_nonnegative(space, made) and about.is_at_least_zero(c) for made, c in one.of.items()]
        if not all(signs) or not about.is_at_least_zero(one.of.get((), space.field.zero), strictly=True):
            return "the code divides by a sum of the data that is not shown to be positive"
    for c in (known.rate for known in space.kernels.values()):
        if not about.is_at_least_zero(c, strictly=True):
            return (
                f"a matrix is inverted that is not shown to be positive definite: {about.expression(c)} may be negative"
            )
    return ""


def _size(there: There) -> tuple[bool, int]:
    """Return where an instance comes in order: those first whose clients hold different numbers, or several."""
    f = there.f
    examples = there.length(Axis.EXAMPLES)
    return not 1 < f.n < examples, int(examples * f.d)


def _tells(there: There, alone: bool) -> bool:
    """Return True if an instance may tell sums over examples, clients and features apart, where there are several
    clients; of functions that are drawn from a class there are few, most of them on nodes of their own."""
    f = there.f
    examples = there.length(Axis.EXAMPLES)
    if isinstance(f, Copies):
        return bool(alone or f.n > 1)
    if there.held is not None:
        return bool(examples > 1)
    if not isinstance(f, LinearModels):
        return bool((f.n > 1 or alone) and f.d > 1)
    return bool((f.n > 1 or alone) and examples > f.n and f.d > 1)


def _compare(claim: Claim, sides: Sides, instances: Sequence[Instance], reader: DataReader) -> int:
    """Return at how many instances what was read on this path agrees with the code. Raise ``Unread`` if it differs."""
    found: dict[tuple[int, ...], There] = {}
    space = reader.space
    theres = sorted((at_instance(space, instance) for instance in instances), key=_size)
    alone = space.alone or all(there.f.n == 1 for there in theres)
    for there in theres:
        f = there.f
        size = (f.n, there.length(Axis.EXAMPLES), f.d)
        if len(found) < COMPARED and _tells(there, alone) and size not in found:
            there = with_letters(space, there)
            if isinstance(claim.statement, Agreement | OneStep):
                there = replace(
                    there, draw=sampled(claim.statement.algorithm, there.problem, there.params, there.state)
                )
            if comparing.occurs(reader.taken, there):
                found[size] = there
    for there in found.values():
        for function, parts, axis in sides.read:
            comparing.check(parts, axis, function, there, "a side")
        for every in (h.every for h in claim.requires if h.every is not None):
            v = exact(np.arange(there.length(Axis.EXAMPLES)) % 5 - 2)
            left, right = every(there.problem, there.params, v)
            if not bool(left <= right):
                raise Unread("what a hypothesis asserts of all vectors fails for one")
        kept = claim.statement.algorithm.invariant if isinstance(claim.statement, Agreement) else None
        if kept is not None and bool(np.any(kept(there.problem, there.params, there.state) != 0)):
            raise Unread("a state violates the invariant of the method")
    return len(found)
