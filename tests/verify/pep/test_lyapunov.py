"""Bounds shown by induction through a Lyapunov function of two parts, brought as an author's own."""

import numpy as np
import pytest
import sympy

import fedtheory as ft
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.pep import class_induction

mu, L, gamma = ft.letters("mu L gamma")
NUMBERS = (sympy.Eq(L, 1), sympy.Eq(mu, sympy.Rational(1, 4)), sympy.Eq(gamma, sympy.Rational(1, 2)))
RATE = (1 - gamma * mu) ** 2


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


GD = ft.method("gd", step, ["gamma"], {"x": "point"})


def found(rate, gap):
    """What induction finds of a bound of a method without an invariant; the error, of one client, is 0."""
    hints = ft.Hints(lyapunov=(gap, ft.heterogeneity))
    setting = ft.Setting(algorithm=GD, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,), hints=hints)
    after, before = ft.Quantity("V_T", gap, after=True), ft.Quantity("V_0", gap)
    statement = ft.bound(GD, ft.E(after) <= rate**ft.T * before)
    claim = ft.Claim("own/bound", setting=setting, statement=statement, requires=NUMBERS)
    _, instance = next(meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    return class_induction.certify(Case.of(claim, instance))


@pytest.mark.parametrize("gap", [ft.distance, ft.gap])
def test_a_method_without_an_invariant_has_all_states(gap):
    certified = found(RATE, gap)
    assert certified.verdict is Verdict.CERTIFIED and certified.certificate.check()


@pytest.mark.parametrize("gap", [ft.distance, ft.gap])
def test_a_rate_that_is_too_good_is_left_open(gap):
    assert found(RATE * sympy.Rational(99, 100), gap).verdict is Verdict.OPEN
