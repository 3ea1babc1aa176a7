"""The same code on floats and on fractions, far from the optimum and near it, and asked a second time.

What is proved or certified speaks of exact numbers, and runs are made of floats: code that tells them apart is two
methods, of which one was examined. So is code that remembers what it was asked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe, pick
from fedtheory.rational import Undefined, to_float
from fedtheory.statements import Bound, Identity, Inequality, Invariant, OneStep
from verify.evaluate import dimension, meeting
from verify.evidence import Counterexample
from verify.methods import refutation, states
from verify.methods.refutation import Compared, Coordinates

#: The parts of counterexamples that this module replays: the one number against the other.
FLOATS, AGAIN = "floats against fractions: ", "asked again: "
#: Agreement that is asked for, relative to the largest entry: what cancels at condition numbers of 1e8 may lose more.
AGREE = 1e-4
#: Sizes of the states that are looked at.
SCALES = (Fraction(1), Fraction(1), Fraction(10) ** 9, Fraction(1, 1000))
#: Proposed for each instance that is looked at.
PROPOSED = 6
#: Condition numbers and constants beyond which floats say nothing.
TAME = 10**5


def applies(claim: Claim) -> bool:
    """Whether a claim has code that runs on states."""
    kinds = OneStep | Bound | Identity | Inequality | Invariant
    return isinstance(claim.statement, kinds) and not claim.setting.of_constants


def test(claim: Claim, seed: int, count: int) -> Counterexample | None:
    """Where code differs by the type of its numbers, or from one call to the next, at ``count`` instances; or None."""
    rng = np.random.default_rng([seed, 3])
    proposed = (r for r in islice(claim.instances.recipes(rng), PROPOSED * count) if _is_tame(r))
    first: list[tuple[Recipe, Coordinates, int, list[Compared]]] = []
    few = (recipe for recipe, instance in meeting(claim, proposed) if not states.too_many(claim, instance))
    for recipe in islice(few, count):
        try:
            point, rounds = _somewhere(claim, recipe, rng), 1
            parts = list(_exact(claim, recipe, point, rounds))
            found = _compared(claim, recipe, point, rounds, parts, _floats(claim, recipe, point, rounds), FLOATS)
        except (Undefined, ZeroDivisionError, OverflowError):
            continue
        if found is not None:
            return found
        first.append((recipe, point, rounds, parts))
    for recipe, point, rounds, parts in first:
        found = _compared(claim, recipe, point, rounds, parts, _exact(claim, recipe, point, rounds), AGAIN)
        if found is not None:
            return found
    return None


def sides(claim: Claim, recipe: Recipe, point: Coordinates, rounds: int, part: str, entry: int) -> tuple[Any, Any]:
    """Both numbers of a counterexample of this module; ``ValueError`` where they agree.

    What was asked again cannot be asked for the first time: code that forgets in between agrees.
    """
    prefix = FLOATS if part.startswith(FLOATS) else AGAIN
    again = _floats if prefix == FLOATS else _exact
    one = list(_exact(claim, recipe, point, rounds))
    found = _compared(claim, recipe, point, rounds, one, again(claim, recipe, point, rounds), prefix)
    if found is None or (found.part, found.entry) != (part, entry):
        raise ValueError(f"the numbers of {claim.id} agree at {part!r}")
    return found.left, found.right


def _is_tame(recipe: Any) -> bool:
    if isinstance(recipe, dict):
        return all(map(_is_tame, recipe.values()))
    if isinstance(recipe, tuple):
        return all(map(_is_tame, recipe))
    return not isinstance(recipe, Fraction) or recipe == 0 or 1 / TAME <= abs(recipe) <= TAME


def _somewhere(claim: Claim, recipe: Recipe, rng: np.random.Generator) -> Coordinates:
    size = dimension(claim, claim.instances.build(recipe, True))
    scale = pick(rng, SCALES)
    return tuple(scale * Fraction(int(v), 8) for v in rng.integers(-40, 41, size))


def _exact(claim: Claim, recipe: Recipe, point: Coordinates, rounds: int) -> Iterator[Compared]:
    return refutation.parts(claim, claim.instances.build(recipe, True), point, rounds)


def _floats(claim: Claim, recipe: Recipe, point: Coordinates, rounds: int) -> Iterator[Compared]:
    row = to_float(refutation.as_row(point))
    with np.errstate(all="ignore"):
        yield from refutation.parts_at(claim, claim.instances.build(recipe, False), row, rounds)


def _compared(
    claim: Claim,
    recipe: Recipe,
    point: Coordinates,
    rounds: int,
    one: list[Compared],
    two: Iterator[Compared],
    prefix: str,
) -> Counterexample | None:
    # Where all cancels, what is left is the rounding of squares.
    rounding = 1e-12 * (1 + float(max(map(abs, point), default=Fraction(0)))) ** 2
    for a, b in zip(one, two, strict=True):
        size = max((abs(float(v)) for side in (a.left, a.right) for v in side), default=0.0)
        for side in ("left", "right"):
            pairs = list(zip(getattr(a, side), getattr(b, side), strict=True))
            off = [abs(float(x) - float(y)) for x, y in pairs]
            room = AGREE * size + rounding if prefix == FLOATS else 0.0
            entry = next((k for k, gap in enumerate(off) if not gap <= room), None)
            if entry is not None and np.isfinite(size):
                text = claim.instances.build(recipe, True).text
                why = "the code differs by the type of its numbers" if prefix == FLOATS else "the code has memory"
                where = f"; state ({', '.join(map(str, point))}): {why}"
                left, right = pairs[entry][1], pairs[entry][0]
                part = f"{prefix}{a.name} {side}"
                return Counterexample(claim, recipe, point, rounds, part, entry, left, right, "==", text + where)
    return None
