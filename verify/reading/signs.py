"""Numbers that are nonnegative by the way they are written: sums of squares with nonnegative factors."""

from __future__ import annotations

from collections.abc import Callable

from verify.reading.terms import Op, Term

_ROOTS = (Op.ROOT, Op.SIZE)
_SUMS = (Op.ADD, Op.MULTIPLY, Op.DIVIDE, Op.POWER, Op.SUM, Op.VIEW)


def is_nonnegative(term: Term, known: Callable[[Term], bool]) -> bool:
    """Return True if a term is a sum, product or quotient of squares, of roots, of counts, of masks, which are 0 or 1,
    and of terms that are ``known`` to be nonnegative."""
    if term.op is Op.CONSTANT:
        return bool(term.data >= 0)
    if term.op is Op.COUNT or term.op in _ROOTS or term.type.mask or known(term):
        return True
    if term.op is Op.POWER and term.data % 2 == 0:
        return True
    if term.op is Op.MULTIPLY and term.of[0] is term.of[1]:
        return True
    return term.op in _SUMS and all(is_nonnegative(part, known) for part in term.of)
