"""The same code on floats and on fractions, far from the optimum and near it, and asked a second time.

What is proved or certified holds for exact numbers, and runs are made of floats: code that tells them apart is two
methods, of which one was examined. So is code that remembers what it was asked before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe, pick
from fedtheory.kinds.base import Statement
from fedtheory.numbers.rational import Undefined
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.comparisons import naming
from verify.comparisons.exact import Compared, Coordinates
from verify.comparisons.number_types import (
    AGAIN,
    FLOATS,
    TypeDifference,
    difference,
    explained,
    gap,
    in_floats,
    in_fractions,
    in_rounding,
    runs_on_states,
    spread,
)
from verify.evidence.counterexamples import Counterexample
from verify.evidence.parsing import number
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.search import states

#: Sizes of the states that are looked at.
SCALES = (Fraction(1), Fraction(1), Fraction(10) ** 9, Fraction(1, 1000))
#: Instances at which floats are compared with fractions, besides a share of those that are proposed.
LOOKED_AT = 6
#: Proposed for each instance that is looked at.
PROPOSED = 6
#: Condition numbers and constants beyond which floats say nothing.
TAME = 10**5
#: Differences are looked for at so many states next to the first, whose coordinates are off by up to 99 such parts.
NEIGHBOURS, FINE = 12, 10**7


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted where code differs by the type of its numbers, or from one call to the next."""
    example = test(inquiry.claim, inquiry.seed, LOOKED_AT + inquiry.size // 100)
    if example is None:
        return method.found(None, "floats and fractions agree, and so do repeated evaluations")
    note = f"a finding of its own: {number(example.left)} against {number(example.right)}"
    details = {"margin": -math.inf, "counterexample": example, "tightest": example.recipe}
    return method.found(Verdict.REFUTED, note, **details)


def test(claim: Claim, seed: int, count: int) -> Counterexample | None:
    """A place where code differs by the type of its numbers, or from call to call, at ``count`` instances; or None."""
    rng = np.random.default_rng([seed, 3])
    proposed = (r for r in islice(claim.instances.recipes(rng), PROPOSED * count) if _is_tame(r))
    first: list[tuple[Recipe, Coordinates, int, list[Compared]]] = []
    met = (Case.of(claim, instance, recipe) for recipe, instance in meeting(claim, proposed))
    for recipe in islice((case.recipe for case in met if not states.too_many(case)), count):
        case = Case(claim, recipe)
        try:
            point, rounds = _somewhere(case, rng), 1
            parts = list(in_fractions(case, point, rounds))
            found = _compared(case, point, rounds, parts, in_floats(case, point, rounds), FLOATS)
        except (Undefined, ArithmeticError):
            continue
        if found is not None:
            return found
        first.append((recipe, point, rounds, parts))
    for recipe, point, rounds, parts in first:
        case = Case(claim, recipe)
        found = _compared(case, point, rounds, parts, in_fractions(case, point, rounds), AGAIN)
        if found is not None:
            return found
    return None


def _compared(
    case: Case,
    point: Coordinates,
    rounds: int,
    one: list[Compared],
    two: Iterator[Compared],
    prefix: str,
) -> Counterexample | None:
    found = difference(point, one, two, prefix, spread(case.recipe))
    if found is None:
        return None
    if prefix == FLOATS and (
        _is_rounding(case, point, rounds, found)
        or _is_on_threshold(case, point, rounds)
        or _wavers(case, point, rounds, found)
    ):
        return None
    why = (
        "the code behaves differently for different number types"
        if prefix == FLOATS
        else "the code remembers earlier calls"
    )
    text = f"{case.instance.text}{naming.clause(case, point)}: {why}"
    part, entry, left, right = found
    return Counterexample(case.claim, case.recipe, point, rounds, part, entry, left, right, "==", text)


def _is_rounding(case: Case, point: Coordinates, rounds: int, found: TypeDifference) -> bool:
    """Return True if a difference may be due to rounding, however amplified by the code: the interval carried through
    all operations contains it, or there is no such interval.
    """
    if not math.isfinite(float(found.left)):
        return False
    try:
        return explained(found, in_rounding(case, point, rounds))
    except (ArithmeticError, ValueError, TypeError, AttributeError):
        return True


def _is_on_threshold(case: Case, point: Coordinates, rounds: int) -> bool:
    """Return True if floats do what fractions do at slightly different constants: rounding then crossed a condition.

    Whether ``gamma * L > 0.3`` holds at gamma = 1/10 and L = 3 depends on rounding. If only floats do something,
    fractions do it at no nearby constants.
    """
    rng = np.random.default_rng(0)
    floats = list(in_floats(case, point, rounds))
    for _ in range(NEIGHBOURS):
        off = {
            name: value * (1 + Fraction(int(rng.integers(-99, 100)), 10**12))
            for name, value in case.recipe.items()
            if isinstance(value, Fraction)
        }
        try:
            near = list(in_fractions(Case(case.claim, {**case.recipe, **off}), point, rounds))
            if difference(point, near, iter(floats), FLOATS, spread(case.recipe)) is None:
                return True
        except (ValueError, ArithmeticError):
            continue
    return False


def _wavers(case: Case, point: Coordinates, rounds: int, found: TypeDifference) -> bool:
    """Return True if the difference changes at neighbouring states, as rounding does."""
    size = 1 + max(map(abs, point), default=Fraction(0))
    first = float(found.left) - float(found.right)
    if not np.isfinite(first):
        return False
    rng = np.random.default_rng(0)
    moves = rng.integers(-99, 100, (NEIGHBOURS, len(point)))
    near = (tuple(v + size * Fraction(int(k), FINE) for v, k in zip(point, row, strict=True)) for row in moves)
    gaps = (gap(case, at, rounds, found.part, found.entry) for at in near)
    return any(not 0.5 <= other / first <= 2 for other in gaps)


def _is_tame(recipe: Any) -> bool:
    if isinstance(recipe, dict):
        return all(map(_is_tame, recipe.values()))
    if isinstance(recipe, tuple):
        return all(map(_is_tame, recipe))
    return not isinstance(recipe, Fraction) or recipe == 0 or 1 / TAME <= abs(recipe) <= TAME


def _somewhere(case: Case, rng: np.random.Generator) -> Coordinates:
    size = case.dimension
    scale = pick(rng, SCALES)
    return tuple(scale * Fraction(int(v), 8) for v in rng.integers(-40, 41, size))


METHOD = Method(
    "number types",
    "floats against fractions, and two evaluations of the same thing",
    (Statement,),
    run,
    applies=runs_on_states,
)
