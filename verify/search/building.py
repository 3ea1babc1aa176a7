"""The instances of the recipe at which a search is: each is asked for several times in a row, and built once.

Where a violation is confirmed, and where code is asked whether it does what it says, instances are built anew.
"""

from __future__ import annotations

from typing import NamedTuple

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe


class _Latest(NamedTuple):
    """The latest request, compared by identity: a claim, a recipe, and its instances in fractions or floats."""

    claim: Claim
    recipe: Recipe
    instances: dict[bool, Instance]


#: One at most.
_latest: list[_Latest] = []


def instance(claim: Claim, recipe: Recipe, exact: bool) -> Instance:
    """As ``claim.instances.build``; an instance that is at hand is not built again."""
    latest = _latest[-1] if _latest else None
    if latest is None or latest.claim is not claim or latest.recipe is not recipe:
        latest = _Latest(claim, recipe, {})
        _latest[:] = [latest]
    if exact not in latest.instances:
        latest.instances[exact] = claim.instances.build(recipe, exact)
    return latest.instances[exact]
