"""The states of counterexamples in the paper's letters: "x = (0, 1), y_1 = 1/2, y_2 = -1/2"."""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from fedtheory.claims import Claim
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import real
from verify.base.case import Case
from verify.comparisons.exact import Coordinates, as_row

#: Longer fractions are written as decimals.
_LONGEST = 25
#: Characters of a fraction from which on a decimal is easier to read.
_LONG = 12
#: The marks in the text of an instance of a problem that was moved, and of its original position.
_MOVED, _BEFORE = "moved to x*", re.compile(r"(?<=; )x\* = \([^)]*\); ")
#: Letters up to this one denote numbers and functions: rows of a matrix that has such a name keep its capital.
_LAST_OF_NUMBERS = "n"


def state(case: Case, point: Coordinates) -> str:
    """The state at these coordinates, each of its parts by name; empty where there is none.

    Where the coordinates move the problem rather than the state its minimiser is named as well. Coordinates of states
    that have no named parts are printed as they are.
    """
    if not point:
        return ""
    if case.statement.scope is Scope.COMPRESSOR:
        return f"x = {vector(point)}"
    try:
        problem, found = case.start(as_row(point))
        named = words(found)
    except (ValueError, ArithmeticError):
        named = ""
    if not named:
        return f"state {vector(point)}" if len(point) > 1 else f"state ({point[0]})"
    moved = problem is not case.problem and getattr(problem, "x_star", None) is not None
    return f"{optimum(problem)}; {named}" if moved else named


def clause(case: Case, point: Coordinates) -> str:
    """As :func:`state`, to follow the words of the instance."""
    found = state(case, point)
    return f"; {found}" if found else ""


def place(text: str, where: str) -> str:
    """The words of an instance and the clause that follows them; of a problem that was moved not where it was."""
    return (_BEFORE.sub("", text) if where.startswith(f"; {_MOVED}") else text) + where


def later(claim: Claim, rounds: int) -> str:
    """After how many rounds sides are compared, where a statement is about steps."""
    return f", after {rounds} round{'s' if rounds != 1 else ''}" if claim.statement.stepping else ""


def words(found: Any, names: Collection[str] | None = None) -> str:
    """A state, each of its parts by name, or those of these ``names``; of a whole run the initial state.

    Empty where its parts have no names.
    """
    if hasattr(found, "states"):
        found = found.states()[0]
    if not hasattr(found, "_fields"):
        return ""
    wanted = found._fields if names is None else names
    parts = {name: _core(part, max(np.ndim(part) - 2, 0)) for name, part in zip(found._fields, found, strict=True)}
    zero = [
        name for name, part in parts.items() if name in wanted and part.ndim > 1 and len(part) > 1 and not part.any()
    ]
    zeros = [f"{' = '.join(f'{_row(name)}_i' for name in zero)} = 0"] if zero else []
    others = [name for name in parts if name in wanted and name not in zero]
    return ", ".join([*(text for name in others for text in _part(name, parts[name])), *zeros])


def optimum(problem: Any) -> str:
    """The minimiser of a problem that was moved, and the clients' gradients there."""
    slopes = ", ".join(f"grad f_{i}(x*) = {vector(row)}" for i, row in enumerate(_core(problem.y_star, 2), 1))
    return f"{_MOVED} = {vector(_core(problem.x_star, 1))}, {slopes}"


def vector(values: Any) -> str:
    """A vector in brackets; one of a single coordinate without."""
    entries = [number(value) for value in np.asarray(values).ravel()]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"


def number(value: Any) -> str:
    """A number, as a fraction where that is exact and short."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if value == 0:
        return "0"
    exact = isinstance(value, int | Fraction | np.integer)
    if not exact or not _is_short(value):
        return f"about {mpmath.nstr(real(value), 12)}"
    fraction, decimal = str(value), _decimal(value)
    return decimal if len(fraction) > _LONG and len(decimal) < len(fraction) else fraction


def _decimal(value: Any) -> str:
    """A short number as a decimal, if it is one; else as it is written."""
    rest, places = value.denominator, 0
    while 10**places % rest and places < _LONGEST:
        places += 1
    if 10**places % rest:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // rest).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}" if places else str(value)


def _is_short(value: Any) -> bool:
    # Very long integers are not written out to see how long they are.
    return max(abs(value.numerator), value.denominator) < 10**_LONGEST and len(str(value)) <= _LONGEST


def _part(name: str, part: Any) -> list[str]:
    """A part of a state, by its name; of one vector for each client each of them."""
    if part.ndim < 2:
        return [f"{name} = {vector(part)}"] if part.size else []
    return [f"{_row(name)}_{i} = {vector(values)}" for i, values in enumerate(part, 1)]


def _row(name: str) -> str:
    """Return the name of a matrix's row: W is the matrix of w_1, w_2, ..."""
    return name.lower() if name.istitle() and name.lower() > _LAST_OF_NUMBERS else name


def _core(part: Any, axes: int) -> Any:
    """The last axes of what stands at a single state."""
    found = np.asarray(part)
    return np.asarray(found.reshape(-1, *found.shape[found.ndim - axes :])[0])
