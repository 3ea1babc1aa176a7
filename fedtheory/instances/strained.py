"""Recipes in which one constant is off, so that every hypothesis fails somewhere by itself.

A hypothesis that no instance breaks could be dropped from a claim, and the claim would still be called supported.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count

import numpy as np

from fedtheory.instances.base import Family, Recipe, pick

#: One of so many recipes is strained.
EVERY = 4
#: Squares, since some instances take roots.
_FACTORS = tuple(Fraction(v) for v in ("1/100", "1/4", "4/9", "9/4", 4, 100))


def with_strain(family: Family) -> Family:
    """The family with now and then a constant of a recipe, or of one of its clients, times another number.

    Its ``build`` decides whether the instance exists, the claim's hypotheses whether it counts.
    """

    def recipes(rng: np.random.Generator) -> Iterator[Recipe]:
        for index, recipe in zip(count(1), family.recipes(rng), strict=False):
            yield recipe if index % EVERY else _strained(recipe, rng)

    return Family(recipes, family.build, family.simpler)


def _strained(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    clients = recipe.get("clients", ())
    places: list[tuple[int | None, str]] = [(None, name) for name in _constants(recipe)]
    places += [(i, name) for i, client in enumerate(clients) for name in _constants(client)]
    if not places:
        return recipe
    index, name = pick(rng, places)
    factor = pick(rng, _FACTORS)
    if index is None:
        return {**recipe, name: recipe[name] * factor}
    changed = {**clients[index], name: clients[index][name] * factor}
    return {**recipe, "clients": (*clients[:index], changed, *clients[index + 1 :])}


def _constants(values: Recipe) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, Fraction) and value != 0]
