"""Coins of each coordinate's own: in a step they fall apart, and what is said of one is said of each."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest

import fedtheory as ft
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.multipliers.proving import prove
from verify.pep.certifying import certify

mu, L, gamma, p = ft.letters("mu L gamma p")


def _renewed(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * np.where(np.asarray(draw), slope, 0 * slope)}


def _renewed_at_renewed(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    y = state.x - params.gamma * np.where(np.asarray(draw), slope, 0 * slope)
    return {"x": y - params.gamma * problem.f.gradient(y[..., None, :]).sum(axis=-2) / problem.n}


def _renewed_twice(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    mine, other = np.asarray(draw.mine), np.asarray(draw.other)
    return {"x": state.x - params.gamma * np.where(mine & other, slope, 0 * slope)}


class Two(NamedTuple):
    """Two coins of each coordinate."""

    mine: Any
    other: Any


def _one_coin(problem, params, state):
    return ft.Independent(ft.Bernoulli(params.p), problem.d)


def _two_coins(problem, params, state):
    return ft.Product(Two, (_one_coin(problem, params, state), _one_coin(problem, params, state)))


def _aside(problem, params, state):
    # The square of what one draw does to all coordinates together.
    return ((state.x - problem.x_star) ** 2).sum(axis=-1) ** 2


@pytest.mark.parametrize(
    ("step", "draws", "factor", "of", "right"),
    (
        (_renewed, _one_coin, 1 - p * gamma * mu, ft.distance, True),
        (_renewed, _one_coin, 1 - 2 * p * gamma * mu, ft.distance, False),
        (_renewed, _one_coin, (1 - p * gamma * mu) ** 2, _aside, False),
        (_renewed_at_renewed, _one_coin, (1 - p * gamma * mu) * (1 - gamma * mu), ft.distance, False),
        (_renewed_twice, _two_coins, 1 - p**2 * gamma * mu, ft.distance, True),
        (_renewed_twice, _two_coins, 1 - p * gamma * mu, ft.distance, False),
    ),
)
@pytest.mark.parametrize("clients", ((1,), (1, 2, 3)))
def test_coins_of_each_coordinates_own(step, draws, factor, of, right, clients):
    method = ft.method("mine", step, ["gamma", "p"], {"x": "point"}, draws=draws)
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=clients,
        domain=(p <= 1,),
        hints=ft.Hints(coordinates=True),
    )
    claim = ft.Claim(
        "mine/coordinates", setting=setting, statement=ft.contracts(method, of, factor), requires=(gamma * L <= 1,)
    )
    assert isinstance(prove(claim), str) is not right


def _where_tossed(problem, params, state, draw):
    moved = state.x - problem.x_star
    at = problem.x_star + np.where(np.asarray(draw), moved, 0 * moved)
    return {"x": state.x - params.gamma * problem.f.gradient(at[..., None, :]).sum(axis=-2) / problem.n}


def test_no_gradient_is_posed_where_coins_are_tossed_first():
    """An entry of it depends on all coins: with Hessian [[3, -1], [-1, 3]]/4 and p = 1/10, 1 - p/2 is exceeded."""
    method = ft.method("masked", _where_tossed, ["gamma", "p"], {"x": "point"}, draws=_one_coin)
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        clients=(1,),
        domain=(p <= 1,),
        hints=ft.Hints(coordinates=True),
    )
    statement = ft.contracts(method, ft.distance, 1 - p * gamma * mu)
    claim = ft.Claim("own/masked", setting=setting, statement=statement, requires=(gamma * L <= 1,))
    for recipe, _ in islice(meeting(claim, claim.instances.recipes(np.random.default_rng(0))), 20):
        at = claim.instances.build(recipe, True)
        if at.params.p < 1:
            with pytest.raises(ValueError, match="depends on which coordinates are drawn"):
                certify(Case.of(claim, at))
