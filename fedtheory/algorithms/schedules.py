"""Schedules: parameters of a method that vary with the round, such as a stepsize c / (k + 1).

A schedule is a sympy expression in the index k of the round and in the letters of the parameters and of the problem.
The parameters of a method that has some hold their values at one round, and that round itself as the field ``round``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.instances import number, pick, value_of
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.rational import evaluate
from fedtheory.numbers.symbols import round_index

#: The field of the parameters that holds the round, and what recipes call it.
ROUND = "round"
#: The letters of the problem that a schedule may involve.
OF_PROBLEM = ("mu", "L", "n", "d", "kappa")
#: The last round that is drawn.
LAST = 10**6

#: Rounds, and values of the letters, at which a schedule must make sense.
_ROUNDS = (0, 1, 2, 3, 10, 999, 1000, 1001, 10**4, 10**5, LAST)
_VALUES = tuple(Fraction(v) for v in ("1/100", "1/10", "1/2", 1, 3, 10, 100))


class Irrational(ValueError):
    """Raised for a schedule that is not a fraction at some round."""


def checked(schedules: Mapping[str, object], params: Sequence[str]) -> dict[str, sympy.Expr]:
    """The schedules as expressions.

    ``ValueError`` for a name that the method's parameters have, for a letter that neither they nor the problem have,
    and for a schedule that is not a number, infinite or negative at some round for all its letters.
    """
    found = {}
    for name, given in schedules.items():
        if name in params or name == ROUND:
            raise ValueError(
                f"{name} has a schedule, so it is none of the other parameters: leave it out of their list"
            )
        with suppress(sympy.SympifyError, TypeError, AttributeError):
            found[name] = sympy.sympify(given, strict=True)
        if not isinstance(found.get(name), sympy.Expr):
            raise ValueError(f"the schedule of {name} must be an expression in k, got {given!r}")
        _check(name, found[name], params)
    return found


def _check(name: str, schedule: sympy.Expr, params: Sequence[str]) -> None:
    letters = sorted(schedule.free_symbols - {round_index}, key=str)
    for letter in letters:
        if str(letter) == str(round_index):
            raise ValueError(f"the schedule of {name} uses a k other than fedtheory.round_index, which may be 0")
        if str(letter) not in (*params, *OF_PROBLEM):
            raise ValueError(f"the schedule of {name} mentions {letter}, which is not a parameter of the method")
    for k in _ROUNDS:
        # One choice of the letters at which it makes sense is enough: hypotheses may ask for that.
        at = [_fault(schedule, {round_index: k, **dict.fromkeys(letters, value)}) for value in _VALUES]
        if all(at):
            raise ValueError(f"the schedule {name} = {schedule} is {at[0]} at k = {k}")


def _fault(schedule: sympy.Expr, values: Mapping[sympy.Expr, object]) -> str:
    """Return what is wrong with a schedule at a round for these values of its letters; empty if nothing."""
    try:
        value = evaluate(schedule, values)
        infinite = not np.isfinite(float(value))
    except (ValueError, ArithmeticError, TypeError):
        return "no number"
    if infinite:
        return "infinite"
    return "negative" if value < 0 else ""


def at_round(schedules: Mapping[str, sympy.Expr], problem: object, params: Any, k: int, exact: bool) -> Any:
    """The parameters at round k with the values of their schedules, fractions if ``exact``; unchanged without any.

    Raise ``ValueError`` if a schedule has no value, and :class:`Irrational` if ``exact`` and the value at this round is
    not a fraction. With the root of a number, such as sqrt(2), the value is an interval that encloses it.
    """
    if not schedules:
        return params
    if not isinstance(k, int) or k < 0:
        raise ValueError(f"a round is an integer of at least 0, got {k}")
    values = {}
    for name, schedule in schedules.items():
        letters = schedule.free_symbols - {round_index}
        given = {letter: value_of(str(letter), problem, params) for letter in letters}
        value = evaluate(schedule, {**given, round_index: k})
        if exact and isinstance(value, Interval) and _has_root_of_number(schedule):
            values[name] = value
            continue
        if exact and not isinstance(value, int | Fraction):
            raise Irrational(f"the schedule {name} = {schedule} is irrational at k = {k}")
        values[name] = number(value, exact)
    return params._replace(**values, **{ROUND: k})


def _has_root_of_number(schedule: sympy.Expr) -> bool:
    return any(power.is_number and not power.is_rational for power in schedule.atoms(sympy.Pow))


def drawn(rng: np.random.Generator) -> int:
    """A round: one of the first, or any on a logarithmic scale, or one next to a square, where roots are rational."""
    scale = float(rng.random())
    match pick(rng, ("first", "any", "square")):
        case "first":
            return int(rng.integers(0, 4))
        case "any":
            return round(LAST**scale)
    return max(0, round(LAST ** (scale / 2)) ** 2 - pick(rng, (0, 1)))
