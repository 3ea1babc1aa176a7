"""Constants that meet the relations of a rule: each relation that fails, solved for one of its constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import sympy

from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Undefined, holds

#: Choices that are followed.
_MOST = 16
#: Values of the letters at which relations are tried.
_VALUES = (Fraction(1, 3), Fraction(2), Fraction(7, 5), Fraction(11))

Assignments = Mapping[sympy.Symbol, sympy.Expr]


def solved(statement: ParameterRule) -> Iterator[Assignments]:
    """Yield assignments that meet all relations at a few values of the letters, those with fewest changes first.

    A relation that fails is made an equation, and solved for one constant. The methods decide if the assignments meet
    the relations everywhere.
    """
    if statement.quantities:
        return
    found: list[Assignments] = []
    left = [dict(statement.assignments)]
    for _ in range(_MOST * len(statement.relations)):
        if not left:
            break
        assignments = left.pop(0)
        wrong = next((r for r in statement.relations if not _holds(r, assignments)), None)
        if wrong is None:
            found += [] if assignments in found else [assignments]
            continue
        # A bound on a constant alone is the shortest way.
        alone = [side for side in wrong.args if side in assignments]
        others = sorted(wrong.free_symbols & set(assignments) - set(alone), key=str)
        following = [{**assignments, s: v} for s in (*alone, *others) for v in _values(wrong, s, assignments)]
        left += [one for one in following if one not in left]
        del left[_MOST:]

    def departs(one: Assignments) -> int:
        return sum(value != statement.assignments[name] for name, value in one.items())

    yield from sorted((one for one in found if departs(one)), key=departs)


def _values(relation: sympy.Rel, symbol: sympy.Symbol, assignments: Assignments) -> list[sympy.Expr]:
    """Return the values of a constant at which the two sides are equal, with the other constants as assigned."""
    rest = {name: value for name, value in assignments.items() if name != symbol}
    difference = (relation.lhs - relation.rhs).subs(rest)
    try:
        values = sympy.solve(difference, symbol)
    except NotImplementedError:
        return []
    return [sympy.simplify(value) for value in values if symbol not in value.free_symbols]


def _holds(relation: sympy.Rel, assignments: Assignments) -> bool:
    """Return True if a relation holds at a few values of its letters."""
    put = relation.func(relation.lhs.subs(assignments), relation.rhs.subs(assignments), evaluate=False)
    letters = sorted(put.free_symbols, key=str)
    for shift in range(len(_VALUES)):
        at = {s: _VALUES[(i + shift) % len(_VALUES)] for i, s in enumerate(letters)}
        try:
            if not holds(put, at):
                return False
        except (Undefined, ArithmeticError, ValueError):
            continue
    return True
