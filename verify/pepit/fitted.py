"""Worst cases as functions of the letters of a model: a quotient of polynomials through exact values at points.

It only proposes. That there are more points than coefficients makes it likely, and a proof for all letters decides.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import flint

from verify.multipliers.ratios import Ratio, from_terms
from verify.pepit import capture, certifying, exactly, invariances
from verify.pepit.algebraic import Algebraic, rational
from verify.pepit.numbers_in_letters import NumberInLetters, Run

#: Values of letters at the points.
_VALUES = tuple(Fraction(a, b) for a in range(1, 9) for b in range(1, 6) if math.gcd(a, b) == 1)
#: The seed with which points are drawn.
_SEED = 1
#: The most points that are drawn, whether they meet the conditions or not.
_DRAWN = 4000
#: Points beyond the number of coefficients.
_MORE = 3
#: The most coefficients of a quotient.
_WIDTH = 72
#: The largest degree of its polynomials.
_DEGREE = 8
#: The most points whose worst case may be unknown.
_MISSED = 5

#: A point of the letters, and the worst case there.
Sample = tuple[dict[str, Fraction], Fraction]


def value(problem: Any, run: Run, conditions: Sequence[tuple[Ratio, bool]]) -> Ratio:
    """The simplest quotient of polynomials in the letters through the worst cases of a problem at points.

    ``conditions``: what is >= 0, or > 0, at the points, beside what the file compared. ``ValueError`` where there is no
    quotient of few coefficients, or a worst case is none that is known exactly.
    """
    points = _samples(problem, run, conditions)
    known: list[Sample] = []
    for above, below in _shapes(len(run.names)):
        width = len(above) + len(below)
        while len(known) < width + _MORE:
            sample = next(points, None)
            if sample is None:
                raise ValueError(_none(len(known), run, "too few are known exactly"))
            known.append(sample)
        found = _through(known, above, below, run)
        if found is not None:
            return found
    raise ValueError(_none(len(known), run, "none with few coefficients goes through them"))


def _none(points: int, run: Run, why: str) -> str:
    return (
        f"the function states no value, and the worst cases at {points} points show none that is a quotient of "
        f"polynomials in {', '.join(run.names)}: {why}. "
        "Let it return one, as in `return problem.solve(), L / (4*n + 2)`"
    )


#: Exponents of the letters in each monomial.
Monomials = list[tuple[int, ...]]


def _shapes(letters: int) -> list[tuple[Monomials, Monomials]]:
    """The monomials of numerators and denominators, those of few coefficients first."""
    of_degree = [
        [m for m in product(range(degree + 1), repeat=letters) if sum(m) <= degree] for degree in range(_DEGREE + 1)
    ]
    pairs = [(above, below) for above in of_degree for below in of_degree if len(above) + len(below) <= _WIDTH]
    return sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), len(pair[1])))


def _through(known: Sequence[Sample], above: Monomials, below: Monomials, run: Run) -> Ratio | None:
    """The quotient with these monomials whose values are known; None if there is none."""
    rows = []
    for point, worst in known:
        letters = [point[name] for name in run.names]

        def at(exponents: tuple[int, ...], letters: Sequence[Fraction] = letters) -> Fraction:
            return math.prod((x**k for x, k in zip(letters, exponents, strict=True)), start=Fraction(1))

        rows.append([*map(at, above), *(-worst * at(m) for m in below)])
    table = flint.fmpq_mat(len(rows), len(rows[0]), [rational(v) for row in rows for v in row])
    for _, vector in invariances.kernel(table):
        numbers = [certifying.fraction(v) for v in vector]
        top = from_terms(run.ring, dict(zip(above, numbers[: len(above)], strict=True)))
        bottom = from_terms(run.ring, dict(zip(below, numbers[len(above) :], strict=True)))
        if bottom != 0:
            return Ratio.of(top, bottom)
    return None


def _samples(problem: Any, run: Run, conditions: Sequence[tuple[Ratio, bool]]) -> Iterator[Sample]:
    """Points that meet the conditions, where comparisons have the answers of the base point, with the worst cases."""
    draws = random.Random(_SEED)
    seen: set[tuple[Fraction, ...]] = set()
    missed = 0
    for _ in range(_DRAWN):
        drawn = tuple(draws.choice(_VALUES) for _ in run.names)
        point = dict(zip(run.names, drawn, strict=True))
        if drawn in seen or not _is_inside(point, run, conditions):
            continue
        seen.add(drawn)
        model, rounded = capture.model_of(problem, partial(_number, run=run, point=point))
        worst = certifying.bounds(model, None, rounded).exact
        there = ", ".join(f"{name} = {x}" for name, x in point.items())
        if isinstance(worst, Algebraic):
            raise ValueError(
                f"the function states no value, and the worst case at {there} is {worst}, not a quotient "
                "of polynomials in the letters"
            )
        if worst is not None:
            yield point, worst
        elif (missed := missed + 1) > _MISSED:
            return


def _is_inside(point: dict[str, Fraction], run: Run, conditions: Sequence[tuple[Ratio, bool]]) -> bool:
    """Return True if the point meets all conditions with room."""
    try:
        return all(run.at(of, point) > 0 for of, _ in conditions) and all(
            run.at(a.of, point) != 0 if a.apart else run.at(a.of, point) > 0 for a in run.answers.values()
        )
    except ZeroDivisionError:
        return False


def _number(weight: Any, small: bool, run: Run, point: dict[str, Fraction]) -> exactly.Exact | None:
    """The coefficient at a point."""
    return exactly.Exact(run.at(weight.of, point)) if type(weight) is NumberInLetters else exactly.of(weight, small)
