"""Evaluate quantities at the start of runs, as far as the code of ``init`` and of the quantities determines them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.settings.relations import of_one_state
from verify.derivation.printed_rounds import Of
from verify.derivation.sequences import Signs, plain
from verify.multipliers.cases import FunctionCase, cases, example
from verify.reading import program
from verify.reading.generic_client import evaluated, world_of
from verify.reading.terms import POINT, Op, parts


def varying(claim: Claim) -> str:
    """Return which part of a claim, besides its step, depends on parameters that vary with the round; empty if none
    does.

    Quantities after a step have the parameters of the next round, and letters those of the first.
    """
    names = {*claim.statement.algorithm.schedules, ROUND}
    if len(names) == 1:
        return ""
    if own := next((str(x) for x, source in claim.setting.sources.items() if callable(source)), ""):
        return (
            f"the letter {own} is computed by a function, which may use parameters that vary with the round: write a "
            "letter of the class, or a parameter, in its place"
        )
    if depend_on_round(claim, [q.of for q in of_one_state(claim.statement.quantities)]):
        return "a quantity depends on parameters that vary with the round"
    return ""


def depend_on_round(claim: Claim, quantities: Iterable[Of]) -> bool:
    """Return True if some quantity depends on parameters that vary with the round. Raise ``Unread`` if its code is not
    read."""
    names = {*claim.statement.algorithm.schedules, ROUND}
    return len(names) > 1 and any(
        term.op is Op.LETTER and str(term.data) in names
        for given in (example(claim, case) for case in cases(claim))
        for q in quantities
        for term in parts(*program.quantities(q, _unscheduled(claim), given.problem, given.params))
    )


def at_most(claim: Claim, excess: Mapping[Of, sympy.Expr], signs: Signs, nonnegative: Callable[[Of], bool]) -> bool:
    """Return True if a sum of multiples of quantities is shown to be at most 0 where runs begin.

    Quantities that are zero there are left out, and those that are the same are one; ``nonnegative(q)``: whether one is
    shown not to be negative. Raise ``Unread`` if code is not read.
    """
    return not excess or all(_at_most(claim, case, excess, signs, nonnegative) for case in cases(claim))


def _at_most(
    claim: Claim, case: FunctionCase, excess: Mapping[Of, sympy.Expr], signs: Signs, nonnegative: Callable[[Of], bool]
) -> bool:
    beginning, terms = _where_runs_begin(claim, case), []
    for q in excess:
        found = program.at_start(q, *beginning)
        if len(found) != 1 or found[0].type.axes:
            return False
        terms.append(found[0])
    values = evaluated(world_of(*terms), terms)
    left = [(q, c, value) for (q, c), value in zip(excess.items(), values, strict=True) if not value.is_zero()]
    while left:
        (q, _, value), *_ = left
        same = [entry for entry in left if (entry[2] - value).is_zero()]
        left = [entry for entry in left if entry not in same]
        c = plain(sympy.Add(*(entry[1] for entry in same)))
        if c != 0 and not (signs.nonnegative(-c) and any(nonnegative(one) for one, _, _ in same)):
            return False
    return True


def equal(claim: Claim) -> list[tuple[str, str]]:
    """Pairs of parts of the state that are points and equal where runs begin. Raise ``Unread`` if code is not read."""
    return sorted(set.intersection(*(set(_equal(claim, case)) for case in cases(claim))))


def _equal(claim: Claim, case: FunctionCase) -> Iterator[tuple[str, str]]:
    begun = program.state_at_start(*_where_runs_begin(claim, case))
    values = dict(zip(begun, evaluated(world_of(*begun.values()), begun.values()), strict=True))
    for name, other in permutations(begun, 2):
        alike = begun[name].type.axes == begun[other].type.axes == POINT.axes
        if alike and (values[name] - values[other]).is_zero():
            yield name, other


def _where_runs_begin(claim: Claim, case: FunctionCase) -> tuple[Algorithm, Any, Any, tuple[str, ...]]:
    """Return the method, an example of a problem and of parameters, and the parts of the state that may start
    anywhere."""
    given = example(claim, case)
    return _unscheduled(claim), given.problem, given.params, claim.setting.drawing.start


def _unscheduled(claim: Claim) -> Algorithm:
    """Return the method of a claim with parameters that do not vary with the round."""
    return replace(claim.statement.algorithm, schedules={})


def held(claim: Claim) -> tuple[tuple[str, str], ...] | None:
    """All parts of the state, each with a part that no step changes and that is equal to it where runs begin; None if
    there are none for some. Raise ``Unread`` if code is not read."""
    kept: set[str] | None = None
    for case in cases(claim):
        given = example(claim, case)
        step = program.read(_unscheduled(claim), given.problem, given.params).step
        same = {name for name, t in step.items() if t.op is Op.PART and t.data == name}
        kept = same if kept is None else kept & same
        names = list(step)
    assert kept is not None
    places = {name: name for name in kept} | {name: other for name, other in equal(claim) if other in kept}
    return tuple(places.items()) if set(places) == set(names) else None


def depends(claim: Claim, q: Of, part: str = "") -> bool:
    """Return True if a quantity depends on a part of the state, by default on any. Raise ``Unread`` if its code is not
    read."""
    method = _unscheduled(claim)
    read = (program.quantities(q, method, of.problem, of.params) for of in (example(claim, c) for c in cases(claim)))
    return any(t.op is Op.PART and part in ("", t.data) for terms in read for t in parts(*terms))
