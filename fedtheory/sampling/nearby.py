"""Recipes near a recipe, where a claim is likelier to fail: at bounds, and where terms of maxima meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import sympy

from fedtheory.instances import ClaimLike, Recipe, generic, members, pick
from fedtheory.numbers.rational import evaluate
from fedtheory.sampling import building, drawing, pinned
from fedtheory.settings import Setting

#: Between which factors of a constant two terms of a maximum may become equal.
_SCALE = tuple(Fraction(2) ** k for k in range(-3, 4))


def nearby(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with one constant times another number, and the letters that hypotheses bound at their bounds.

    Now and then with the number for which two terms of a maximum in the statement are equal there.
    """
    given = _unbounded(claim.setting, recipe)
    places: list[tuple[str, int | None]] = [(name, None) for name in drawing.fractions(given)]
    places += [("clients", i) for i, client in enumerate(recipe.get("clients", ())) if "h" in client]
    if not places:
        return None
    name, index = pick(rng, places)
    gaps = _differences(claim)
    times = _times_one(claim, given, name, index, rng)
    if gaps and pick(rng, (True, False)):
        return _crossed(claim, times, pick(rng, gaps))
    return times(generic(rng, Fraction(1, 3), Fraction(3)))


def scaled(claim: ClaimLike, recipe: Recipe, name: str, factor: Fraction) -> Recipe | None:
    """The recipe with one constant times a factor, a whole one rounded; of the class with the functions that go with
    it. None where there is none."""
    setting, value = claim.setting, recipe[name]
    if isinstance(value, int):
        return {**recipe, name: round(value * factor)}
    try:
        if setting.functions is not None and name in map(str, setting.functions.letters):
            kept = {str(x): recipe[str(x)] for x in setting.functions.letters}
            return pinned.moved(setting, recipe, {**kept, name: value * factor})
    except (ValueError, ArithmeticError, LookupError, TypeError):
        # There is no such member.
        return None
    return {**recipe, name: value * factor}


def at_ends(claim: ClaimLike, recipe: Recipe) -> Iterator[Recipe]:
    """The recipe; and with all curvatures the least of the class, or the largest, where it has letters for them."""
    yield recipe
    ends = _ends(claim)
    if ends is not None and set(ends) <= set(recipe) and _slopes(recipe):
        for end in ends:
            same = {key: recipe[end] for key in members.SLOPES}
            clients = (
                {k: (same[k],) * len(v) if k in same else v for k, v in client.items()} for client in recipe["clients"]
            )
            yield {**recipe, "clients": tuple(clients)}


def bounded(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with the letters that hypotheses bound at their bounds; None where there is none."""
    if claim.setting.functions is None or claim.setting.drawing.special is not None:
        return None
    given = _unbounded(claim.setting, recipe)
    try:
        return drawing.with_letters(claim, given, drawing.relations(claim), rng, cornered=True)
    except (ValueError, ArithmeticError):
        return None


def narrow(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with mu = L for the bound that its functions pass, and the letters at their bounds; None if they
    pass none, or there is none. Mostly two terms of a maximum in the statement are equal there too.

    What is claimed of functions a little beyond the class may fail there only: where terms that are attained at mu and
    at L meet, a change of one of them costs its square.
    """
    ends, slopes = _ends(claim), _slopes(recipe)
    if ends is None or not set(ends) <= set(recipe):
        return None
    mu, L = (recipe[end] for end in ends)
    if not slopes or mu <= min(slopes) <= max(slopes) <= L:
        return None
    changed = _degenerate(claim, recipe, ends, max(slopes) > L)
    others, gaps = _apart(claim, changed), _differences(claim)
    times = _times_one(claim, changed, pick(rng, others or [ends[0]]), None, rng)
    if others and gaps and pick(rng, (True, True, False)):
        return _crossed(claim, times, pick(rng, gaps))
    return times(Fraction(1))


def crossings(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator) -> Iterator[Recipe]:
    """The recipe with mu = L, the letters at their bounds, and one constant such that two terms of a maximum in the
    statement are equal: one recipe for each two terms and each constant where there is one.

    A bound that is attained at one point of the parameters only is attained there: no draw comes upon it.
    """
    ends, slopes = _ends(claim), _slopes(recipe)
    if ends is None or not slopes or not set(ends) <= set(recipe):
        return
    changed = _degenerate(claim, recipe, ends, True)
    for name in _apart(claim, changed):
        for gap in _differences(claim):
            found = _crossed(claim, _times_one(claim, changed, name, None, rng, crossed=False), gap)
            if found is not None:
                yield found


def _ends(claim: ClaimLike) -> tuple[str, str] | None:
    """The names of the least and the largest curvature in a recipe, where the class has letters for both."""
    functions = claim.setting.functions
    return None if functions is None or functions.ends is None else (str(functions.ends[0]), str(functions.ends[1]))


def _slopes(recipe: Recipe) -> list[Fraction]:
    """All curvatures of the clients."""
    return [h for client in recipe.get("clients", ()) for h in members.slopes_of(client)]


def _degenerate(claim: ClaimLike, recipe: Recipe, ends: tuple[str, str], upper: bool) -> Recipe:
    """The recipe with mu and L both one of the ``ends``, the second with ``upper``, and all curvatures within it: those
    beyond it stay beyond."""
    value, kept = (recipe[ends[1]], max) if upper else (recipe[ends[0]], min)
    clients = tuple(
        {**client, **{key: tuple(kept(h, value) for h in client[key]) for key in members.SLOPES if key in client}}
        for client in recipe["clients"]
    )
    return {**_unbounded(claim.setting, recipe), **dict.fromkeys(ends, value), "clients": clients}


def _apart(claim: ClaimLike, recipe: Recipe) -> list[str]:
    """The constants of a recipe that are not those of the class of functions."""
    return [name for name in drawing.fractions(recipe) if name not in (_ends(claim) or ())]


def _times_one(
    claim: ClaimLike, given: Recipe, name: str, index: int | None, rng: np.random.Generator, crossed: bool = True
) -> Callable[[Fraction], Recipe | None]:
    """The recipe with one constant, or the curvatures of a client, times a factor, and the letters at their bounds.

    ``crossed``: or where two terms of a maximum are equal.
    """
    seed = int(rng.integers(2**32))

    def times(factor: Fraction) -> Recipe | None:
        if index is None:
            changed = {**given, name: given[name] * factor}
        else:
            clients = list(given["clients"])
            clients[index] = {**clients[index], "h": drawing.times(clients[index]["h"], factor)}
            changed = {**given, "clients": tuple(clients)}
        try:
            # The same random numbers for each factor: the letters follow it.
            return drawing.with_letters(
                claim, changed, drawing.relations(claim), np.random.default_rng(seed), cornered=True, crossed=crossed
            )
        except (ValueError, ArithmeticError):
            # There is no such instance.
            return None

    return times


def _unbounded(setting: Setting, recipe: Recipe) -> Recipe:
    """The recipe without the letters that hypotheses bound: others have entries where adversaries or the hook draw."""
    first: Recipe | None = drawing.drawn(setting, np.random.default_rng(0))
    if setting.drawing.draw is not None and first is not None:
        first = setting.drawing.draw(np.random.default_rng(0), first)
    bounded = set(drawing.drawn_letters(setting).values()) - set(first or recipe)
    return {name: value for name, value in recipe.items() if name not in bounded}


def _differences(claim: ClaimLike) -> list[sympy.Expr]:
    """Differences of the terms of each maximum in the statement that contains letters alone."""
    choices = sympy.Tuple(*drawing.sides(claim)).atoms(sympy.Max, sympy.Min)
    pairs = (a - b for node in sorted(choices, key=sympy.default_sort_key) for a, b in combinations(node.args, 2))
    return [gap for gap in pairs if gap.free_symbols <= set(claim.setting.sources)]


def _crossed(claim: ClaimLike, times: Callable[[Fraction], Recipe | None], gap: sympy.Expr) -> Recipe | None:
    """The recipe at a factor for which ``gap`` vanishes, or nearly so; None where none is found."""
    # Instances are built where nothing is searched for, too.
    from scipy.optimize import brentq

    def at(factor: Fraction) -> Any:
        recipe = times(factor)
        if recipe is None:
            return math.nan
        return evaluate(gap, building.values(claim.setting, recipe))

    try:
        seen = [(factor, float(at(factor))) for factor in _SCALE]
        ends = [(a, b) for (a, u), (b, v) in pairwise(seen) if u * v < 0]
        if not ends:
            return times(next((factor for factor, value in seen if value == 0), Fraction(1)))
        low, high = map(float, ends[0])
        root = brentq(lambda factor: float(at(Fraction(factor))), low, high, xtol=1e-12)
        simple = Fraction(root).limit_denominator(1000)
        return times(simple if simple > 0 and at(simple) == 0 else Fraction(root).limit_denominator(10**5))
    except (ValueError, ArithmeticError):
        return None
