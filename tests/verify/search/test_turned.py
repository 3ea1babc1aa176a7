"""What one draw makes of two vectors is only bounded by the moments of each."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.search import hunting

mu, L = ft.letters("mu L")


def size(problem, params, state):
    return (state.h**2).sum(axis=(-1, -2))


def step(problem, params, state, draw):
    return {"h": params.compressors.apply(draw, state.h) - params.compressors.apply(draw, 2 * state.h)}


@pytest.mark.slow
@pytest.mark.parametrize(("variances", "false"), [(5, True), (9, False)])
def test_two_answers_to_one_draw(variances, false):
    method = ft.method("two", step, ["compressors"], {"h": "clients"})
    setting = ft.Setting(
        algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.UnbiasedCompressors(),)
    )
    V, V_next = ft.Quantity("V", size), ft.Quantity("V_next", size, after=True)
    statement = ft.one_step(method, ft.E(V_next) <= (1 + variances * ft.omega) * V)
    claim = ft.Claim("two", setting=setting, statement=statement)
    assert bool(hunting.hunt(claim, np.random.default_rng(0), 10, 1).refutations) == false


NEAR = sympy.Rational(1001, 1000)


def near(problem, params, state, draw):
    scaled = Fraction(1001, 1000) * state.h
    return {"h": params.compressors.apply(draw, state.h) - params.compressors.apply(draw, scaled)}


@pytest.mark.parametrize(
    ("factor", "false"),
    [
        ((NEAR - 1) ** 2 * (1 + ft.omega), True),
        ((NEAR - 1) ** 2 + ft.omega, True),
        ((NEAR - 1) ** 2 + NEAR**2 * 4 * ft.omega, False),
    ],
)
def test_two_answers_to_nearly_the_same_vector(factor, false):
    method = ft.method("near", near, ["compressors"], {"h": "clients"})
    setting = ft.Setting(
        algorithm=method,
        functions=ft.SmoothStronglyConvex(mu, L),
        adversaries=(ft.UnbiasedCompressors(),),
        clients=(1,),
    )
    V, V_next = ft.Quantity("V", size), ft.Quantity("V_next", size, after=True)
    claim = ft.Claim("near", setting=setting, statement=ft.one_step(method, ft.E(V_next) <= factor * V))
    assert bool(hunting.hunt(claim, np.random.default_rng(0), 3, 1).refutations) == false
