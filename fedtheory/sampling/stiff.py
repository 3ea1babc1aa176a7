"""Recipes of several coordinates whose curvatures differ by orders of magnitude: draws are mostly of one coordinate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np

from fedtheory.instances import ClaimLike, Recipe, generic, members, pick
from fedtheory.sampling import drawing

#: Numbers of coordinates of a recipe.
_COORDINATES = (2, 3)
#: Draws for each recipe that is asked for.
_DRAWS = 20
#: The largest condition number.
_LARGEST = Fraction(10**5)
#: The entries of a client that are dropped, so that its function is the quadratic of its curvatures.
_ODD = ("turn", *members.SLOPES[1:], *members.KINKS, "dip", "dip_from", "dip_to")


def stiff(claim: ClaimLike, rng: np.random.Generator, count: int) -> Iterator[Recipe]:
    """Yield up to ``count`` recipes of two or three coordinates, with letters anywhere or at the bounds of hypotheses.

    Where the class has letters for the least and the largest curvature, these are far apart, and the first client has
    both. None where instances are not drawn from classes of functions.
    """
    setting = claim.setting
    if setting.functions is None or setting.drawing.special is not None:
        return
    yield from islice(_found(claim, rng, count * _DRAWS), count)


def _found(claim: ClaimLike, rng: np.random.Generator, draws: int) -> Iterator[Recipe]:
    setting = claim.setting
    for _ in range(draws):
        recipe: Recipe | None = drawing.drawn(setting, rng)
        if recipe is None or recipe["d"] not in _COORDINATES:
            continue
        recipe = _spread(claim, recipe, rng)
        if setting.drawing.draw is not None:
            recipe = setting.drawing.draw(rng, recipe)
        if recipe is None:
            continue
        cornered = bool(pick(rng, (True, False)))
        try:
            found = drawing.with_letters(claim, recipe, drawing.relations(claim), rng, cornered=cornered)
        except (ValueError, ArithmeticError):
            # There may be no such member.
            continue
        if found is not None:
            yield found


def _spread(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """The recipe with the ends of its class far apart, and curvatures at either end; as it is where there are none."""
    functions = claim.setting.functions
    ends = None if functions is None or functions.ends is None else tuple(map(str, functions.ends))
    if ends is None or not all(isinstance(recipe.get(end), Fraction) and recipe[end] > 0 for end in ends):
        return recipe
    if not all(set(client) <= {"h", "y", *_ODD} for client in recipe["clients"]):
        return recipe
    conditions = claim.setting.drawing.conditions
    high = recipe[ends[1]]
    low = high / (pick(rng, conditions) if conditions else generic(rng, Fraction(2), _LARGEST))
    clients = [
        {"h": tuple(pick(rng, (low, high)) for _ in client["h"]), "y": client["y"]} for client in recipe["clients"]
    ]
    clients[0] = {**clients[0], "h": (low, high, *clients[0]["h"][2:])}
    own = {"g": {**recipe["g"], "h": (low,) * recipe["d"]}} if "g" in recipe else {}
    return {**recipe, ends[0]: low, "clients": tuple(clients), **own}
