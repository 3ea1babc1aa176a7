"""Runs whose kinks and starts are whole numbers of steps apart, after up to a thousand rounds.

Of gradient descent with gamma = 1/L the worst function after T rounds is linear up to T + 1 steps from its minimiser, a
Huber function: no random kink comes near enough. What approaches its limit slowly exceeds a bound after hundreds of
rounds, as the errors of a compressor of small alpha do. A grid has both. Floats only suggest, and a violation after
many rounds is confirmed where the fractions of a state grow no faster than its rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.classes import ContractiveCompressors
from fedtheory.instances import Recipe
from fedtheory.kinds.base import Statement
from fedtheory.numbers.rational import Array, Undefined
from fedtheory.sampling import drawing, nearby
from fedtheory.settings import Setting
from verify.base.case import Case
from verify.base.evaluate import has_rounds, hypotheses_hold, meeting, tree_size, unrolled
from verify.base.faults import attributed
from verify.base.verdict import Verdict
from verify.comparisons.exact import LAST, LATEST, as_row
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.methods import runs
from verify.methods.base import Inquiry, Method
from verify.methods.runs import Crowd, Place
from verify.search import choosing, refutation


@dataclass(frozen=True)
class GridLimits:
    """The runs that are looked at."""

    places: int = 6  # choices of the parameters
    proposed: int = 24  # recipes for them
    confirmed: int = 3  # suspects at each place that are confirmed exactly
    late: int = 48  # runs at each place that are followed for more than `LAST` rounds
    near: float = 0.5  # the least ratio after `LAST` rounds from which they are
    attempts: int = 8  # at a smaller counterexample


LIMITS = GridLimits()
#: Rounds after which bounds are compared.
ROUNDS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 70, LAST, 200, 300, 500, 700, LATEST)
#: Whole numbers of steps from the first kink to a start.
STEPS = (Fraction(0), Fraction(1, 2), *(Fraction(k) for k in (1, 2, 3, 4, 5, 10, 30, 100, 300, 1000)))
#: Steps of these lengths, relative to the distance of the first kink, are distances of kinks and starts.
_LENGTHS = (Fraction(1, 20), Fraction(4))
#: A kink that no run reaches.
_NEVER = Fraction(10**7)
#: Square roots of 1 - alpha.
_ROOTS = (Fraction(39, 40), Fraction(9, 10))
#: Ratios above 1 by more than this are confirmed exactly.
SUSPECT = 1e-7
#: Rounds of exact runs by which the growth of fractions is judged, and the factor by which they may grow between them.
_JUDGED, _GROWTH = (6, 12), Fraction(5, 2)


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by a run in fractions, or how far runs were followed without a violation."""
    claim, rng = inquiry.claim, np.random.default_rng([inquiry.seed, 17])
    looked, last = 0, 0
    for place in islice(_places(inquiry, rng), LIMITS.places):
        looked, last = looked + 1, max(last, place.rounds)
        with np.errstate(all="ignore"), attributed(claim, place.recipe):
            example = _exceeded(claim, place)
        if example is not None:
            again = partial(_again, like=example)
            small = choosing.chosen([example], tries=LIMITS.attempts, again=again)
            return method.found(
                Verdict.REFUTED,
                "along a run: confirmed in exact arithmetic",
                margin=refutation.margin(small),
                instances=looked,
                counterexample=small,
                tightest=small.recipe,
                used=("exact", "rational"),
            )
    if not looked:
        return method.skipped("no instance was found of which runs are followed: open")
    note = f"no violation after 1 to {last} rounds at {looked} choices of the parameters, starts a step apart"
    return method.found(None, note, instances=looked, used=("search",))


# Places


def _places(inquiry: Inquiry, rng: np.random.Generator) -> Iterator[Place]:
    """Yield places with letters at their bounds, those of one client and without draws first."""
    claim = inquiry.claim
    recipes = (recipe for recipe, _ in meeting(claim, islice(claim.instances.recipes(rng), LIMITS.proposed)))
    found: dict[str, Place] = {}
    for recipe in (*inquiry.met, *recipes):
        if len(recipe.get("clients", ())) > 2 or recipe.get("d", 1) > 2:
            continue
        slow = [_shrinking(claim.setting, recipe, root) for root in _ROOTS]
        for own in (*(r for r in slow if r is not None), recipe):
            bounded = nearby.bounded(claim, own, rng)
            try:
                place = None if bounded is None else _place(Case(claim, bounded))
            except (ValueError, ArithmeticError, Undefined):
                continue
            if place is not None:
                found.setdefault(place.key, place)
    yield from sorted(found.values(), key=lambda p: (-p.rounds, len(p.recipe["clients"]), not p.slopes))


def _shrinking(setting: Setting, recipe: Recipe, root: Fraction) -> Recipe | None:
    """The recipe with contractive compressors C(x) = (1 - root) x, alpha = 1 - root^2; None where there are none."""
    if setting.drawing.compressors or not any(isinstance(a, ContractiveCompressors) for a in setting.adversaries):
        return None
    return {**recipe, "k": 0, "alpha": 1 - root**2, "shrinking": 1}


def _place(case: Case) -> Place | None:
    """The place of a recipe that meets the hypotheses, with functions of two slopes where the class has these."""
    if not hypotheses_hold(case) or case.problem is None:
        return None
    draws = tree_size(case, 1)
    rounds = LATEST if draws == 1 else max(T for T in ROUNDS if draws**T <= runs.LIMITS.leaves or T == 1)
    if not has_rounds(case, rounds):
        return None
    plain, functions = drawing.line(case.recipe), case.setting.functions
    if plain is None or functions is None or functions.quadratics or not case.setting.drawing.kinks:
        return Place(case.recipe, rounds)
    low, high = functions.curvatures(case.problem, case.params)
    if not abs(float(max(high))) < np.inf:
        return Place(case.recipe, rounds)
    ends = tuple(sorted({Fraction(min(low)), Fraction(max(high))}))
    return Place(plain, rounds, (ends,) * (len(plain["clients"]) + ("g" in plain)))


# Runs


#: The slopes of a run by their places, its kinks, and its start.
_Row = tuple[tuple[int, ...], tuple[Fraction, Fraction], Fraction]


def _grid(claim: Claim, place: Place) -> list[_Row]:
    """The runs of a place, on functions that meet the hypotheses."""
    top = max((abs(own[-1]) for own in place.slopes), default=Fraction(1))
    constants = [place.recipe[name] for name in drawing.fractions(place.recipe)]
    units = {abs(v * top) for v in constants if _LENGTHS[0] <= abs(v * top) <= _LENGTHS[1]} - {Fraction(1)}
    lengths = (Fraction(1), *sorted(units)[:1])
    starts = sorted({1 + k * u for k, u in product(STEPS, lengths)})
    if not place.slopes:
        # Far enough for a slope to stay as it is.
        wide = [u * Fraction(10) ** k for u in (1, 3) for k in range(-2, 6)]
        return [((0, 0, 0), (Fraction(-1), Fraction(1)), s) for s in (*wide, *starts)]
    kinks = [(-Fraction(1), Fraction(1)), (-_NEVER, Fraction(1)), (Fraction(1, 2), Fraction(1))]
    kinks += [(Fraction(1), 1 + u * k) for u in lengths for k in (Fraction(1, 2), 1)]
    patterns = sorted(set(product((0, len(place.slopes[0]) - 1), repeat=3)))
    of_class = [(p, k) for p, k in product(patterns, kinks) if _is_met(Case(claim, _with(place, p, k)))]
    return [(*function, start) for function, start in product(of_class, starts)]


def _with(place: Place, pieces: tuple[int, ...], kinks: tuple[Fraction, Fraction]) -> Recipe:
    if not place.slopes:
        return place.recipe
    slopes = [[own[k] for k in pieces] for own in place.slopes]
    return drawing.with_functions(place.recipe, slopes, [list(kinks)] * len(slopes))


def _is_met(case: Case) -> bool:
    try:
        return hypotheses_hold(case)
    except (ValueError, ArithmeticError, Undefined):
        return False


#: A row, and the coordinates of a start of size one.
_Run = tuple[_Row, Array]


def _crowd(place: Place, rows: list[_Row], coordinates: int) -> tuple[Crowd, list[_Run]]:
    """The runs in floats, and the rows of the grid that they are: from all coordinates of a start, and the first."""
    every, first = np.ones(coordinates, dtype=int), np.eye(1, coordinates, dtype=int)[0]
    directions = (every, -every, first, -first)[: 4 if coordinates > 1 else 2 * coordinates]
    taken = [(row, direction) for row in rows for direction in directions]
    parts = len(place.slopes)
    pieces = np.array([[row[0]] * parts for row, _ in taken], dtype=int).reshape(len(taken), parts, 3)
    kinks = np.array([[[float(k) for k in row[1]]] * parts for row, _ in taken]).reshape(len(taken), parts, 2)
    theta = np.array([float(row[2]) * direction for row, direction in taken]).reshape(len(taken), coordinates)
    return Crowd(pieces, kinks, theta), taken


def _exceeded(claim: Claim, place: Place) -> Counterexample | None:
    """A bound that is exceeded after some rounds, confirmed exactly."""
    at = tuple(T for T in ROUNDS if claim.statement.since <= T <= place.rounds)
    early, late = (tuple(T for T in at if (T <= LAST) == first) for first in (True, False))
    try:
        crowd, taken = _crowd(place, _grid(claim, place), Case(claim, place.recipe, exact=False).dimension)
        found = _ratios(claim, place, crowd, early) if early else np.zeros((0, len(taken)))
        example = _first(claim, place, taken, early, found)
        if example is not None or not late or not _rises(found):
            return example
        # Those that come nearest after the last of the early rounds, and those that start far away.
        nearest = np.argsort(-found[-1], kind="stable")[: LIMITS.late // 2] if early else np.arange(0)
        far = np.argsort(-abs(crowd.theta).max(axis=1, initial=0), kind="stable")[: LIMITS.late - len(nearest)]
        kept = np.unique(np.concatenate([nearest, far]))
        found = _ratios(claim, place, crowd[kept], late)
        return _first(claim, place, [taken[int(i)] for i in kept], late, found)
    except (ValueError, ArithmeticError, Undefined):
        # Code that looks at shapes, or at what cannot be replaced.
        return None


def _rises(found: Array) -> bool:
    """Return True if the largest ratio still grows after the last of the early rounds, and is not far from 1."""
    worst = found.max(axis=1, initial=0)
    return len(worst) < 2 or bool(worst[-1] > max(float(worst[-2]), LIMITS.near))


def _ratios(claim: Claim, place: Place, crowd: Crowd, at: tuple[int, ...]) -> Array:
    return runs.ratios(Case.of(claim, runs.instance(claim, place, crowd)), crowd.theta, at)


def _first(claim: Claim, place: Place, taken: list[_Run], at: tuple[int, ...], found: Array) -> Counterexample | None:
    """The violation that is confirmed, of the suspects with the largest ratios after each number of rounds."""
    worst = [(float(row.max(initial=0)), T, int(row.argmax())) for T, row in zip(at, found, strict=True) if row.size]
    suspects = sorted(
        (w for w in worst if w[0] > 1 + SUSPECT), key=lambda w: (w[1] > LAST, w[1] if w[1] > LAST else -w[0])
    )
    for _, T, index in suspects[: LIMITS.confirmed]:
        (pieces, kinks, start), direction = taken[index]
        point = tuple(start * int(v) for v in direction)
        example = _confirmed(Case(claim, _with(place, pieces, kinks)), point, T)
        if example is not None:
            return example
    return None


def _confirmed(case: Case, point: tuple[Fraction, ...], rounds: int) -> Counterexample | None:
    try:
        bearable = rounds <= _JUDGED[-1] or _grows_slowly(case, point)
    except (ValueError, ArithmeticError, Undefined):
        return None
    return runs.confirmed(case, point, rounds) if bearable else None


def _grows_slowly(case: Case, point: tuple[Fraction, ...]) -> bool:
    """Return True if the digits of a state grow no faster than its rounds: where they are squared, they explode."""
    problem, state = case.start(as_row(point))
    sizes = []
    for k, (later, _) in enumerate(islice(unrolled(case, problem, state), _JUDGED[-1]), 1):
        if k in _JUDGED:
            sizes.append(max((_digits(v) for part in later for v in np.asarray(part).flat), default=0))
    return sizes[1] <= _GROWTH * sizes[0] + 64


def _digits(value: Any) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length() if isinstance(value, Fraction) else 0


def _again(case: Case, like: Counterexample) -> Counterexample | None:
    """A counterexample from the same start after as many rounds, or None."""
    return runs.confirmed(case, like.point, like.rounds) if case.dimension == len(like.point) else None


METHOD = Method(
    "grid runs",
    "bounds after 1 to 1000 rounds, where kinks and starts are whole numbers of steps apart",
    (Statement,),
    run,
    applies=lambda claim: claim.statement.horizon and claim.setting.functions is not None,
)
