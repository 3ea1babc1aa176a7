"""Instances of the recipe at which a search is."""

from dataclasses import replace

import numpy as np

from fedtheory import claims
from verify.search import building


def test_an_instance_is_built_once_for_one_claim_and_recipe():
    one = claims.get("feddcd/lemma-B.8/rate")
    recipe = next(one.instances.recipes(np.random.default_rng(0)))
    exact = building.instance(one, recipe, True)
    assert building.instance(one, recipe, True) is exact
    assert building.instance(one, recipe, False) is not exact
    assert building.instance(one, recipe, True) is exact
    # The same values are another recipe, and an equal claim another claim.
    assert building.instance(one, dict(recipe), True) is not exact
    assert building.instance(one, recipe, True) is not exact
    at_hand = building.instance(one, recipe, True)
    assert building.instance(replace(one), recipe, True) is not at_hand
