"""Whole runs: bounds after up to a hundred rounds, and cycles, on functions with one, two and three slopes.

At the parameters of a few instances the functions are replaced by many others at once, with slopes at the ends of the
class and kinks anywhere; those that come nearest to a violation after some number of rounds are changed a little, and
so on. What three rounds cannot show may be there, and so may what no quadratic shows. Floats only suggest: a violation
is one in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe, members
from fedtheory.kinds.base import Statement
from fedtheory.numbers.rational import Array, to_float
from fedtheory.problems.nonconvex import is_quadratic
from fedtheory.sampling import drawing
from fedtheory.sampling.drawing import Profiles
from verify.base.case import Case
from verify.base.evaluate import (
    has_rounds,
    hypotheses_hold,
    meeting,
    rollout,
    sides_along,
    tree_size,
)
from verify.base.verdict import Verdict
from verify.comparisons import limits
from verify.comparisons.deciding import may_agree
from verify.comparisons.exact import LAST, Coordinates
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.search import choosing, cycling, refutation, seen, spectral, states


@dataclass(frozen=True)
class RunLimits:
    """The runs that are looked at."""

    places: int = 8  # choices of the parameters
    others: int = 1  # choices among these that say less than the others
    proposed: int = 60  # recipes for them
    few: int = 2  # choices beside a proof that holds
    fewer: int = 12  # recipes for these
    size: int = 120  # functions and starts of one array
    generations: int = 16  # changes of those that came nearest to a bound, all places together
    cycles: int = 4000  # starts in search of cycles, all places together: these are rare, and nothing comes near to one
    leaves: int = 64  # of the trees of draws along which runs are followed
    confirmed: int = 2  # suspects at each place, those that come first and those with the largest ratio
    all: int = 24  # rounds up to which every one is looked at
    one_in: int = 4  # later rounds: one in this many in each generation
    attempts: int = 120  # at a smaller counterexample, each of which is a run


LIMITS = RunLimits()
#: Ratios above 1 by more than this are confirmed exactly.
SUSPECT = 1e-9
#: The share of what the sides were at first that is their rounding.
ROUNDING = 1e-14
#: The first round that the search over states leaves out.
FIRST = 4


def applies(claim: Claim) -> bool:
    """Return True if the claim is about long runs of states."""
    return claim.statement.horizon or bool(limits.vanishing(claim))


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by a run in fractions, or how far runs were followed without a violation."""
    rng = np.random.default_rng([inquiry.seed, 5])
    chosen = places(inquiry, rng)
    return _along(method, inquiry.claim, chosen, 1 / max(len(chosen), 1), rng)


def guard(method: Method, inquiry: Inquiry, stored: Outcome) -> Outcome:
    """As :func:`run`, at few places, with a place's share of the work of :func:`run`."""
    rng = np.random.default_rng([inquiry.seed, 5])
    chosen = places(inquiry, rng, LIMITS.fewer)
    few = chosen[:: max(len(chosen) // LIMITS.few, 1)][: LIMITS.few]
    return _along(method, inquiry.claim, few, 1 / LIMITS.places, rng)


def _along(method: Method, claim: Claim, chosen: list[Place], share: float, rng: np.random.Generator) -> Outcome:
    looked: list[Place] = []
    for place in chosen:
        looked.append(place)
        search = _beyond if claim.statement.horizon else _cycle
        with np.errstate(all="ignore"):
            example = search(claim, place, share, rng)
        if example is not None:
            again = partial(_again, like=example)
            small = choosing.chosen([example], tries=LIMITS.attempts, again=again)
            what = "a run that returns to an earlier state" if small.part == limits.CYCLE else "along a run"
            return method.found(
                Verdict.REFUTED,
                f"{what}: confirmed in exact arithmetic",
                margin=refutation.margin(small),
                instances=len(looked),
                counterexample=small,
                tightest=small.recipe,
                used=("exact", "rational"),
            )
    if not looked:
        return method.skipped("no instance was found whose draws can be enumerated for more than three rounds: open")
    return method.found(
        None,
        _runs_note(claim, looked),
        instances=len(looked),
        used=("search",),
        seen=frozenset().union(*(_seen(claim, place) for place in looked)),
    )


def _seen(claim: Claim, place: Place) -> frozenset[seen.FunctionsSeen]:
    case = Case(claim, place.recipe)
    if place.slopes:
        drawn = claim.statement.horizon and tree_size(case, 1) > 1
        sorts = (seen.QUADRATICS, "two slopes", "three slopes")
        return frozenset(seen.FunctionsSeen(sort, 1, place.rounds, drawn) for sort in sorts)
    return seen.of(case.problem, place.rounds, seen.is_drawn(case))


def _runs_note(claim: Claim, looked: list[Place]) -> str:
    last = max(place.rounds for place in looked)
    where = "with one, two and three slopes" if any(p.slopes for p in looked) else "as they are drawn"
    what = f"no violation after {FIRST} to {last} rounds" if claim.statement.horizon else "no cycle"
    return f"{what} at {len(looked)} choices of the parameters, on functions {where}"


# Places


@dataclass(frozen=True)
class Place:
    """Parameters at which runs are looked at: a recipe, and the rounds for which they can be followed.

    ``slopes``: those that each part of the functions may have, the clients' and g's; none where functions are as the
    recipe has them.
    """

    recipe: Recipe
    rounds: int
    slopes: tuple[tuple[Fraction, ...], ...] = ()

    @property
    def key(self) -> str:
        """Return a key of everything but the functions."""
        rest = {name: value for name, value in self.recipe.items() if name not in ("x", "clients", "g")}
        return str((len(self.recipe.get("clients", ())), sorted(rest.items(), key=str)))


def places(inquiry: Inquiry, rng: np.random.Generator, proposed: int = LIMITS.proposed) -> list[Place]:
    """A few places, those without draws first, with condition numbers as different as they come.

    ``proposed``: recipes that are looked at besides those that the search came across.
    """
    claim = inquiry.claim
    recipes = (recipe for recipe, _ in meeting(claim, islice(claim.instances.recipes(rng), proposed)))
    found: dict[str, Place] = {}
    for recipe in (*inquiry.met, *recipes):
        try:
            place = _place(Case(claim, recipe))
        except (ValueError, ArithmeticError):
            continue
        if place is not None:
            found.setdefault(place.key, place)
    if not found:
        return []
    # Where functions are as they are drawn there is less to see.
    ordered = sorted(found.values(), key=lambda p: (not p.slopes, -p.rounds))
    best = [p for p in ordered if (p.rounds, bool(p.slopes)) == (ordered[0].rounds, bool(ordered[0].slopes))]
    spread = sorted(best, key=_condition)
    chosen = [
        spread[i] for i in sorted({round(k * (len(spread) - 1) / (LIMITS.places - 1)) for k in range(LIMITS.places)})
    ]
    return (chosen + [p for p in ordered if p not in best][: LIMITS.others])[: LIMITS.places]


def _condition(place: Place) -> float:
    return max((float(max(s) / min(s)) if min(s) > 0 else math.inf for s in place.slopes if s), default=1.0)


def _place(case: Case) -> Place | None:
    """The place of a recipe that meets the hypotheses, with functions of one variable where there can be others."""
    rounds = _rounds(case)
    if rounds < FIRST or (case.problem is not None and case.problem.n > states.LIMITS.clients):
        return None
    plain = drawing.line(case.recipe) if _has_kinks(case.claim) else None
    return (_kinked(case, plain, rounds) if plain is not None else None) or Place(case.recipe, rounds)


def _has_kinks(claim: Claim) -> bool:
    """Return True if the class contains functions with kinks."""
    functions = claim.setting.functions
    if claim.setting.drawing.special is not None or functions is None or functions.quadratics:
        return False
    return claim.setting.drawing.kinks


def _kinked(case: Case, plain: Recipe, rounds: int) -> Place | None:
    """The place of a recipe with other functions of one variable, which meet the hypotheses and leave the letters."""
    for slopes in _slopes(case):
        ends = [[min(own), max(own), min(own)] for own in slopes]
        kinked = drawing.with_functions(plain, ends, [[Fraction(-1), Fraction(1)]] * len(ends))
        other = Case(case.claim, kinked)
        try:
            same = may_agree(other.letters, case.letters) and hypotheses_hold(other)
        except (ValueError, ArithmeticError):
            continue
        place = Place(plain, rounds, slopes)
        if same and not is_quadratic(other.problem.f) and _replicable(case.claim, place):
            return place
    return None


def _replicable(claim: Claim, place: Place) -> bool:
    """Return True if the method's code behaves the same for many functions at once; code that looks at
    shapes may not.
    """
    crowd = _drawn(claim, place, 3, np.random.default_rng(0))
    case = Case.of(claim, instance(claim, place, crowd))
    try:
        after, _ = rollout(case, *case.start(crowd.theta), 2)
    except ValueError:
        return False
    return all(len(field) == len(crowd.theta) for field in after)


def _slopes(case: Case) -> Iterator[tuple[tuple[Fraction, ...], ...]]:
    """Yield the slopes that each part may have: the bounds of the class, or its curvatures if none is negative;
    otherwise those of the part itself.
    """
    parts = [*case.recipe["clients"], *([case.recipe["g"]] if "g" in case.recipe else [])]
    functions = case.setting.functions
    own = [set(members.slopes_of(part)) for part in parts]
    if functions is not None and functions.ends is not None:
        yield (tuple(sorted({case.recipe[str(letter)] for letter in functions.ends})),) * len(parts)
    elif functions is not None and case.problem is not None:
        low, high = functions.curvatures(case.problem, case.params)
        if min(low) >= 0 and math.isfinite(max(high)):
            yield (tuple(sorted({Fraction(min(low)), Fraction(max(high))})),) * len(parts)
    yield (tuple(sorted(set().union(*own))),) * len(parts)
    yield tuple(tuple(sorted(values)) for values in own)


def _rounds(case: Case) -> int:
    """For how many rounds a run can be followed for all draws; 0 where it says nothing."""
    draws = tree_size(case, 1)
    if not case.statement.horizon:
        return LAST if limits.is_autonomous(case) else 0
    rounds = LAST if draws == 1 else int(math.log(LIMITS.leaves) / math.log(draws))
    return rounds if has_rounds(case, rounds) else 0


# Many runs


@dataclass(frozen=True)
class Crowd:
    """M runs: which of the slopes of the place each piece has ``(M, P, 3)``, the kinks ``(M, P, 2)``, and the
    coordinates of the starts ``(M, dimension)``. Without slopes the functions are those of the place."""

    pieces: Array
    kinks: Array
    theta: Array

    def __getitem__(self, index: Any) -> Crowd:
        return Crowd(self.pieces[index], self.kinks[index], self.theta[index])


def instance(claim: Claim, place: Place, crowd: Crowd) -> Instance:
    """The instance in floats of a place, its functions replaced by those of the runs."""
    if not place.slopes:
        return claim.instances.build(place.recipe, False)
    slopes = np.stack([to_float(own)[crowd.pieces[:, k]] for k, own in enumerate(map(np.array, place.slopes))], axis=1)
    return drawing.build(claim.setting, place.recipe, Profiles(slopes, crowd.kinks))


def _drawn(claim: Claim, place: Place, size: int, rng: np.random.Generator) -> Crowd:
    """Runs from starts in all directions, with kinks at all distances."""
    coordinates = Case(claim, place.recipe, exact=False).dimension
    parts = len(place.slopes)
    theta = np.where(
        rng.random((size, 1)) < 0.5,
        rng.choice([-1.0, 0.0, 1.0], (size, coordinates)),
        rng.standard_normal((size, coordinates)),
    )
    pieces = np.zeros((size, parts, len(members.SLOPES)), dtype=int)
    for k, own in enumerate(place.slopes):
        # Mostly slopes at the two ends, which change at every kink.
        end = rng.integers(0, 2, (size, 1)) * (len(own) - 1)
        pieces[:, k] = np.concatenate([end, len(own) - 1 - end, end], axis=1)
        one = rng.random((size, 1)) < 0.15
        pieces[:, k] = np.where(one, rng.integers(0, len(own), (size, 1)), pieces[:, k])
    kinks = rng.standard_normal((size, parts, len(members.KINKS))) * 10.0 ** rng.uniform(-2, 0.5, (size, 1, 1))
    same = rng.random((size, 1, 1)) < 0.4 if parts else np.zeros((size, 1, 1), dtype=bool)
    return Crowd(
        np.where(same, pieces[:, :1], pieces) if parts and len(set(place.slopes)) == 1 else pieces,
        np.sort(np.where(same, kinks[:, :1], kinks), axis=-1) if parts else kinks,
        theta,
    )


def _changed(crowd: Crowd, chosen: Array, size: int, step: float, rng: np.random.Generator) -> Crowd:
    """The runs that were chosen, and others near them."""
    parents = rng.choice(chosen, size - len(chosen)) if len(chosen) < size else chosen[:0]
    near = crowd[parents]
    scale = np.maximum(abs(near.theta).max(axis=1, initial=0), abs(near.kinks).max(axis=(1, 2), initial=0))

    def moved(values: Array) -> Array:
        shape = (len(values), *(1,) * (values.ndim - 1))
        relative = 1 + step * rng.standard_normal(values.shape)
        return values * relative + 0.3 * step * scale.reshape(shape) * rng.standard_normal(values.shape)

    kept = crowd[chosen]
    return Crowd(
        np.concatenate([kept.pieces, near.pieces]),
        np.concatenate([kept.kinks, np.sort(moved(near.kinks), axis=-1)]),
        np.concatenate([kept.theta, moved(near.theta)]),
    )


def _placed(place: Place, crowd: Crowd, index: int) -> Iterator[tuple[Recipe, Coordinates]]:
    """One run in fractions: to twelve digits, then ever less simple ones near it."""
    numbers = np.concatenate([crowd.theta[index], crowd.kinks[index].ravel()])
    coordinates = crowd.theta.shape[1]
    slopes = [[own[i] for i in row] for own, row in zip(place.slopes, crowd.pieces[index], strict=True)]
    for values in (refutation.nearest(numbers), *refutation.roundings(numbers)):
        kinks = [list(values[i : i + 2]) for i in range(coordinates, len(values), 2)]
        recipe = drawing.with_functions(place.recipe, slopes, kinks) if slopes else place.recipe
        yield recipe, values[:coordinates]


# Bounds


def _beyond(claim: Claim, place: Place, share: float, rng: np.random.Generator) -> Counterexample | None:
    """A bound that is exceeded after some rounds, confirmed exactly; ``share``: of the work."""
    crowd = _drawn(claim, place, LIMITS.size, rng)
    for generation in range(max(2, round(share * LIMITS.generations))):
        at = tuple(T for T in range(1, place.rounds + 1) if T <= LIMITS.all or not (T + generation) % LIMITS.one_in)
        found = ratios(Case.of(claim, instance(claim, place, crowd)), crowd.theta, at)
        example = _exceeded(claim, place, crowd, at, found)
        if example is not None:
            return example
        # Those that come nearest after each number of rounds.
        chosen = np.unique(found.argmax(axis=1))
        crowd = _changed(crowd, chosen, LIMITS.size, 0.5**generation, rng)
    return None


def ratios(case: Case, theta: Array, at: tuple[int, ...]) -> Array:
    """left/right after so many rounds, in ascending order, from starts ``theta (M, dimension)``: ``(len(at), M)``.

    The largest of the comparisons, with left less its rounding.
    """
    first: list[Array] | None = None
    found = []
    for compared in sides_along(case, theta, at):
        both = [(to_float(left), to_float(right)) for left, right in compared]
        first = first or [abs(left) + abs(right) for left, right in both]
        values = [
            np.nan_to_num(spectral.ratio(left - ROUNDING * size, right), nan=0.0, posinf=1e300)
            for (left, right), size in zip(both, first, strict=True)
        ]
        found.append(np.max(values, axis=0))
    return np.asarray(spectral.steady(np.array(found)))


def _exceeded(claim: Claim, place: Place, crowd: Crowd, at: tuple[int, ...], found: Array) -> Counterexample | None:
    """Return the first confirmed violation among the runs along which floats exceed the bound."""
    above = found > 1 + SUSPECT
    runs = np.flatnonzero(above.any(axis=0))
    if not len(runs):
        return None
    first = above.argmax(axis=0)
    by_ratio = runs[np.argsort(-found[:, runs].max(axis=0), kind="stable")][: LIMITS.confirmed]
    by_round = runs[np.argsort(first[runs], kind="stable")][: LIMITS.confirmed]
    suspects = [(int(i), at[first[i]]) for i in by_round] + [(int(i), at[found[:, i].argmax()]) for i in by_ratio]
    for index, rounds in dict.fromkeys(suspects):
        example: Counterexample | None = None
        for recipe, point in _placed(place, crowd, index):
            simpler = confirmed(Case(claim, recipe), point, rounds)
            if example is None and simpler is None:
                break
            if example is not None and simpler is not None:
                return simpler
            example = example or simpler
        if example is not None:
            return example
    return None


def confirmed(case: Case, point: Coordinates, rounds: int) -> Counterexample | None:
    """The violation of a bound after so many rounds from an exact start, or None."""
    try:
        if not hypotheses_hold(case):
            return None
        return refutation.refute(case.anew(), point, rounds)
    except (ValueError, ArithmeticError):
        return None


# Cycles


def _cycle(claim: Claim, place: Place, share: float, rng: np.random.Generator) -> Counterexample | None:
    """A run that comes back to where it was, where what is to vanish is not zero; ``share``: of the work."""
    crowd = _drawn(claim, place, max(LIMITS.size, round(share * LIMITS.cycles)) if place.slopes else LIMITS.size, rng)
    for index in cycling.candidates(Case.of(claim, instance(claim, place, crowd)), crowd.theta):
        precise: Counterexample | None = None
        for recipe, point in _placed(place, crowd, index):
            found = cycling.cycle(Case(claim, recipe), to_float(point)[None])
            if found is None and precise is None:
                break
            if found is not None and precise is not None:
                return found
            precise = precise or found
        if precise is not None:
            return precise
    return None


# Smaller


def _again(case: Case, like: Counterexample) -> Counterexample | None:
    """A counterexample of the same kind at a recipe, or None."""
    if not hypotheses_hold(case):
        return None
    coordinates = case.floats.dimension
    theta = np.random.default_rng(0).choice([-2.0, -1.0, 0.0, 1.0, 2.0], (24, coordinates))
    if len(like.point) == coordinates:
        theta[0] = to_float(like.point)
    with np.errstate(all="ignore"):
        if like.part == limits.CYCLE:
            return cycling.cycle(case.anew(), theta)
        at = tuple(range(1, min(like.rounds, _rounds(case)) + 1))
        found = ratios(case.floats, theta, at) if at else np.zeros((0, len(theta)))
    above = found > 1 + SUSPECT
    for k in np.flatnonzero(above.any(axis=1))[: LIMITS.confirmed]:
        start = theta[int(found[k].argmax())]
        if example := confirmed(case, refutation.nearest(start), at[k]):
            return example
    return None


METHOD = Method(
    "runs",
    "bounds after 4 to 100 rounds, and cycles, on functions of one, two and three slopes",
    (Statement,),
    run,
    applies=applies,
    guard=guard,
)
