"""Rates and constants that are enclosed between rationals: a tight one is not said to be exceeded, a smaller one is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

import fedtheory as ft
from fedtheory.numbers.intervals import Interval
from fedtheory.numbers.rational import square_root
from verify.base.verdict import Verdict
from verify.tightness import sweep
from verify.tightness.comparison import _surely

mu, L, gamma, q = ft.letters("mu L gamma q")
LETTERS = {q: lambda problem, params: square_root(problem.mu), gamma: "gamma", mu: "mu", L: "L"}
AT = {"mu": Fraction(1, 3), "L": Fraction(1), "gamma": Fraction(1)}
BEFORE, AFTER = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)


def _descent(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


GD = ft.method("gd", _descent, ["gamma"], {"x": "point"})


def _verdicts(statement: Any) -> set[Verdict]:
    setting = ft.Setting(algorithm=GD, functions=ft.SmoothStronglyConvex(mu, L), letters=LETTERS)
    claim = ft.Claim("mine/enclosed", setting=setting, statement=statement, requires=(gamma * L <= 1,))
    return {point.verdict for point in sweep.measure(claim, AT)}


@pytest.mark.parametrize("right", (q * sympy.sqrt(mu), q**2, q**4 / mu))
def test_a_rate_that_is_attained_and_enclosed_is_not_exceeded(right):
    assert Verdict.REFUTED not in _verdicts(ft.contracts(GD, ft.distance, (1 - gamma * right) ** 2))


@pytest.mark.parametrize("right", (1.01 * q * sympy.sqrt(mu), sympy.Rational(10001, 10000) * q**2))
def test_a_smaller_one_is(right):
    rate = (1 - gamma * sympy.nsimplify(right)) ** 2
    assert Verdict.REFUTED in _verdicts(ft.contracts(GD, ft.distance, rate))


@pytest.mark.parametrize(("constant", "exceeded"), ((q**2 / mu, False), (q**2 / mu * sympy.Rational(99, 100), True)))
def test_a_constant_that_is_enclosed_is_exceeded_only_where_it_is_smaller(constant, exceeded):
    bound = ft.bound(GD, ft.E(AFTER) <= constant * (1 - gamma * mu) ** (2 * ft.T) * BEFORE)
    assert (Verdict.REFUTED in _verdicts(bound)) is exceeded


def test_a_ratio_is_sure_of_what_is_enclosed():
    one, wide = Fraction(1), Interval(Fraction(1), Fraction(2))
    assert _surely(one, wide) == Fraction(1, 2) and _surely(wide, one) == 1 and _surely(-wide, wide) == -2
    assert _surely(one, 0.5) is None and _surely(0.5, one) is None and _surely(float("inf"), one) is None
    assert _surely(one, Interval(Fraction(0), Fraction(1))) is None and _surely(one, -one) is None
