"""Ratios of the sides at states."""

from fractions import Fraction

import numpy as np

from fedtheory import claims
from verify.search import states


def test_a_ratio_that_is_all_rounding_is_measured_exactly():
    """Linear algebra finds states at which both sides are rounding: their ratio says nothing of the claim's margin."""
    claim = claims.get("fedadmm/eq-50")
    client = {
        "h": (Fraction(3),),
        "bend": Fraction(0),
        "r": Fraction(3),
        "c": (Fraction(7, 4),),
        "width": Fraction(100),
        "weight": Fraction(1),
        "more": Fraction(1),
        "nu": Fraction(99980001, 100000000),
        "active": 1,
    }
    recipe = {"d": 1, "clients": (client,), "begins": 1, "i": 0, "ratio": Fraction(1, 300)}
    theta = np.array([-1.0, -4.3e-15, 0.0, 2e-26, 0.0, 0.0])
    told = states.Finding(1.0, theta, 1, "spectral")
    assert states.with_exact_ratio(claim, recipe, told).ratio == 0
