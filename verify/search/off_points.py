"""Looking off the points at which a claim is certified, for where it is false between or beyond them.

From those points, and from where the claim's own formulas turn, the ratio of its sides at the worst states is climbed
over all constants, and followed while there are more and more clients where the claim speaks of their number.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Recipe
from fedtheory.numbers.symbols import n
from fedtheory.sampling import drawing, nearby
from verify.base.evaluate import dimension, sides
from verify.evidence.counterexamples import Counterexample
from verify.exact import symbolic
from verify.reading.whole import Code
from verify.search import critical, hunting, spectral, states
from verify.search.points import Points, of_class

#: From how many points is climbed, the worst; with factors from the first to the last, how often at most.
_STARTS, _FACTORS, _STEPS = 3, (Fraction(2), 1 + Fraction(1, 10**7)), 60
#: How often clients are doubled before it is told where the ratio tends, as a number plus a multiple of 1/n: what its
#: inverse is then, if the sides cross.
_DOUBLED, _CROSSING = 5, 0.99
#: By how much a ratio grows, where its growth is more than rounding.
_GROWING = 1e-6
#: Bytes beyond which no more clients are looked at.
_BYTES = 2 * 10**8
#: How simple constants are kept.
_DIGITS = 10**9
#: Points at which a sum vanishes, of which the simplest are tried, and how many of each are enough.
_SOUGHT, _EACH = 12, 2


class OffPoints(NamedTuple):
    """What is found off the points: a counterexample; for each sum that vanishes at none of them points where it does;
    others that are worse than those at hand, or where formulas turn; and why nothing is said beyond them."""

    broken: Counterexample | None
    zeros: tuple[tuple[Recipe, ...], ...] = ()
    worse: tuple[Recipe, ...] = ()
    doubt: str = ""


class _Broken(Exception):
    def __init__(self, example: Counterexample) -> None:
        self.example = example


def look(claim: Claim, about: Points, recipes: Sequence[Recipe], code: Code, seed: int) -> OffPoints:
    """What the ratio of the sides is off the points of ``recipes``; ``code``: of the claim, as it is read at one."""
    rng = hunting.generator(claim, seed)
    try:
        of_code = critical.in_code(claim, code)
        if len(of_code) > _SOUGHT:
            return OffPoints(
                None, doubt=f"its code has {len(of_code)} sums of letters, of which {_SOUGHT} would be looked at"
            )
        if len(about.turns) > _SOUGHT:
            return OffPoints(None, doubt=f"its sums turn at zeros of {len(about.turns)} others, of which none is tried")
        # What vanishes for many clients alone is posed nowhere.
        others = [e for e in critical.sums(claim) if e not in about.zeros]
        zeros, turns = (
            tuple(tuple(islice(_at_zero(claim, e, recipes, rng), _EACH)) for e in sums)
            for sums in (about.passed(recipes), (*about.turns, *others, *of_code))
        )
        if (unseen := _first_free(claim, about.turns, turns)) is not None:
            return OffPoints(None, doubt=f"no point is found where {unseen} = 0, where its sums may turn")
        sums = (*about.zeros, *about.turns, *others, *of_code)
        sets = _vanishing_together(claim, sums)
        if sets is None:
            return OffPoints(None, doubt="more of its sums may vanish at once than are looked at")
        joint = tuple(_at_zeros(claim, sets, (recipes, *zeros, *turns), rng))
        if missed := next((each for each, there in zip(sets, joint, strict=True) if not there), None):
            return OffPoints(None, doubt=f"no point is found where {' = '.join(map(str, missed))} = 0")
        rated = [list(_rated(claim, several, rng)) for several in (recipes, *zeros, *turns, *joint)]
        starts = sorted(chain(*rated), key=lambda pair: -pair[0])[:_STARTS]
        # Where a formula turns it may be worse elsewhere than where it is worst now.
        starts += [pair for of_one in rated[1:] for pair in sorted(of_one, key=lambda pair: -pair[0])[:1]]
        starts = [pair for k, pair in enumerate(starts) if pair not in starts[:k]]
        tops = [_climbed(claim, ratio, recipe, rng) for ratio, recipe in starts]
        spoken = sympy.Tuple(*_said(claim), *of_code).free_symbols
        counted = any(claim.setting.sources.get(x, str(x)) == "n" for x in spoken)
        doubt = _with_more_clients(claim, [recipe for _, recipe in starts[:1]], rng) if counted else ""
    except _Broken as broken:
        return OffPoints(broken.example)
    above = [recipe for (ratio, _), (top, recipe) in zip(starts, tops, strict=True) if top > ratio]
    return OffPoints(None, zeros, (*(at for several in turns for at in several[:1]), *above), doubt)


def _said(claim: Claim) -> tuple[sympy.Basic, ...]:
    """All that a claim says of letters."""
    compared = [side for c in claim.statement.comparisons for side in (c.left, c.right)]
    return (*compared, *drawing.sides(claim), *drawing.relations(claim))


def _at_zero(claim: Claim, e: sympy.Expr, recipes: Sequence[Recipe], rng: np.random.Generator) -> Iterator[Recipe]:
    starts = sorted(recipes, key=hunting.wildness)[:_STARTS]
    found = [
        recipe
        for start in starts
        for recipe in (
            *critical.at_zero(claim, e, start, rng),
            *critical.with_clients(claim, e, start),
            *critical.with_whole(claim, e, start),
        )
    ]
    for recipe in sorted(found, key=hunting.wildness)[:_SOUGHT]:
        if _ratio(claim, recipe, rng) is not None:
            yield recipe


def _first_free(claim: Claim, sums: Sequence[sympy.Expr], points: Sequence[Sequence[Recipe]]) -> sympy.Expr | None:
    """The first sum of letters that are drawn for which there are no points; None where there is none."""
    free = (e for e, at in zip(sums, points, strict=False) if not at and critical.is_free(claim, e))
    return next(free, None)


def _vanishing_together(claim: Claim, sums: Sequence[sympy.Expr]) -> list[tuple[sympy.Expr, ...]] | None:
    given = [*symbolic.assumed(claim), *of_class(claim), sympy.Le(n, critical.MOST_CLIENTS, evaluate=False)]
    return critical.together([e for e in sums if critical.is_free(claim, e)], given)


def _at_zeros(
    claim: Claim, sets: Sequence[Sequence[sympy.Expr]], near: Sequence[Sequence[Recipe]], rng: np.random.Generator
) -> Iterator[tuple[Recipe, ...]]:
    """Recipes where several sums vanish at once: what is false there only may be true where one of them does."""
    starts = [min(several, key=hunting.wildness) for several in near if several]
    for each in sets:
        found = (critical.at_zeros(claim, each, start) for start in starts)
        there = next((at for at in found if at is not None and _ratio(claim, at, rng) is not None), None)
        yield () if there is None else (there,)


def _ratio(claim: Claim, recipe: Recipe, rng: np.random.Generator) -> float | None:
    """The largest ratio of the sides at one recipe; None where there is none. ``_Broken`` where it is a violation."""
    findings = states.examine(claim, recipe, rng)
    if not findings:
        return None
    if (broken := states.first_confirmed(claim, recipe, findings)) is not None:
        raise _Broken(broken)
    return float(spectral.steady(min(findings[0].ratio, 1.0)))


def _rated(claim: Claim, recipes: Sequence[Recipe], rng: np.random.Generator) -> Iterator[tuple[float, Recipe]]:
    """The ratios at recipes and at ends of the class; where a bound is attained nothing is worse."""
    for recipe in (other for one in recipes for other in nearby.at_ends(claim, one)):
        if (ratio := _ratio(claim, recipe, rng)) is not None and ratio < 1:
            yield ratio, recipe


def _climbed(claim: Claim, ratio: float, recipe: Recipe, rng: np.random.Generator) -> tuple[float, Recipe]:
    """The ratio at the top of a climb that changes one constant at a time, by less and less, and where that is."""
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
                if (found := _ratio(claim, changed, rng)) is not None and found > best[0]:
                    best = (found, changed)
        if best[0] > ratio:
            ratio, recipe = best
        else:
            factor = 1 + (factor - 1) / 4
    return ratio, recipe


def _simple(value: int | Fraction) -> int | Fraction:
    return value if isinstance(value, int) else value.limit_denominator(_DIGITS) or value


def _with_more_clients(claim: Claim, recipes: Sequence[Recipe], rng: np.random.Generator) -> str:
    """Why nothing is said of many clients: the sides come together as there are more of them, and may cross."""
    if not claim.setting.any_clients:
        return ""
    for recipe in recipes:
        found: list[float] = []
        while not _is_dear(claim, recipe) and (ratio := _ratio(claim, recipe, rng)) is not None:
            found.append(ratio)
            recipe = {**recipe, "clients": tuple(recipe["clients"]) * 2}
            if len(recipe["clients"]) > critical.MOST_CLIENTS:
                break
        if len(found) < _DOUBLED or min(found) <= 0:
            continue
        *_, a, b, c = found
        # It grows at least as the logarithm of their number.
        grows = c - b > (b - a) * _CROSSING and c - b > _GROWING
        if grows or 2 / c - 1 / b < _CROSSING:
            return (
                f"the sides come nearer to each other the more clients there are, up to {len(recipe['clients']) // 2}"
            )
    return ""


def _is_dear(claim: Claim, recipe: Recipe) -> bool:
    """Whether all that a spectral answer asks for takes too many bytes, as its sides at one state let expect."""
    try:
        instance = claim.instances.build(recipe, False)
        size = dimension(claim, instance)
        tracemalloc.start()
        with np.errstate(all="ignore"):
            sides(claim, instance, np.zeros((1, size)))
        return size**2 * tracemalloc.get_traced_memory()[1] > _BYTES
    except (ValueError, ArithmeticError):
        return True
    finally:
        tracemalloc.stop()
