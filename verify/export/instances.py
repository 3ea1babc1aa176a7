"""The instances at which exports see the code that they read."""

from __future__ import annotations

from itertools import islice

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from verify.base.evaluate import meeting
from verify.methods.base import Inquiry, seen

#: Recipes that are drawn, and the most instances among them.
_DRAWN = 60
_INSTANCES = 5


def examples(claim: Claim, rng: np.random.Generator) -> list[Instance]:
    """Return some instances that meet the hypotheses of a claim. Raise ``ValueError`` if there are none."""
    recipes = meeting(claim, islice(claim.instances.recipes(rng), _DRAWN))
    return seen(Inquiry(claim, given=tuple(recipe for recipe, _ in islice(recipes, _INSTANCES))))
