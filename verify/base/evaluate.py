"""Both sides of a statement at given states, by exact expectation. The same code runs on floats and on fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, singledispatch
from itertools import count, islice
from types import MappingProxyType
from typing import Any

import mpmath
import numpy as np
import sympy

from fedtheory.algorithms.base import place
from fedtheory.algorithms.schedules import Irrational, at_round
from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.one_step import OneStep
from fedtheory.kinds.reached import Reached
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.degrees import largest_degree, unknowns
from fedtheory.numbers.literals import are_fractions
from fedtheory.numbers.polynomials import NotPolynomial, unseen
from fedtheory.numbers.rational import Array, Undefined, evaluate, is_exact
from fedtheory.numbers.symbols import T
from fedtheory.randomness import Distribution, expectation, map_leaves, support_of
from fedtheory.randomness.directions import LARGEST_DESIGN, ORDERS, Design, is_endless, replaced, with_designs
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity
from verify.base import faults
from verify.base.along_runs import Along, of_runs
from verify.base.case import Case

Sides = tuple[Array, Array]


class NoNumber(Undefined):
    """Raised when an author's code returns NaN or infinity in exact arithmetic: the two sides then cannot
    be compared.
    """


class NoStep(Undefined):
    """There is no state after a step: the code of the step or of its draws divides by zero."""


class Endless(ArithmeticError):
    """Directions are drawn of which there are infinitely many, and no design is seen to stand for them."""


def rollout(case: Case, problem: Any, state: Any, rounds: int, passed: int = 0) -> tuple[Any, Array]:
    """All states after ``rounds`` steps along axis 1 of ``state (M, 1, ...)``, and their probabilities.

    As :func:`unrolled`.
    """
    reached = (state, np.ones(1, dtype=int))
    for after in islice(unrolled(case, problem, state, passed), rounds):
        reached = after
    return reached


def unrolled(
    case: Case,
    problem: Any,
    state: Any,
    passed: int = 0,
    outcomes: Callable[[Distribution, int], Distribution] | None = None,
) -> Iterator[tuple[Any, Array]]:
    """After each step, without end, all states along axis 1 of ``state (M, 1, ...)``, and their probabilities.

    ``passed``: rounds before these, of a method whose parameters vary. The tree of draws is enumerated, so that an
    expectation over it is exact; ``outcomes``: what is enumerated in place of a distribution, for so many steps, by
    default :func:`enumerated`. Raise ``ValueError`` if a draw has no finite support, ``NoStep`` where a step divides
    by zero.
    """
    algorithm = case.statement.algorithm
    # Initial states of zeros do not distinguish fractions from floats.
    exact = are_fractions(problem, case.params, state)
    probabilities = np.ones(1, dtype=int)
    for k in count(passed):
        params = params_after(case, problem, k)
        before = len(probabilities)
        try:
            drawn = algorithm.draws(problem, params, state)
            steps = k - passed + 1
            drawn = enumerated(case, drawn, steps, passed) if outcomes is None else outcomes(drawn, steps)
            draws, p = support_of(drawn, exact)
            repeated = type(state)(*(np.repeat(field, len(p), axis=1) for field in state))
            tiled = map_leaves(lambda a, before=before: np.concatenate([a] * before), draws)
            after = algorithm.step(problem, params, repeated, tiled)
        except ZeroDivisionError as error:
            raise NoStep(f"a step of {algorithm.name} divides by zero{faults.within(error)}") from error
        fields = zip(after, repeated, state._fields, strict=True)
        state = type(state)(*(shaped(*field, algorithm.step) for field in fields))
        probabilities = np.repeat(probabilities, len(p)) * np.concatenate([p] * before)
        yield state, probabilities


def differing(one: Any, two: Any, names: Collection[str] | None = None) -> list[str]:
    """The parts, of ``names`` or of all, that two states do not share, in the arithmetic of their entries."""
    asked = (name for name in one._fields if names is None or name in names)
    return [name for name in asked if not (np.asarray(getattr(one, name)) == np.asarray(getattr(two, name))).all()]


def params_after(case: Case, problem: Any, rounds: int) -> Any:
    """The parameters so many rounds after the one at hand, which for a bound is round 0: of most methods the same."""
    algorithm = case.statement.algorithm
    if algorithm is None or not algorithm.schedules:
        return case.params
    first = 0 if case.statement.horizon else case.params.round
    # Initial states of zeros do not distinguish fractions from floats.
    exact = not any(isinstance(getattr(case.params, name), float) for name in algorithm.schedules)
    return at_round(algorithm.schedules, problem, case.params, first + rounds, exact)


def _params_then(case: Case, problem: Any, rounds: int) -> Any:
    """As :func:`params_after`, None for what varies where that is irrational: few quantities involve it."""
    try:
        return params_after(case, problem, rounds)
    except Irrational:
        varying = case.statement.algorithm.schedules
        return case.params._replace(**dict.fromkeys(varying))


def has_rounds(case: Case, rounds: int) -> bool:
    """Return True if the varying parameters of an exact instance are fractions for this many rounds."""
    algorithm = case.statement.algorithm
    if algorithm is None or not algorithm.schedules:
        # There may be a million rounds.
        return True
    try:
        for k in range(rounds):
            params_after(case, case.problem, k)
    except (ValueError, ArithmeticError):
        return False
    return True


def shaped(after: Array, before: Array, name: str, step: Callable[..., Any]) -> Array:
    """The field of a state after a step, with the shape it had before. Raise ``ValueError`` if the step changed it."""
    core, shape = before.ndim - 2, np.shape(after)
    if shape[len(shape) - core :] != before.shape[2:] or not _fits(shape, before.shape):
        clients = "; a point is one vector for all clients: hand it to them as x[..., None, :], and sum over axis -2"
        advice = clients if core == 1 else ""
        raise ValueError(f"{place(step)} turns {name} of shape {before.shape} into one of shape {shape}{advice}")
    return np.broadcast_to(after, before.shape)


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return True if an array of a shape can be broadcast to the wanted one."""
    return len(shape) <= len(wanted) and all(a in (1, b) for a, b in zip(shape[::-1], wanted[::-1], strict=False))


def tree_size(case: Case, rounds: int) -> int:
    """Number of leaves of the tree of draws."""
    count = enumerated(case, case.draws, max(rounds, 1)).count
    if count is None:
        raise ValueError(f"the draws of {case.claim.id} cannot be enumerated")
    return int(count) ** rounds


def enumerated(case: Case, distribution: Distribution, steps: int, passed: int = 0) -> Distribution:
    """Return a distribution of draws whose outcomes are enumerated: of directions designs, if the quantities of the
    claim are polynomials in the directions, whose expectations are then the same.

    All steps have designs of one order: later ones may raise the degree in the directions of the first.

    Raise ``Endless`` if that is not seen from the code.
    """
    if not is_endless(distribution):
        return distribution
    passed = passed if case.statement.algorithm.schedules else 0
    for k in {(passed, 1), (passed, steps)} - case.degrees.keys():
        case.degrees[k] = _degree(case, *k)
    orders = ORDERS if isinstance(case.statement, OneStep) else ORDERS[-1:]
    order = next((order for order in orders if case.degrees[passed, 1] <= order), None)
    if order is None or case.degrees[passed, steps] > order or case.problem.d > LARGEST_DESIGN:
        raise Endless(f"the directions that {case.claim.id} draws are not enumerated")
    return with_designs(distribution, order)


def is_without_design(case: Case) -> bool:
    """Return True if a step draws directions for which no design is seen to stand."""
    try:
        enumerated(case, case.draws, 1)
    except Endless:
        return True
    except (ValueError, ArithmeticError):
        # The code that needs the distribution explains why there is none.
        return False
    return False


def _degree(case: Case, passed: int, steps: int) -> float:
    """The degree of a claim's quantities after so many steps from round ``passed`` on, and of products of two
    coordinates of a state, as polynomials in the directions that are drawn; infinite if code does more with these than
    add and multiply, and divide by known numbers.
    """
    if of_runs(case.statement) or not isinstance(case.statement, OneStep | Bound):
        return math.inf

    def unknown(distribution: Distribution, _: int) -> Distribution:
        return replaced(distribution, lambda of: Design(unknowns((1, of.d), 1), np.ones(1, dtype=int)))

    try:
        with unseen():
            problem, state = case.start(unknowns((1, case.dimension), 0))
            for later, _ in islice(unrolled(case, problem, state, passed, unknown), steps):
                state = later
            then = _params_then(case, problem, passed + steps)
            found = [largest_degree(q.of(problem, then, state)) for q in case.statement.quantities if q.after]
            # Second moments of the whole state are followed from step to step.
            return max(*found, *(2 * largest_degree(part) for part in state))
    except NotPolynomial:
        return math.inf


def sides(case: Case, theta: Array, rounds: int = 1) -> list[Sides]:
    """(left, right) of each comparison of the statement, for coordinates ``theta (M, dimension)``.

    Both have shape ``(M,)``; where the relation is "==" they are arrays of one shape. ``rounds``: T, for a bound.

    Raise ``ValueError`` if there is nothing to compare: no sides, fewer or more than the statement lists, or sides
    without entries, of which everything holds.
    """
    found = _sides(case.statement, case, theta, rounds)
    listed = len(case.statement.comparisons)
    if not found or (listed and len(found) != listed):
        raise ValueError(
            f"{case.claim.id} has {len(found)} pairs of sides, and its statement lists {listed} comparisons"
        )
    if len(theta) and not all(np.size(side) for pair in found for side in pair):
        raise ValueError(f"a side of {case.claim.id} has no entries: nothing is compared")
    return found


@singledispatch
def _sides(statement: Statement, case: Case, theta: Array, rounds: int) -> list[Sides]:
    """As :func:`sides`, of comparisons between what is composed of quantities."""
    if statement.scope is Scope.CODE or type(statement).comparisons is Statement.comparisons:
        raise ValueError(
            f"{case.claim.id} has no sides: what statements of kind {statement.kind} compare is not known here"
        )
    problem, state = case.start(theta)
    if of_runs(statement):
        *_, last = _sides_of_runs(case, problem, state, rounds, len(theta))
        return last[1]
    later, probabilities = state, np.ones(1)
    if statement.stepping:
        later, probabilities = rollout(case, problem, state, rounds)
    return _compared(case, problem, (state, later), probabilities, rounds, len(theta))


def along_run(case: Case, problem: Any, state: Any, rounds: int) -> dict[sympy.Expr, Array]:
    """The values of a claim's quantities of whole runs after so many rounds from ``state (M, 1, ...)``, each
    ``(M, 1)``."""
    *_, (_, _, found) = _along_runs(case, problem, state, rounds)
    return found


def _along_runs(
    case: Case, problem: Any, state: Any, rounds: int
) -> Iterator[tuple[Any, Array, dict[sympy.Expr, Array]]]:
    """After 0, 1, ..., ``rounds`` rounds the states, their probabilities and the quantities of the runs until then;
    none of fewer rounds than the claim covers."""
    letters, exact = case.setting.bind(problem, case.params), are_fractions(problem, case.params, state)
    along = Along(of_runs(case.statement), letters, exact)
    reached = (state, np.ones(1, dtype=int))
    after = unrolled(case, problem, state)
    for k in range(rounds + 1):
        reached = next(after) if k else reached
        params = _params_then(case, problem, k)
        values = along.values(problem, params, *reached, k >= case.statement.since)
        yield *reached, values


def _sides_of_runs(case: Case, problem: Any, state: Any, rounds: int, size: int) -> Iterator[tuple[int, list[Sides]]]:
    """Both sides after each number of rounds that the claim covers, up to ``rounds``, with that number."""
    if rounds < case.statement.since:
        raise ValueError(f"{case.claim.id} says nothing of T = {rounds}")
    for k, (later, probabilities, values) in enumerate(_along_runs(case, problem, state, rounds)):
        if k >= case.statement.since:
            yield k, _compared(case, problem, (state, later), probabilities, k, size, values)


@_sides.register
def _(statement: Agreement, case: Case, theta: Array, rounds: int) -> list[Sides]:
    problem, state = case.instance.at(theta)
    params = case.params
    draws, _ = support_of(statement.algorithm.draws(problem, params, state), is_exact(*state))
    after = statement.algorithm.step(problem, params, state, draws)
    other, start_of_other = statement.counterpart(problem, params, state)
    second = statement.second.step(problem, other, start_of_other, draws)
    one, two = statement.seen[0](problem, params, after), statement.seen[1](problem, other, second)
    if np.shape(one) != np.shape(two):
        first, last = map(place, statement.seen)
        raise ValueError(f"{first} and {last} show values of shapes {np.shape(one)} and {np.shape(two)}")
    return [_broadcast(one, two)]


@_sides.register
def _(statement: Stays, case: Case, theta: Array, rounds: int) -> list[Sides]:
    problem, state = case.instance.at(theta)
    later, _ = rollout(case, problem, state, 1)
    then = params_after(case, problem, 1)
    return [_broadcast(statement.observed(problem, then, later), statement.observed(problem, case.params, state))]


@_sides.register
def _(statement: Reached, case: Case, theta: Array, rounds: int) -> list[Sides]:
    problem, state = case.instance.at(theta)
    later, probabilities = rollout(case, problem, state, statement.rounds)
    then = params_after(case, problem, statement.rounds)
    left = expectation(statement.potential(problem, then, later), probabilities)
    right = evaluate(statement.share, {}) * statement.potential(problem, case.params, state)[:, 0]
    return [_broadcast(left, right)]


def sides_along(case: Case, theta: Array, at: Collection[int]) -> Iterator[list[Sides]]:
    """Yield the value of :func:`sides` for a bound after each of these numbers of rounds, in ascending order."""
    problem, state = case.start(theta)
    if of_runs(case.statement):
        found = _sides_of_runs(case, problem, state, max(at), len(theta))
        yield from (both for rounds, both in found if rounds in at)
        return
    after = unrolled(case, problem, state)
    for rounds, (later, probabilities) in zip(range(1, max(at) + 1), after, strict=False):
        if rounds in at:
            yield _compared(case, problem, (state, later), probabilities, rounds, len(theta))


def _compared(
    case: Case,
    problem: Any,
    states: tuple[Any, Any],
    probabilities: Array,
    rounds: int,
    size: int,
    along: Mapping[sympy.Expr, Array] = MappingProxyType({}),
) -> list[Sides]:
    """As :func:`sides`, of ``size`` states and what they are after the rounds, with the probabilities of these.

    ``along``: the values of what is of whole runs.
    """
    statement, (state, later) = case.statement, states
    values: dict[sympy.Expr, Any] = dict(case.setting.bind(problem, case.params))
    if statement.horizon:
        # Elsewhere T is a letter like any other: a statement about all T is not one about T = 1.
        values[T] = rounds
    stepping = statement.stepping
    now, then = case.params, case.params
    if stepping:
        now = params_after(case, problem, 0)
        then = _params_then(case, problem, rounds)
    scalars = compared_by_size(statement.comparisons)
    exact = are_fractions(problem, case.params, state)
    for quantity in statement.quantities:
        if quantity.expression in along:
            values[quantity.expression] = along[quantity.expression]
            continue
        after = quantity.after and stepping
        try:
            value = quantity.of(problem, then if after else now, later if after else state)
        except ZeroDivisionError as error:
            raise Undefined(f"the quantity {quantity.expression} divides by zero{faults.within(error)}") from error
        if exact:
            check_number(f"the quantity {quantity.expression}", value)
        if scalars & quantity.expression.free_symbols:
            check_scalar(quantity, value, (size, len(probabilities) if after else 1), after)
        values[quantity.expression] = expectation(value, probabilities)[..., None] if after else value
    return [_paired(comparison, values, size) for comparison in statement.comparisons]


@lru_cache(maxsize=500)
def compared_by_size(comparisons: tuple[Comparison, ...]) -> frozenset[sympy.Basic]:
    """The symbols of the sides of which one is at most the other."""
    return frozenset().union(
        *(side.free_symbols for c in comparisons if c.relation != "==" for side in (c.left, c.right))
    )


def check_number(what: str, value: Any) -> None:
    """Raise ``NoNumber`` if a value that was computed in fractions, or an entry of one, is NaN or infinite."""
    for number in np.asarray(value).flat:
        if isinstance(number, float | np.floating | mpmath.mpf) and not abs(number) < math.inf:
            raise NoNumber(f"{what} is {'infinite' if number == number else 'NaN'}")


def check_scalar(quantity: Quantity, value: Any, due: tuple[int, int], after: bool) -> None:
    """Raise ``ValueError`` if a quantity that is compared by size is not one number a state, an array of shape ``due``.

    What does not depend on the state may be one number for all, unless it is asked for ``after`` steps.
    """
    shape = np.shape(value)
    if value is None or isinstance(value, str):
        given = f"an object of type {type(value).__name__}"
    elif _fits(shape, due) and (not after or len(shape) == len(due)):
        return
    else:
        given = f"a value of shape {shape}"
    raise ValueError(f"{place(quantity.of)} gives {given}, where one number a state is due, here shape {due}")


def _broadcast(a: Any, b: Any) -> Sides:
    return np.broadcast_arrays(_numbers(a), _numbers(b))  # type: ignore[return-value]


def _numbers(value: Any) -> Array:
    """Values as an array, what is true as 1 and what is false as 0."""
    found = np.asarray(value)
    return found.astype(int) if found.dtype.kind == "b" else found


def _paired(comparison: Comparison, values: Mapping[Any, Any], size: int) -> Sides:
    a, b = (_numbers(evaluate(side, values)) for side in (comparison.left, comparison.right))
    if comparison.relation == "==":
        if a.ndim and b.ndim and a.shape[2:] != b.shape[2:]:
            # A constant is compared with every entry.
            raise ValueError(
                f"the sides of {comparison.left} = {comparison.right} have the shapes {a.shape} and {b.shape}: an "
                "identity compares one number a state with one, or vectors of one shape entry by entry"
            )
        return np.broadcast_arrays(a, b)  # type: ignore[return-value]
    return np.broadcast_to(a, (size, 1))[:, 0], np.broadcast_to(b, (size, 1))[:, 0]


def leaving(case: Case, theta: Array) -> Array | None:
    """Residuals ``(M, r)`` that must vanish after one step for the statement's quantities to be finite, or None."""
    domains = [q.domain for q in case.statement.quantities if q.after and q.domain is not None]
    if not domains:
        return None
    problem, state = case.start(theta)
    later, _ = rollout(case, problem, state, 1)
    params = params_after(case, problem, 1)
    residuals = [np.asarray(domain(problem, params, later)) for domain in domains]
    return np.concatenate([r.reshape(len(theta), -1) for r in residuals], axis=1)


def hypotheses_hold(case: Case) -> bool:
    """Return True if an (exact) instance meets every hypothesis of the claim."""
    if not case.claim.requires:
        return True
    return all(h.holds(case.problem, case.params, case.letters) for h in case.claim.requires)


def meets_grounds(case: Case, named: Collection[Hypothesis] = ()) -> bool:
    """Return True if an instance meets everything that a proof may assume: relations, membership in classes, and the
    hypotheses ``named`` by the proof.

    Other code of hypotheses is not accepted as an assumption of a proof, as it may depend on anything.
    """
    grounds = (
        h if h in named or h.states_membership(case.setting.classes) else replace(h, met=None)
        for h in case.claim.requires
    )
    return all(h.holds(case.problem, case.params, case.letters) for h in grounds)


def meeting(claim: Claim, recipes: Iterable[Recipe]) -> Iterator[tuple[Recipe, Instance]]:
    """Those of the recipes that give an instance of the claim's setting and meet its hypotheses, with exact instances.

    Without end, as the recipes of a setting are, unless these are limited.
    """
    build = claim.instances.build
    for recipe in recipes:
        try:
            instance = build(recipe, True)
            met = hypotheses_hold(Case.of(claim, instance))
        except (ValueError, ArithmeticError):
            # There is no such instance, or a hypothesis is not defined there.
            continue
        if met:
            yield recipe, instance
