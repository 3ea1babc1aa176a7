"""The numbers of the same code on floats and on fractions, and when it is asked a second time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Start
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.intervals import Interval, rounded, rounding
from fedtheory.numbers.rational import to_float
from fedtheory.problems.base import Problem
from verify.base.case import Case
from verify.comparisons.exact import Compared, Coordinates, as_row, parts, parts_at

#: The names of these comparisons in counterexamples, before the part and the side: one number against the other.
FLOATS, AGAIN = "floats against fractions: ", "asked again: "
#: Agreement that is asked for, relative to the largest entry: what cancels at condition numbers of 1e8 may lose more.
AGREE = 1e-4
#: The remainder where all cancels, relative to the numbers that cancel.
ROUNDED = 1e-12


class TypeDifference(NamedTuple):
    """A number that is another than it was: of which part and entry, what it is (``left``) and what it was."""

    part: str
    entry: int
    left: Any
    right: Any


def runs_on_states(claim: Claim) -> bool:
    """Return True if a claim has code that runs on states."""
    statement = claim.statement
    on_states = statement.stepping or statement.scope is Scope.STATE or statement.residual is not None
    return on_states and not claim.setting.of_constants


def sides(case: Case, point: Coordinates, rounds: int, part: str, entry: int) -> tuple[Any, Any]:
    """Both numbers of a counterexample of this module. Raise ``ValueError`` if they agree.

    What was asked again cannot be asked for the first time: code that forgets in between agrees.
    """
    prefix = FLOATS if part.startswith(FLOATS) else AGAIN
    again = in_floats if prefix == FLOATS else in_fractions
    one = list(in_fractions(case, point, rounds))
    found = difference(point, one, again(case, point, rounds), prefix, spread(case.recipe))
    if found is None or (found.part, found.entry) != (part, entry):
        raise ValueError(f"the numbers of {case.claim.id} agree at {part!r}")
    return found.left, found.right


def in_fractions(case: Case, point: Coordinates, rounds: int) -> Iterator[Compared]:
    """Every comparison at one state of an exact instance, which is built anew each time."""
    return parts(case.anew(), point, rounds)


def in_floats(case: Case, point: Coordinates, rounds: int) -> Iterator[Compared]:
    """As :func:`in_fractions`, of the same instance in floats."""
    row = to_float(as_row(point))
    # An overflow says nothing about the code.
    with np.errstate(all="ignore", over="raise"):
        return iter(list(parts_at(case.anew().floats, row, rounds)))


def in_rounding(case: Case, point: Coordinates, rounds: int) -> list[Compared]:
    """As :func:`in_fractions`, each number as the interval in which it lies in floats, however they are rounded.

    ``ArithmeticError``, ``ValueError`` or ``TypeError`` where some number is not enclosed.
    """
    with rounding():
        at = Case.of(case.claim, _rounded(case.anew().instance))
        return list(parts_at(at, rounded(as_row(point)), rounds))


def _rounded(instance: Instance) -> Instance:
    """An exact instance with its constants as they may be in floats."""

    def start(at: Start | None) -> Start | None:
        return None if at is None else lambda theta: _rounded_problem(*at(theta))

    params = instance.params
    if hasattr(params, "_replace"):
        params = params._replace(**{name: rounded(value) for name, value in params._asdict().items()})
    problem, _ = _rounded_problem(instance.problem, None)
    at = start(instance.at) or instance.at
    return replace(instance, problem=problem, params=params, at=at, initial=start(instance.initial))


def _rounded_problem(problem: Any, state: Any) -> tuple[Any, Any]:
    if not isinstance(problem, Problem):
        return problem, state
    declared = problem.declared and tuple(map(rounded, problem.declared))
    known = problem.known and replace(problem.known, x=rounded(problem.known.x), y=rounded(problem.known.y))
    return replace(problem, declared=declared, known=known), state


def explained(found: TypeDifference, enclosed: Iterable[Compared]) -> bool:
    """Return True if the number of a difference in floats lies where rounding may have brought it."""
    name, side = found.part.removeprefix(FLOATS).rsplit(" ", 1)
    number = next((getattr(c, side)[found.entry] for c in enclosed if c.name == name), None)
    if not isinstance(number, Interval):
        return False
    return bool(number.low <= Fraction(float(found.left)) <= number.high)


def spread(recipe: Any) -> float:
    """The largest constant of a recipe, or inverse of one: 1 or more."""
    if isinstance(recipe, Mapping):
        return max(map(spread, recipe.values()), default=1.0)
    if isinstance(recipe, tuple):
        return max(map(spread, recipe), default=1.0)
    return float(max(abs(recipe), 1 / abs(recipe))) if isinstance(recipe, Fraction) and recipe else 1.0


def difference(
    point: Coordinates, one: Iterable[Compared], two: Iterable[Compared], prefix: str, spread: float
) -> TypeDifference | None:
    """The first number by which what was found at a state differs from what was found before (``one``), or None.

    ``prefix``: ``FLOATS``, where rounding is allowed for, or ``AGAIN``, where the numbers must be the same. ``spread``:
    that of the constants.
    """
    # Where all cancels, what is left is the rounding of squares, of constants times states.
    rounding = ROUNDED * (spread * (1 + float(max(map(abs, point), default=Fraction(0))))) ** 2
    for a, b in zip(one, two, strict=True):
        if not len(a.left) or not len(b.left):
            # The claim does not cover the state in one of them.
            continue
        size = max((abs(float(v)) for side in (a.left, a.right) for v in side), default=0.0)
        for side in ("left", "right"):
            pairs = list(zip(getattr(a, side), getattr(b, side), strict=True))
            off = [abs(float(x) - float(y)) for x, y in pairs]
            room = AGREE * size + rounding + ROUNDED * a.among if prefix == FLOATS else 0.0
            entry = next((k for k, gap in enumerate(off) if not gap <= room), None)
            if entry is not None and np.isfinite(size):
                return TypeDifference(f"{prefix}{a.name} {side}", entry, pairs[entry][1], pairs[entry][0])
    return None


def gap(case: Case, point: Coordinates, rounds: int, part: str, entry: int) -> float:
    """The error of the number of a difference of floats from fractions at another state."""
    name, side = part.removeprefix(FLOATS).rsplit(" ", 1)
    compared = (run(case, point, rounds) for run in (in_floats, in_fractions))
    floats, exact = (next(getattr(c, side)[entry] for c in found if c.name == name) for found in compared)
    return float(floats) - float(exact)
