"""Ratios of the sides at states."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import claims
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.methods.base import Inquiry
from verify.methods.search import METHOD as SEARCH
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
    assert states.with_exact_ratio(Case(claim, recipe), told).ratio == 0


def _step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


def _found(power, of):
    """What the search finds of gradient descent that starts at a point of its own."""
    mu, L, gamma = ft.letters("mu L gamma")
    gd = ft.method("gd", _step, ["gamma"], {"x": "point"}, init=lambda problem, params: {"x": 0 * problem.x_star})
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
    claim = ft.Claim(
        "own/start", setting=setting, statement=of(gd, (1 - gamma * mu) ** power), requires=(gamma * L <= 1,)
    )
    return SEARCH.run(SEARCH, Inquiry(claim, 0, 40)).verdict


def _one_step(gd, factor):
    return ft.contracts(gd, ft.distance, factor)


def _bound(gd, factor):
    last, first = ft.Quantity("D_T", ft.distance, after=True), ft.Quantity("D_0", ft.distance)
    return ft.bound(gd, ft.E(last) <= factor**ft.T * first)


@pytest.mark.parametrize("of", [_one_step, _bound])
def test_a_method_whose_init_takes_nothing_is_searched_where_it_starts(of):
    assert _found(2, of) is Verdict.SUPPORTED and _found(3, of) is Verdict.REFUTED
