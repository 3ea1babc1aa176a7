"""Certificates where all functions have proximal points about one vector, or single clients are named."""

from itertools import islice

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.classes import OneStronglyConvex
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.evidence import certificates

mu, L, gamma = ft.letters("mu L gamma")
D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
Y = ft.Quantity("Y", ft.heterogeneity)


def mean(problem, params, state, draw):
    shift = 1 / params.gamma
    return {"x": problem.f.resolvent(shift, shift * state.x[..., None, :]).mean(axis=-2)}


def splitting(problem, params, state, draw):
    shift = 1 / params.gamma
    x = problem.f.resolvent(shift, shift * state.z[..., None, :])[..., 0, :]
    y = problem.f.resolvent(shift, shift * (2 * x - state.z)[..., None, :])[..., 1, :]
    return {"z": state.z + y - x}


def rest(problem, params):
    return {"z": problem.x_star + params.gamma * problem.y_star[..., 0, :]}


def to_rest(problem, params, state):
    return ((state.z - rest(problem, params)["z"]) ** 2).sum(axis=-1)


AVERAGED = ft.method("averaged", mean, ["gamma"], {"x": "point"})
SPLIT = ft.method("douglas-rachford", splitting, ["gamma"], {"z": "point"}, fixed_point=rest)
DELTA = (1 - gamma * mu) / (1 + gamma * mu)


def verdict(statement, *requires):
    setting = ft.Setting(algorithm=statement.algorithm, functions=OneStronglyConvex(mu, L), clients=(2,))
    claim = ft.Claim("mine/step", setting=setting, statement=statement, requires=requires)
    ((recipe, _),) = islice(meeting(claim, claim.instances.recipes(np.random.default_rng(0))), 1)
    return certificates.certified(Case(claim, recipe))[0].verdict


@pytest.mark.parametrize(("factor", "found"), [("4/5", Verdict.CERTIFIED), ("1/2", Verdict.REFUTED)])
def test_the_mean_of_proximal_points_about_one_vector_is_not_that_of_the_first_function(factor, found):
    """With f_2 = 0 the mean leads 3/4 of the way that is left; the first function's alone would lead to a half."""
    fixed = (sympy.Eq(mu, 1), sympy.Eq(L, 2), sympy.Eq(gamma, 1))
    assert verdict(ft.one_step(AVERAGED, ft.E(D_next) <= D * sympy.Rational(factor) + 100 * Y), *fixed) is found


@pytest.mark.parametrize(("power", "found"), [(2, Verdict.CERTIFIED), (3, Verdict.REFUTED)])
def test_two_named_clients_split(power, found):
    fixed = (sympy.Eq(mu, 1), sympy.Eq(L, 2), sympy.Eq(gamma, sympy.Rational(1, 4)))
    assert verdict(ft.contracts(SPLIT, to_rest, ((1 + DELTA) / 2) ** power), *fixed) is found
