"""Quantities that are nowhere negative by the way they are written: sums of squares with nonnegative factors."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.claims import Claim
from verify.derivation.printed_rounds import Of
from verify.multipliers.cases import cases, example
from verify.reading import program
from verify.reading.terms import Axis, Op, Term


def is_sum_of_squares(claim: Claim, q: Of) -> bool:
    """Return True if a quantity is read as a sum of squares, with factors that are not negative. Raise ``Unread`` if
    its code is not read."""
    method = replace(claim.statement.algorithm, schedules={})
    signs = {source: letter for letter, source in claim.setting.sources.items() if isinstance(source, str)}
    for case in cases(claim):
        given = example(claim, case)
        found = program.quantities(q, method, given.problem, given.params)
        if len(found) != 1 or not _is_nonnegative(found[0], {s for s, x in signs.items() if x.is_nonnegative}):
            return False
    return True


def _is_nonnegative(term: Term, letters: set[str]) -> bool:
    """Return True if a term is a sum, product or quotient of squares, of letters that are nonnegative and of counts."""
    if term.op is Op.CONSTANT:
        return bool(term.data >= 0)
    if term.op is Op.COUNT:
        return True
    if term.op in (Op.LETTER, Op.GIVEN) and term.type.degree == 0 and Axis.CLIENTS not in term.type.axes:
        return str(term.data) in letters
    if term.op is Op.POWER and term.data % 2 == 0:
        return True
    if term.op is Op.MULTIPLY and term.of[0] is term.of[1]:
        return True
    sums = (Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER, Op.SUM, Op.VIEW)
    return term.op in sums and all(_is_nonnegative(part, letters) for part in term.of)
