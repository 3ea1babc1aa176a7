"""z3's solvers, each in a context of its own.

The answer of a solver, the values that it gives, and whether it gives any before it gives up depend on the numbers of
the expressions in its context, and so in a shared one on all questions before. In a context of its own they are a
function of the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import z3

#: Digits of what is irrational.
_DIGITS = 30


def solver(conditions: Iterable[Any], effort: int, logic: str | None = None) -> Any:
    """A solver that has these conditions, for a logic if one is named, and gives up after an effort, in z3's units."""
    context = z3.Context()
    found = z3.Solver(ctx=context) if logic is None else z3.SolverFor(logic, ctx=context)
    found.set("rlimit", effort)
    found.add(*(condition.translate(context) for condition in conditions))
    return found


def values(solver: Any, unknowns: Sequence[Any]) -> list[Fraction]:
    """The values of unknowns with which a solver met its conditions, cut off where they are irrational."""
    model = solver.model()
    found = [model.eval(x.translate(solver.ctx), model_completion=True) for x in unknowns]
    rational = [v.approx(_DIGITS) if z3.is_algebraic_value(v) else v for v in found]
    return [Fraction(v.as_fraction()) for v in rational]
