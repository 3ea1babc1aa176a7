"""Numbers that intervals cannot tell apart: they end no search, and nothing is decided by them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from first_found import at_few

import fedtheory as ft
from fedtheory.numbers.rational import square_root
from verify import Verdict
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.comparisons.deciding import may_agree
from verify.pep.posing import any_functions

mu, L, gamma, q = ft.letters("mu L gamma q")
sqrt = sympy.sqrt


def _slope(problem: Any, x: Any) -> Any:
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def _descent(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    return {"x": state.x - params.gamma * _slope(problem, state.x)}


def _rooted(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    return {"x": state.x - params.gamma * square_root(problem.mu / problem.L) * _slope(problem, state.x)}


def _init(problem: Any, params: Any, x: Any = None) -> Any:
    return {"x": square_root(problem.mu) + 0 * problem.x_star if x is None else x}


GD, SHORTER = (ft.method(name, step, ["gamma"], {"x": "point"}) for name, step in (("gd", _descent), ("gdr", _rooted)))
BEGUN = ft.method("gdi", _descent, ["gamma"], {"x": "point"}, init=_init)
BEFORE, AFTER = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
SHORT, LONG = gamma * L <= 1, gamma * (mu + L) <= 2
LETTERS = {q: lambda problem, params: square_root(problem.mu), gamma: "gamma", mu: "mu", L: "L"}


def _claim(method: Any, of: Any, *requires: Any, **more: Any) -> ft.Claim:
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), **more)
    statement = of if not isinstance(of, sympy.Expr) else ft.contracts(method, ft.distance, of)
    return ft.Claim("mine/undecided", setting=setting, statement=statement, requires=requires)


RATE, WRONG = (1 - gamma * mu) ** 2, (1 - gamma * L) ** 2
TRUE = {
    "a bound whose slope is 0 at mu = L": _claim(GD, RATE, gamma * (sqrt(mu) - sqrt(L)) <= 0, LONG),
    "an equation whose slope is 0 there": _claim(
        GD, RATE, sympy.Eq(gamma * (sqrt(mu) - sqrt(L)), 0, evaluate=False), LONG
    ),
    "a step with a root": _claim(SHORTER, (1 - gamma * mu * sqrt(mu / L)) ** 2, LONG),
    "a stepsize with roots": _claim(
        GD, (1 - sqrt(mu / L)) ** 2, sympy.Eq(gamma, 1 / sqrt(mu * L), evaluate=False), sympy.Eq(mu, L, evaluate=False)
    ),
    "a rate whose roots cancel": _claim(GD, sqrt(L * mu) - sqrt(L) * sqrt(mu) + 1 - gamma * mu, SHORT),
    "a start with a root": _claim(BEGUN, ft.bound(BEGUN, ft.E(AFTER) <= BEFORE), SHORT),
    "a strict bound on a root": _claim(GD, 1 - gamma * mu, sqrt(gamma) * sqrt(L) < 1),
    "a letter that is a root": _claim(GD, 1 - gamma * q**2, SHORT, letters=LETTERS),
}
FALSE = {
    "a bound whose slope is 0 at mu = L": _claim(GD, WRONG, gamma * (sqrt(mu) - sqrt(L)) <= 0, LONG),
    "a step with a root": _claim(SHORTER, (1 - gamma * L * sqrt(mu / L)) ** 2, LONG),
    "a rate with a root": _claim(GD, 1 - sqrt(gamma * mu), SHORT),
    "a start with a root": _claim(BEGUN, ft.bound(BEGUN, ft.E(AFTER) <= BEFORE / 2), SHORT),
    "a letter that is a root": _claim(GD, 1 - 2 * gamma * q**2, SHORT, letters=LETTERS),
}


#: Those that are tried each time.
FAST = ("a step with a root", "a rate whose roots cancel", "a letter that is a root")


@pytest.mark.parametrize(
    "claim",
    [pytest.param(claim, id=name, marks=() if name in FAST else pytest.mark.slow) for name, claim in TRUE.items()],
)
def test_what_is_true_is_supported_at_least(claim):
    found = at_few(claim)
    assert found.verdict in (Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.PROVED, Verdict.NOT_TESTED), found.note
    assert found.verdict is not Verdict.NOT_TESTED or not found.instances


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_what_is_false_is_refuted_and_the_same_is_shown_again(claim):
    found, again = at_few(claim), at_few(claim)
    assert found.verdict is Verdict.REFUTED, found.note
    shown, other = found.counterexample, again.counterexample
    assert (shown.recipe, shown.point, shown.text) == (other.recipe, other.point, other.text)
    assert all(isinstance(v, Fraction) for v in shown.point)


def test_values_may_agree_unless_they_surely_differ():
    a, b = sympy.symbols("a b")
    root, wider = square_root(Fraction(3)), square_root(Fraction(2)) + Fraction(1, 10)
    assert may_agree({a: root, b: Fraction(1)}, {a: square_root(Fraction(3)), b: Fraction(1)})
    assert not may_agree({a: root}, {a: wider}) and not may_agree({a: root}, {b: root})
    assert not may_agree({a: root, b: Fraction(1)}, {a: root, b: Fraction(2)})
    assert not may_agree({a: Fraction(1)}, {a: Fraction(10**60 + 1, 10**60)})


@pytest.mark.parametrize("rate", (1 - gamma * q**2, 1 - gamma * q * sqrt(mu)))
def test_what_a_letter_that_is_a_root_allows_is_asked_without_an_error(rate):
    claim = _claim(GD, rate, SHORT, letters=LETTERS)
    _, given = next(meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    assert any_functions(Case.of(claim, given)) is False
