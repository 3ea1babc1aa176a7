"""Confirmation: a violation counts only when fractions show it, or intervals do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedtheory.kinds.scope import Scope
from fedtheory.numbers.intervals import Interval, Undefined
from fedtheory.numbers.rational import Array
from verify.base.case import Case
from verify.comparisons import naming
from verify.comparisons.deciding import certainly, finite, is_open, plain, violated
from verify.comparisons.exact import Compared, Coordinates, parts
from verify.evidence.counterexamples import Counterexample
from verify.search import vanishing


def nearest(theta: Array) -> Coordinates:
    """``theta`` itself, to twelve digits; next to 0 as it is."""
    if float(abs(theta).max(initial=0.0)) < 1e-3:
        return tuple(map(Fraction, theta.tolist()))
    return tuple(Fraction(v).limit_denominator(10**12) for v in theta.tolist())


def roundings(theta: Array) -> Iterator[Coordinates]:
    """Simple rational states near ``theta``, simplest first: scaled to largest entry 1, then as it is."""
    size = float(abs(theta).max(initial=0.0))
    if size == 0:
        return
    for denominator in (1, 2, 3, 4, 6, 8, 12, 24, 60, 1000, 10**6):
        yield tuple(Fraction(round(v * denominator / size), denominator) for v in theta.tolist())
    for denominator in (1, 2, 3):
        yield tuple(Fraction(round(2 * v * denominator / size), denominator) for v in theta.tolist())
    for denominator in (1, 4, 60, 10**6):
        yield tuple(Fraction(v).limit_denominator(denominator) for v in theta.tolist())


def refute(case: Case, point: Coordinates, rounds: int) -> Counterexample | None:
    """The counterexample at an exact state, or None if the claim holds there, or nobody knows."""
    point = vanishing.onto(case, point)
    try:
        compared = certainly(lambda: list(parts(case, point, rounds)), lambda found: any(map(_open, found)))
    except (ArithmeticError, Undefined):
        # Undecided; or a side is not a number, which is neither larger nor smaller.
        return None
    for part, left, right, relation, *_ in compared:
        wrong = [i for i, (a, b) in enumerate(zip(left, right, strict=True)) if violated(a, b, relation)]
        if wrong:
            entry = max(wrong, key=lambda i: _distance(left[i], right[i]))
            text = naming.place(_words(case), _where(case, part, point, rounds))
            return Counterexample(
                case.claim,
                case.recipe,
                point,
                rounds,
                part,
                entry,
                plain(left[entry]),
                plain(right[entry]),
                relation,
                text,
            )
    return None


def _open(compared: Compared) -> bool:
    return any(is_open(a, b, compared.relation) for a, b in zip(compared.left, compared.right, strict=True))


def _distance(left: Any, right: Any) -> Any:
    """Return the distance of two sides; infinity if one of them is not finite."""
    a, b = Interval.of(left), Interval.of(right)
    return abs(a - b).middle if isinstance(a, Interval) and isinstance(b, Interval) else float("inf")


def _words(case: Case) -> str:
    """The instance in words; of bare constants only those that the statement mentions."""
    if not case.setting.of_constants:
        return case.instance.text
    used = {str(s) for c in case.statement.comparisons for side in (c.left, c.right) for s in side.free_symbols}
    return ", ".join(f"{name}={value}" for name, value in case.recipe.items() if name in used)


def _where(case: Case, part: str, point: Coordinates, rounds: int) -> str:
    where = naming.clause(case, point)
    if part == "domain":
        return where + ": one step leaves the constraint set, where the left side is infinite (residual against 0)"
    if part == "residual":
        return where + ": the invariant fails after one step (residual against 0)"
    if part == "fixed point":
        return ": a state that every step leaves as it is, and that is not the limit (potential against 0)"
    if case.statement.scope is Scope.COMPRESSOR:
        return f"{where}: {part}"
    return where + naming.later(case.claim, rounds)


def margin(found: Counterexample) -> float:
    """The margin of a violation, rounded; -inf where a side is not a number, or the ratio is beyond the floats."""
    if not (finite(found.left) and finite(found.right)):
        return -math.inf
    # In fractions: the difference may be next to nothing.
    left, right = (Interval.of(side).middle for side in (found.left, found.right))
    if found.relation == "==":
        relative = -abs(left - right) / (max(abs(left), abs(right)) or 1)
    elif right > 0:
        relative = 1 - left / right
    else:
        relative = (right - left) / (abs(left) + abs(right) or 1)
    try:
        # A violation is none of 0, however small.
        return round(float(relative), 9) or float(relative)
    except OverflowError:
        return -math.inf
