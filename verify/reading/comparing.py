"""What was read, against the code itself, entry by entry at instances: a safety net, which decides for no claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.literals import are_fractions
from fedtheory.numbers.rational import Array, exact
from verify.reading import running
from verify.reading.claimed import Case
from verify.reading.program import quantities, read
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, parts
from verify.reading.values import Condition

#: Numbers of clients at which it is compared, and points at each.
CLIENTS, POINTS = (2, 3, 4, 5), 2


def check(claim: Claim, cases: Sequence[Case], instances: Sequence[Instance], rng: np.random.Generator) -> int:
    """At how many instances what was read is what the code computes. ``Unread`` where it is not, or at none."""
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
        raise Unread("there is no instance at which what was read can be compared with the code")
    return compared


def _sizes(case: Case, state: Any) -> Any:
    """Where there is no problem, what it would say: n and d, as states have them."""
    shapes = [
        zip(kind.axes[::-1], np.shape(getattr(state, name))[::-1], strict=False) for name, kind in case.types.items()
    ]
    told = {axis: size for shape in shapes for axis, size in shape}
    return SimpleNamespace(n=told.get(Axis.CLIENTS), d=told.get(Axis.COORDINATES))


def _spread(instances: Sequence[Instance]) -> tuple[list[Instance], list[Instance]]:
    """One instance for each number of clients, and others where there are not as many; and those that are left, where
    at none of these what was read can be compared."""
    by_size: dict[Any, Instance] = {}
    for instance in instances:
        by_size.setdefault(getattr(instance.problem, "n", None), instance)
    chosen = [by_size[n] for n in (None, 1, *CLIENTS) if n in by_size]
    left = [i for i in instances if not any(i is c for c in chosen)]
    few = max(0, POINTS - len(chosen))
    return chosen + left[:few], left[few:]


def _occurs(case: Case, problem: Any, params: Any, state: Any) -> bool:
    return all(holds(condition, problem, params, state) is answer for condition, answer in case.conditions)


def holds(condition: Any, problem: Any, params: Any, state: Any) -> bool:
    """Whether a condition on letters, or a truth value, is true at numbers."""
    if not isinstance(condition, Condition):
        return bool(condition)
    if condition.by in ("not", "and", "or"):
        parts = [holds(part, problem, params, state) for part in condition.of]
        return not parts[0] if condition.by == "not" else (all if condition.by == "and" else any)(parts)
    left, right = (running.value(term, problem, params, state) for term in condition.of)
    if condition.by in ("==", "!="):
        return bool(left == right) is (condition.by == "==")
    return bool(left < right if condition.by == "<" else left <= right)


def _compare(
    claim: Claim, case: Case, problem: Any, sized: Any, params: Any, state: Any, rng: np.random.Generator
) -> bool:
    """Whether all that was read is compared; what loops leave is read again, with the numbers of rounds there are."""
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
        parts = [_full(running.value(term, sized, params, state), term, sized, lead) for term in terms]
        here = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=axis)
        _same(here, np.broadcast_to(there, np.broadcast_shapes(np.shape(there), here.shape)), str(claim.id))
        if function is of_all and bool((there > 0).any()):
            raise Unread("what the setting says of all states is not so in one of them")
        if algorithm is not None and function is algorithm.invariant and bool((there != 0).any()):
            raise Unread("a state does not satisfy the invariant of the method")
    for of, strict in claim.setting.hints.signs if case.signs else ():
        numbers = np.asarray(of(problem, params))
        if not bool((numbers > 0 if strict else numbers >= 0).all()):
            raise Unread("what the setting says of all constants is not so of some")
    if case.program is not None:
        algorithm = claim.statement.algorithm
        draw = algorithm.draws(problem, params, state).sample(rng, lead)
        after = algorithm.step(problem, params, state, draw)
        program = case.program
        if _loops(program.step.values()):
            program = read(algorithm, problem, params, counts)
        for name, value in running.step(program, problem, params, state, draw).items():
            _same(value, np.broadcast_to(getattr(after, name), value.shape), f"the part {name} after a step")
    return True


def _loops(terms: Iterable[Term]) -> bool:
    """Whether terms depend on what a loop leaves that ends at a letter."""
    return any(term.op is Op.ANY for term in parts(*terms))


def _full(value: Any, term: Term, problem: Any, lead: tuple[int, ...]) -> Array:
    """A value with all axes of its term, and the replicas before them; of all draws it has them already."""
    if Axis.DRAWS in term.type.axes:
        return np.asarray(value)
    return np.broadcast_to(value, running.shape(term, problem, lead))


def _same(here: Array, there: Array, what: str) -> None:
    whole = are_fractions(here) and are_fractions(there)
    if not (bool((here == there).all()) if whole else np.allclose(here.astype(float), there.astype(float))):
        raise Unread(f"{what} is not what was read there")
