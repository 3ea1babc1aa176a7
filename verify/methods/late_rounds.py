"""Bounds of methods that draw, after every round up to the sixtieth, on quadratics of many spectra.

What holds for three rounds may fail later, on functions of very different curvatures only. Steps that are affine maps
of the whole state are followed exactly, by second moments (:mod:`verify.comparisons.affine`); floats only suggest.
Of one variable there are most spectra. What is drawn of the coordinates of a vector, as rand-k does, shows only where
there are several, so there are quadratics of two and three variables too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.kinds.base import Statement
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.polynomials import NotPolynomial
from fedtheory.numbers.rational import Array
from fedtheory.sampling import drawing
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting, tree_size
from verify.base.verdict import Verdict
from verify.comparisons import affine
from verify.evidence.counterexamples import Counterexample
from verify.evidence.record import Outcome
from verify.methods.base import Inquiry, Method
from verify.search import refutation, seen, shrinking, spectral, states


@dataclass(frozen=True)
class LateRoundLimits:
    """The quadratics that are followed for many rounds."""

    places: int = 8  # choices of the parameters, of one variable
    spectra: int = 24  # at each of them
    higher_places: int = 6  # the same of several variables
    higher_spectra: int = 12  # at each of these
    variables: int = 3  # the most
    parts: int = 8  # into which the range of curvatures is divided
    proposed: int = 60  # recipes besides those that the search came across
    last: int = 60  # the number of rounds
    draws: int = 12  # of a round: each is a map that is traced in fractions
    maps: int = 72  # at each choice of the parameters: where a round has many draws there are fewer spectra
    entries: int = 9  # of a start
    confirmed: int = 3  # numbers of rounds after which a suspect is confirmed exactly
    roundings: int = 12  # starts near the worst one that are tried at the first of these
    attempts: int = 40  # at a smaller counterexample


LIMITS = LateRoundLimits()
#: Ratios above 1 by more than this are confirmed exactly.
SUSPECT = 1e-9


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Refuted by a start and a number of rounds in fractions, or how far the claim was followed."""
    claim, followed, left = inquiry.claim, dict[int, int](), 0
    rng = np.random.default_rng([inquiry.seed, 7])
    for place, spectra in _places(inquiry, rng):
        for recipe in _spectra(claim, place, spectra, rng):
            try:
                found = _exceeded(Case(claim, recipe))
            except (ValueError, ArithmeticError) as error:
                left += isinstance(error, NotPolynomial)
                continue
            followed[recipe["d"]] = followed.get(recipe["d"], 0) + 1
            if found is not None:
                small = shrinking.smallest(found, tries=LIMITS.attempts, again=_exceeded)
                note = f"after {small.rounds} rounds: confirmed in exact arithmetic"
                details = {"instances": sum(followed.values()), "counterexample": small, "tightest": small.recipe}
                used = ("exact", "rational")
                return method.found(Verdict.REFUTED, note, margin=refutation.margin(small), used=used, **details)
    if not followed:
        return method.skipped("no steps of a method that draws were found that are affine maps of the state: open")
    total, variables = sum(followed.values()), ", ".join(map(str, sorted(followed)))
    followed_as = f"{total} quadratics, d={variables}, from the worst starts of each"
    note = f"no violation after 1 to {LIMITS.last} rounds on {followed_as}"
    if left:
        note += f"; {left} whose steps are no affine maps of the state, or too large ones, are not followed"
    looked = frozenset(seen.FunctionsSeen(seen.QUADRATICS, d, LIMITS.last, drawn=True) for d in followed)
    return method.found(None, note, instances=total, used=("search",), seen=looked)


def _places(inquiry: Inquiry, rng: np.random.Generator) -> list[tuple[Recipe, int]]:
    """Recipes of quadratics with different parameters, and how many spectra are followed at each."""
    claim = inquiry.claim
    recipes = (recipe for recipe, _ in meeting(claim, islice(claim.instances.recipes(rng), LIMITS.proposed)))
    found: tuple[dict[str, Recipe], ...] = ({}, {})
    for recipe in (*inquiry.met, *recipes):
        plain = drawing.plain(recipe)
        if (
            plain is None
            or plain["d"] > LIMITS.variables
            or len(plain["clients"]) > states.LIMITS.clients
            or not _draws(Case(claim, plain))
        ):
            continue
        rest = {name: value for name, value in plain.items() if name not in ("x", "clients", "g")}
        found[plain["d"] > 1].setdefault(str((len(plain["clients"]), sorted(rest.items(), key=str))), plain)
    one, higher = (list(recipes.values()) for recipes in found)
    return [
        *((place, LIMITS.spectra) for place in _spread(one, LIMITS.places)),
        *((place, LIMITS.higher_spectra) for place in _spread(higher, LIMITS.higher_places)),
    ]


def _spread(recipes: list[Recipe], most: int) -> list[Recipe]:
    """So many of the recipes at most, from the first to the last."""
    last = len(recipes) - 1
    return [recipes[i] for i in sorted({round(k * last / (most - 1)) for k in range(most)})] if recipes else []


def _draws(case: Case) -> bool:
    """Return True if a step draws one of several outcomes, and not of too many: with probability 1 none is drawn."""
    try:
        return 1 < tree_size(case, 1) <= LIMITS.draws
    except (ValueError, ArithmeticError):
        return False


def _spectra(claim: Claim, place: Recipe, count: int, rng: np.random.Generator) -> Iterator[Recipe]:
    """The recipe, and at most ``count`` others with curvatures anywhere in the class."""
    functions = claim.setting.functions
    try:
        case = Case(claim, place)
        if functions is None or case.problem is None:
            return
        if any(isinstance(value, Interval) for value in case.letters.values()):
            # Products of enclosures are slow, and soon wide.
            return
        low, high = functions.curvatures(case.problem, case.params)
        least, most = Fraction(min(low)), Fraction(max(high))
    except (ValueError, ArithmeticError, TypeError):
        return
    yield place
    shape = len(place["clients"]), place["d"]
    for _ in range(min(count, LIMITS.maps // tree_size(case, 1))):
        parts = rng.integers(0, LIMITS.parts + 1, shape)
        # The ends more often than what lies between them.
        parts = np.where(rng.random(shape) < 0.3, rng.integers(0, 2, shape) * LIMITS.parts, parts)
        h = [tuple(least + (most - least) * Fraction(int(k), LIMITS.parts) for k in row) for row in parts]
        clients = tuple({**c, "h": curvatures} for c, curvatures in zip(place["clients"], h, strict=True))
        yield {**place, "clients": clients}


def _exceeded(case: Case) -> Counterexample | None:
    """The violation after the fewest rounds that is confirmed. Raise ``ValueError`` if none is followed."""
    size = case.dimension
    if not hypotheses_hold(case) or not 0 < size <= LIMITS.entries or not case.instance.quadratic:
        raise ValueError("nothing is followed there")
    confirmed = 0
    for rounds, worst in enumerate(_worst_starts(case, size), 1):
        if worst.ratio <= 1 + SUSPECT:
            continue
        for point in islice(refutation.roundings(worst.theta), 1 if confirmed else LIMITS.roundings):
            found = refutation.refute(case.anew(), point, rounds)
            if found is not None:
                return found
        confirmed += 1
        if confirmed == LIMITS.confirmed:
            break
    return None


def _worst_starts(case: Case, size: int) -> Iterator[spectral.Worst]:
    """The worst start after 1, 2, ... rounds: of all, where both sides are quadratic in it, else of a few."""
    points: list[Array] = []

    def asked(theta: Array) -> tuple[Array, Array]:
        points.append(theta)
        return np.zeros(len(theta)), np.zeros(len(theta))

    # The starts by which a form is fitted are the same each time.
    spectral.forms(asked, size)
    for both in affine.course(case, points[0], LIMITS.last):
        forms = spectral.forms(partial(_given, both), size)
        yield _largest(points[0], *both) if forms is None else spectral.worst(*forms)


def _given(both: tuple[Array, Array], theta: Array) -> tuple[Array, Array]:
    return both


def _largest(theta: Array, left: Array, right: Array) -> spectral.Worst:
    ratios = np.nan_to_num(spectral.ratio(left, right), nan=0.0)
    return spectral.Worst(float(ratios.max()), theta[int(ratios.argmax())])


METHOD = Method(
    "late rounds",
    "bounds of methods that draw, after every round up to 60, on quadratics of many spectra",
    (Statement,),
    run,
    applies=lambda claim: claim.statement.horizon and len(claim.statement.comparisons) == 1,
)
