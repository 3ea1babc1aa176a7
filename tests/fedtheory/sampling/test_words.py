"""What is told of an instance: the values that it has."""

from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.sampling.building import _used


class _Params(NamedTuple):
    gamma: Any


@pytest.mark.parametrize(
    ("used", "drawn", "told"),
    [
        (Fraction(1, 3), Fraction(1), Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
        (1 / 3, Fraction(1, 3), Fraction(1, 3)),
        (np.ones(2), Fraction(1), Fraction(1)),
        (Fraction(1), (1, 2), (1, 2)),
    ],
)
def test_a_letter_has_the_value_of_its_parameter(used, drawn, told):
    assert _used(_Params(used), "gamma", drawn) == told
    assert _used(_Params(used), "eta", drawn) == drawn


def _built(claim):
    """The first instance that there is."""
    for recipe in claim.instances.recipes(np.random.default_rng(0)):
        with suppress(ValueError):
            return claim.instances.build(recipe, True)


@pytest.mark.parametrize("id", ["feddcd/eq-31", "fedadmm/theorem-4.3/iteration", "fedopt/dane/property-a"])
def test_the_header_of_an_instance_tells_no_other_value(id):
    instance = _built(claims.get(id))
    told = dict(part.split("=") for part in instance.text.split("; ")[0].split(", ") if part.count("=") == 1)
    for name in set(told) & set(instance.params._fields):
        assert told[name] == str(getattr(instance.params, name))
    assert "wide" not in told
