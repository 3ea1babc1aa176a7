"""Quadratics: their Hessians are symmetric and give their values; of other functions neither is assumed."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import sympy
from linked import shown

import fedtheory as ft
from fedtheory import claims
from fedtheory.kinds.inequality import inequality
from fedtheory.problems.base import everywhere
from fedtheory.settings import points

mu, L, n = ft.letters("mu L n")


class Three(NamedTuple):
    w: Any
    u: Any
    v: Any


class Nothing(NamedTuple):
    """No parameters."""


def _change(problem, to, state):
    """grad f_i(to) - grad f_i(w)."""
    f = problem.f
    return f.gradient(everywhere(problem, to)) - f.gradient(everywhere(problem, state.w))


def _uv(problem, params, state):
    """sum_i <grad f_i(u) - grad f_i(w), v - w>."""
    return (_change(problem, state.u, state) * everywhere(problem, state.v - state.w)).sum(axis=(-1, -2))


def _vu(problem, params, state):
    """sum_i <grad f_i(v) - grad f_i(w), u - w>."""
    return (_change(problem, state.v, state) * everywhere(problem, state.u - state.w)).sum(axis=(-1, -2))


def _uu(problem, params, state):
    """sum_i <grad f_i(u) - grad f_i(w), u - w>."""
    return (_change(problem, state.u, state) * everywhere(problem, state.u - state.w)).sum(axis=(-1, -2))


def _above(problem, params, state):
    """sum_i f_i(u) - f_i(w) - <grad f_i(w), u - w>."""
    w, u = everywhere(problem, state.w), everywhere(problem, state.u)
    f = problem.f
    return (f.value(u) - f.value(w) - (f.gradient(w) * (u - w)).sum(axis=-1)).sum(axis=-1)


_A, _B, _C, _D = (
    ft.Quantity(sympy.Symbol(s), of) for s, of in (("uv", _uv), ("vu", _vu), ("uu", _uu), ("above", _above))
)


def _name(relation):
    return f"{relation.left.expression} <= {relation.right.expression}"


def _claim(statement, quadratics=True):
    of = ft.SmoothStronglyConvex(mu, L, quadratics=quadratics)
    algorithm = points(Three, Nothing, lambda problem, params: Three(*(problem.x_star,) * 3))
    setting = ft.Setting("", letters={mu: "mu", L: "L"}, algorithm=algorithm, functions=of)
    requires = (ft.Hypothesis("of the class", met=of.contains),)
    return ft.Claim("own/quadratic", setting=setting, statement=inequality(statement), requires=requires)


@pytest.mark.parametrize("statement", [_A <= _B, _B <= _A, 2 * _D <= _C, _C <= 2 * _D], ids=_name)
def test_what_holds_of_quadratics_is_proved_of_these_alone(statement):
    assert shown(_claim(statement))
    assert not shown(_claim(statement, quadratics=False))


def test_of_a_setting_that_draws_quadratics_alone_nothing_is_assumed():
    claim = _claim(_A <= _B)
    wide = replace(claim.setting.functions, quadratics=False)
    assert not shown(replace(claim, requires=(ft.Hypothesis("of the class", met=wide.contains),)))


@pytest.mark.parametrize(
    "statement", [_A <= sympy.Rational(98, 100) * _B, sympy.Rational(201, 100) * _D <= _C, _A <= _C], ids=_name
)
def test_nothing_else_is_known_of_quadratics(statement):
    assert not shown(_claim(statement))


#: Units of work of the search, of which the claim itself takes fewer.
WORK = 4000


def test_a_larger_mu_is_slower_on_quadratics():
    claim = claims.get("fedopt/dane/larger-mu")
    assert shown(claim, WORK)


@pytest.mark.parametrize("why", ["two per cent", "the other way", "of any functions"])
def test_neighbours_of_a_larger_mu_are_not_proved(why):
    claim = claims.get("fedopt/dane/larger-mu")
    left, right = claim.statement.left, claim.statement.right
    if why == "of any functions":
        of = replace(claim.setting.functions, quadratics=False)
        met = (ft.Hypothesis("of the class", met=of.contains),)
        changed = replace(claim, setting=replace(claim.setting, functions=of), requires=met)
    else:
        changed = claim.variant(
            **({"left": left * sympy.Rational(102, 100)} if why == "two per cent" else {"left": right, "right": left})
        )
    assert not shown(changed, WORK)
