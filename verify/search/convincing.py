"""The order of counterexamples by how well they convince an author: all of them are chosen by it.

In this order: hypotheses are met strictly (what is declared positive, such as zeta, is not 0); the run begins where the
paper begins it; it fails after a round, and not before the first; the ratio of the sides is large, by orders of
magnitude; numbers are few and small. No verdict depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from verify.comparisons.deciding import finite
from verify.comparisons.exact import Coordinates, as_row
from verify.evidence.counterexamples import Counterexample
from verify.search.refutation import margin

#: The relative excesses of one side over the other at which the order of a ratio changes.
EXCESS = (1.0, 0.1, 0.05, 0.02)


class Rank(NamedTuple):
    """A rank of a counterexample, whatever its numbers are: the least is the most convincing.

    ``degenerate``: something that is declared positive is 0; ``elsewhere``: the run begins where the paper begins none;
    ``at_once``: no round was made; ``narrow``: of which order the ratio is.
    """

    degenerate: bool
    elsewhere: bool
    at_once: bool
    narrow: int


class Key(NamedTuple):
    """The order of counterexamples, the most convincing first: its rank, then the lengths of its numbers."""

    rank: Rank
    recipe: tuple[int, int, int]
    point: tuple[int, int]


def key(example: Counterexample) -> Key:
    """By which counterexamples are compared: the least is chosen."""
    return Key(rank(example), complexity(example.recipe), size(example.point))


def rank(example: Counterexample) -> Rank:
    """A rank of a counterexample; without a state, as for a curve, only its rounds and sides count."""
    statement = example.claim.statement
    degenerate, elsewhere = _at_start(example)
    return Rank(degenerate, elsewhere, statement.horizon and not example.rounds, _narrow(example))


def _at_start(example: Counterexample) -> tuple[bool, bool]:
    """Return two flags: whether a quantity declared positive is 0 at the initial state, and whether a run whose start
    the claim leaves free begins elsewhere than the paper's.
    """
    claim = example.claim
    positive = [q for q in claim.statement.quantities if q.expression.is_positive and not q.after]
    free = claim.statement.horizon and bool(claim.setting.drawing.start)
    if not positive and not free:
        return False, False
    try:
        case = example.case
        problem, state = case.start(as_row(example.point))
        vanishing = any(not np.asarray(q.of(problem, case.params, state)).any() for q in positive)
        own = claim.statement.algorithm.init(problem, case.params) if free else state
    except (ValueError, ArithmeticError, TypeError, AttributeError, LookupError):
        # There is no state, or no run.
        return False, False
    pairs = zip(own, state, strict=True) if free else ()
    return vanishing, any(not np.array_equal(np.broadcast_to(a, np.shape(b)), b) for a, b in pairs)


def _narrow(example: Counterexample) -> int:
    """Return the rank of a ratio's order of magnitude: 0 for the largest."""
    beyond = excess(example)
    return next((k for k, least in enumerate(EXCESS) if beyond >= least), len(EXCESS))


def excess(example: Counterexample) -> float:
    """The excess of the larger side over the other, relative to it: 1 where it is twice as large."""
    if not (finite(example.left) and finite(example.right)):
        return math.inf
    share = -margin(example)
    # A difference between sides that should be equal is relative to the larger one.
    return share if example.relation != "==" else share / (1 - share) if share < 1 else math.inf


def complexity(recipe: Any) -> tuple[int, int, int]:
    """(number of values, length of the different ones, length of all), by which recipes are compared."""
    leaves = list(values(recipe))
    return len(leaves), sum(length(v) for v in set(leaves)), sum(length(v) for v in leaves)


def size(point: Coordinates) -> tuple[int, int]:
    """(number of coordinates that are not 0, length of all), by which states are compared."""
    return sum(v != 0 for v in point), sum(map(length, point))


def values(recipe: Any) -> Iterator[Any]:
    """The values of a recipe, those of its parts too."""
    if isinstance(recipe, dict):
        for value in recipe.values():
            yield from values(value)
    elif isinstance(recipe, tuple):
        for value in recipe:
            yield from values(value)
    else:
        yield recipe


def length(value: Any) -> int:
    """The length of a number; words have none."""
    if isinstance(value, str):
        return 0
    ratio = Fraction(value)
    return 2 * (ratio.denominator != 1) + abs(ratio.numerator) + ratio.denominator + (ratio < 0)
