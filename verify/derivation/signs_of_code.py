"""Quantities that are nowhere negative by the way they are written: sums of squares with nonnegative factors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fedtheory.claims import Claim
from verify.derivation.printed_rounds import Of
from verify.multipliers.cases import cases, example
from verify.reading import program
from verify.reading.signs import is_nonnegative
from verify.reading.terms import Axis, Op, Term


def is_sum_of_squares(claim: Claim, q: Of) -> bool:
    """Return True if a quantity is read as a sum of squares, with factors that are not negative. Raise ``Unread`` if
    its code is not read."""
    method = replace(claim.statement.algorithm, schedules={})
    signs = {source: letter for letter, source in claim.setting.sources.items() if isinstance(source, str)}
    for case in cases(claim):
        given = example(claim, case)
        found = program.quantities(q, method, given.problem, given.params)
        letters = {s for s, x in signs.items() if x.is_nonnegative}
        if len(found) != 1 or not is_nonnegative(found[0], partial(_is_letter, letters=letters)):
            return False
    return True


def _is_letter(term: Term, letters: set[str]) -> bool:
    """Return True if a term is one of the letters, the same for all clients."""
    number = term.op in (Op.LETTER, Op.GIVEN) and term.type.degree == 0 and Axis.CLIENTS not in term.type.axes
    return number and str(term.data) in letters
