"""Looking off the points at which a claim is certified, for where it is false between or beyond them.

From those points, and from where the claim's own formulas turn, the ratio of its sides at the worst states is climbed
over all constants, and followed while there are more and more clients where the claim mentions their number.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.symbols import n
from fedtheory.sampling import drawing, nearby
from verify.base.case import Case
from verify.base.evaluate import sides
from verify.evidence.counterexamples import Counterexample
from verify.exact import symbolic
from verify.reading.whole import Code
from verify.search import critical, hunting, spectral, states

#: Points from which is climbed, the worst.
_STARTS = 3
#: Steps of a climb.
_STEPS = 60
#: Sums that vanish somewhere, and points of each, of which the simplest are tried.
_TRIED = 12
#: Points of a sum that are enough.
_EACH = 2
#: Bytes beyond which no more clients are looked at.
_BYTES = 2 * 10**8
#: The first and the last factor by which a climb changes constants.
_FACTORS = (Fraction(2), 1 + Fraction(1, 10**7))
#: The largest denominator of constants that are kept.
_DIGITS = 10**9


class _Broken(Exception):
    def __init__(self, example: Counterexample) -> None:
        self.example = example


def look(claim: Claim, recipes: Sequence[Recipe], code: Code, seed: int) -> Counterexample | None:
    """A counterexample off the points of ``recipes``, or None; ``code``: of the claim, as it is read at one."""
    rng = hunting.generator(claim, seed)
    given = [*symbolic.assumed(claim), *_of_class(claim), sympy.Ge(n, min(claim.setting.clients), evaluate=False)]
    given.append(sympy.Le(n, critical.MOST_CLIENTS, evaluate=False))
    of_code = critical.in_code(claim, code)
    vanishing = critical.vanishing(critical.sums(claim), given)
    turns = [*critical.turns(critical.sums(claim), given), *critical.ties(claim, given)]
    sums = [*dict.fromkeys((*vanishing[:_TRIED], *turns[:_TRIED], *of_code[:_TRIED]))]
    try:
        zeros = [tuple(islice(_at_zero(claim, e, recipes, rng), _EACH)) for e in sums]
        sets = critical.together([e for e in sums if critical.is_free(claim, e)], given) or []
        joint = _at_zeros(claim, sets, (recipes, *zeros), rng)
        rated = [list(_rated(claim, several, rng)) for several in (recipes, *zeros, *joint)]
        starts = sorted(chain(*rated), key=lambda pair: -pair[0])[:_STARTS]
        # Where a formula turns it may be worse elsewhere than where it is worst now.
        starts += [pair for of_one in rated[1:] for pair in sorted(of_one, key=lambda pair: -pair[0])[:1]]
        for ratio, recipe in (pair for k, pair in enumerate(starts) if pair not in starts[:k]):
            _climb(Case(claim, recipe), ratio, rng)
        symbols = sympy.Tuple(*_stated(claim), *of_code).free_symbols
        if claim.setting.any_clients and any(claim.setting.sources.get(x, str(x)) == "n" for x in symbols):
            for _, recipe in starts[:1]:
                _with_more_clients(Case(claim, recipe), rng)
    except _Broken as broken:
        return broken.example
    return None


def _of_class(claim: Claim) -> Iterator[sympy.Rel]:
    """Yield what the class of functions states of its letters: mu <= L, and kappa mu = L."""
    functions = claim.setting.functions
    if functions is not None and functions.ends is not None:
        mu, L = functions.ends
        yield sympy.Le(mu, L, evaluate=False)
        yield from (sympy.Eq(x * mu, L, evaluate=False) for x, s in claim.setting.sources.items() if s == "kappa")


def _stated(claim: Claim) -> tuple[sympy.Basic, ...]:
    """All that a claim says of letters."""
    compared = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    return (*compared, *drawing.sides(claim), *drawing.relations(claim))


def _at_zero(claim: Claim, e: sympy.Expr, recipes: Sequence[Recipe], rng: np.random.Generator) -> Iterator[Recipe]:
    starts = sorted(recipes, key=hunting.wildness)[:_STARTS]
    found = [
        recipe
        for start in (Case(claim, recipe) for recipe in starts)
        for recipe in (
            *critical.at_zero(start, e, rng),
            *critical.with_clients(start, e),
            *critical.with_whole(start, e),
        )
    ]
    for recipe in sorted(found, key=hunting.wildness)[:_TRIED]:
        if _ratio(Case(claim, recipe), rng) is not None:
            yield recipe


def _at_zeros(
    claim: Claim, sets: Sequence[Sequence[sympy.Expr]], near: Sequence[Sequence[Recipe]], rng: np.random.Generator
) -> Iterator[tuple[Recipe, ...]]:
    """Recipes where several sums vanish at once: what is false there only may be true where one of them does."""
    starts = [min(several, key=hunting.wildness) for several in near if several]
    for each in sets:
        found = (critical.at_zeros(Case(claim, start), each) for start in starts)
        there = next((at for at in found if at is not None and _ratio(Case(claim, at), rng) is not None), None)
        yield () if there is None else (there,)


def _ratio(case: Case, rng: np.random.Generator) -> float | None:
    """The largest ratio of the sides at one recipe; None where there is none. Raise ``_Broken`` if it is a
    violation.
    """
    findings = states.examine(case, rng)
    if not findings:
        return None
    if (broken := states.first_confirmed(case, findings)) is not None:
        raise _Broken(broken)
    return float(spectral.steady(min(findings[0].ratio, 1.0)))


def _rated(claim: Claim, recipes: Sequence[Recipe], rng: np.random.Generator) -> Iterator[tuple[float, Recipe]]:
    """The ratios at recipes and at ends of the class; where a bound is attained nothing is worse."""
    for recipe in (other for one in recipes for other in nearby.at_ends(claim, one)):
        if (ratio := _ratio(Case(claim, recipe), rng)) is not None and ratio < 1:
            yield ratio, recipe


def _climb(case: Case, ratio: float, rng: np.random.Generator) -> None:
    """Change one constant at a time, by less and less, to where the ratio is larger."""
    claim, recipe = case.claim, case.recipe
    names = [
        *drawing.fractions(recipe),
        *(name for name in drawing.drawn_letters(claim.setting).values() if name in recipe),
    ]
    names = [name for name in dict.fromkeys(names) if isinstance(recipe[name], int | Fraction)]
    factor, last, left = *_FACTORS, _STEPS
    while factor > last and left > 0 and names:
        best = (ratio, recipe)
        for name in names:
            for times in (factor, 1 / factor):
                changed = nearby.scaled(claim, recipe, name, times)
                left -= 1
                if changed is None or changed == recipe:
                    continue
                changed = {**changed, name: _simple(changed[name])}
                if (found := _ratio(Case(claim, changed), rng)) is not None and found > best[0]:
                    best = (found, changed)
        if best[0] > ratio:
            ratio, recipe = best
        else:
            factor = 1 + (factor - 1) / 4


def _simple(value: int | Fraction) -> int | Fraction:
    return value if isinstance(value, int) else value.limit_denominator(_DIGITS) or value


def _with_more_clients(case: Case, rng: np.random.Generator) -> None:
    """Double the clients of a recipe, as long as that is cheap."""
    while len(case.recipe["clients"]) <= critical.MOST_CLIENTS and not _is_dear(case):
        if _ratio(case, rng) is None:
            return
        case = Case(case.claim, {**case.recipe, "clients": tuple(case.recipe["clients"]) * 2})


def _is_dear(case: Case) -> bool:
    """Return True if the matrix of a spectral check would take too much memory, estimated from its sides
    at one state.
    """
    try:
        size = case.floats.dimension
        tracemalloc.start()
        with np.errstate(all="ignore"):
            sides(case.floats, np.zeros((1, size)))
        return size**2 * tracemalloc.get_traced_memory()[1] > _BYTES
    except (ValueError, ArithmeticError):
        return True
    finally:
        tracemalloc.stop()
