"""Evaluate quantities at the start of runs, as far as the code of ``init`` and of the quantities determines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy

from fedtheory.algorithms.schedules import ROUND
from fedtheory.claims import Claim
from fedtheory.settings.relations import of_one_state
from verify.derivation.printed_rounds import Of
from verify.derivation.sequences import Signs, plain
from verify.multipliers.cases import FunctionCase, cases, example
from verify.reading import program
from verify.reading.generic_client import evaluated, world_of
from verify.reading.terms import Op, parts


def varying(claim: Claim) -> str:
    """Return which part of a claim, besides its step, depends on parameters that vary with the round; empty if none
    does.

    Quantities after a step have the parameters of the next round, and letters those of the first.
    """
    names = {*claim.statement.algorithm.schedules, ROUND}
    if len(names) == 1:
        return ""
    if own := next((str(x) for x, source in claim.setting.sources.items() if callable(source)), ""):
        return f"the letter {own} is computed by code"
    method = replace(claim.statement.algorithm, schedules={})
    functions = [q.of for q in of_one_state(claim.statement.quantities)]
    for case in cases(claim):
        given = example(claim, case)
        for q in functions:
            terms = program.quantities(q, method, given.problem, given.params)
            if any(term.op is Op.LETTER and str(term.data) in names for term in parts(*terms)):
                return "a quantity depends on parameters that vary with the round"
    return ""


def at_most(claim: Claim, excess: Mapping[Of, sympy.Expr], signs: Signs, nonnegative: Callable[[Of], bool]) -> bool:
    """Return True if a sum of multiples of quantities is shown to be at most 0 where runs begin.

    Quantities that are zero there are left out, and those that are the same are one; ``nonnegative(q)``: whether one is
    shown not to be negative. Raise ``Unread`` if code is not read.
    """
    return not excess or all(_at_most(claim, case, excess, signs, nonnegative) for case in cases(claim))


def _at_most(
    claim: Claim, case: FunctionCase, excess: Mapping[Of, sympy.Expr], signs: Signs, nonnegative: Callable[[Of], bool]
) -> bool:
    given, free = example(claim, case), claim.setting.drawing.start
    method = replace(claim.statement.algorithm, schedules={})
    terms = []
    for q in excess:
        found = program.at_start(q, method, given.problem, given.params, free)
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
