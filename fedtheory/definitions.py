"""Letters that a hypothesis defines, as theta = 1 - sqrt(1 - alpha): each stands for its definition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any

import sympy

from fedtheory.kinds.base import Statement
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison


def put_in(
    statement: Statement, requires: Sequence[Hypothesis], known: Collection[str]
) -> tuple[Statement, tuple[Hypothesis, ...]]:
    """A statement and its hypotheses without the letters that hypotheses define.

    ``known``: names of letters that have values, and are not defined. That a letter is declared positive, or
    nonnegative, becomes a hypothesis on what it stands for.
    """
    left = list(requires)
    while (found := _definition(left, known)) is not None:
        k, letter, value = found
        if not value.has(letter):
            by = {letter: value}
            sign = sympy.Gt(value, 0) if letter.is_positive else sympy.Ge(value, 0) if letter.is_nonnegative else None
            rest = [_without(h, by) for h in (*left[:k], *left[k + 1 :])]
            signed = [] if sign in (None, sympy.true) else [replace(left[k], relation=sign)]
            if sympy.false not in (sign, *(h.relation for h in rest)):
                left = [h for h in (*rest[:k], *signed, *rest[k:]) if h.relation is not sympy.true]
                statement = _stated_without(statement, by)
                continue
        known = {*known, str(letter)}
    return statement, tuple(left)


def _definition(requires: Sequence[Hypothesis], known: Collection[str]) -> tuple[int, sympy.Symbol, sympy.Expr] | None:
    """The first hypothesis that defines a letter, and what it says the letter is."""
    for k, hypothesis in enumerate(requires):
        relation = hypothesis.relation
        if not isinstance(relation, sympy.Eq):
            continue
        for letter, value in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
            if isinstance(letter, sympy.Symbol) and str(letter) not in known and not letter.is_integer:
                return k, letter, value
    return None


def _without(hypothesis: Hypothesis, by: dict[sympy.Symbol, sympy.Expr]) -> Hypothesis:
    if hypothesis.relation is None or not hypothesis.relation.has(*by):
        return hypothesis
    found = hypothesis.relation.xreplace(by)
    # A relation that holds for all letters adds nothing; one that never holds is reported where it was made.
    return hypothesis if found in (sympy.true, sympy.false) else replace(hypothesis, relation=found)


def _stated_without(statement: Statement, by: dict[sympy.Symbol, sympy.Expr]) -> Statement:
    changes = {f.name: _put(getattr(statement, f.name), by) for f in fields(statement)}
    return replace(statement, **changes)


def _put(part: object, by: dict[sympy.Symbol, sympy.Expr]) -> Any:
    if isinstance(part, sympy.Basic):
        return part.xreplace(by)
    if isinstance(part, Comparison):
        return Comparison(*(_put(side, by) for side in part))
    return tuple(_put(one, by) for one in part) if type(part) is tuple else part
