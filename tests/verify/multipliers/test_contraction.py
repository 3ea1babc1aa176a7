"""Bounds for every number of rounds: which follow from a step, and which do not."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.kinds.one_step import OneStep
from verify.multipliers.contraction import chain_of, step_of
from verify.multipliers.proving import prove
from verify.reading.source import Unread

mu, L, gamma = ft.letters("mu L gamma")
D_0, D_T = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
F_0 = ft.Quantity("F_0", ft.gap)
RATE = 1 - gamma * mu


def _step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


def claim(relation, requires=(gamma * L <= 1,), **more):
    method = ft.method("mine", _step, ["gamma"], {"x": "point"}, **more)
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    return ft.Claim("mine/bound", setting=setting, statement=ft.bound(method, relation), requires=requires)


def test_a_bound_follows_from_its_step():
    step = step_of(claim(ft.E(D_T) <= RATE**ft.T * D_0))
    assert isinstance(step.statement, OneStep) and not isinstance(prove(step), str)
    registered = step_of(claims.get("locodl/theorem-3.1/eq-5"))
    assert registered.id == "locodl/theorem-3.1/one-step"


def test_a_rate_that_is_too_small_is_not_proved():
    assert isinstance(prove(step_of(claim(ft.E(D_T) <= (RATE**3) ** ft.T * D_0)), 1), str)


@pytest.mark.parametrize(
    ("relation", "requires"),
    (
        # Where a step is longer the rate may be negative, and its powers alternate.
        (ft.E(D_T) <= RATE**ft.T * D_0, ()),
        (ft.E(D_T) <= 2 * RATE**ft.T * D_0, (gamma * L <= 1,)),
        (ft.E(D_T) <= sympy.Rational(1, 2) * RATE**ft.T * D_0, (gamma * L <= 1,)),
        (ft.E(D_T) <= RATE**ft.T * F_0, (gamma * L <= 1,)),
        (ft.E(D_T) <= RATE ** (ft.T**2) * D_0, (gamma * L <= 1,)),
        (ft.E(D_T) < RATE**ft.T * D_0, (gamma * L <= 1,)),
    ),
)
def test_other_bounds_do_not_follow(relation, requires):
    with pytest.raises(Unread):
        step_of(claim(relation, requires))


def test_states_satisfy_the_invariant_at_the_start():
    # The sum of the u_i and v is no invariant of the state that this method starts from.
    bound = claims.get("locodl/theorem-3.1/eq-5")
    algorithm = bound.setting.algorithm

    def off(problem, params, x=None, y=None, u=None):
        state = algorithm.init(problem, params, x, y, u)
        return state._replace(v=state.v + 1 + 0 * state.y)

    moved = replace(algorithm, init=off)
    setting = replace(bound.setting, algorithm=moved)
    other = replace(bound, setting=setting, statement=replace(bound.statement, algorithm=moved))
    with pytest.raises(Unread):
        step_of(other)


EQ_4, EQ_5 = (claims.get(f"feddcd/theorem-4.1/{name}") for name in ("eq-4", "eq-5"))


@pytest.mark.parametrize("bound", (EQ_4, EQ_5))
def test_bounds_through_a_potential_follow_from_inequalities_of_all_states(bound):
    chain = chain_of(bound)
    assert chain.step.statement.factor == bound.statement.factor
    assert [lemma.id for lemma in chain.lemmas] == ["feddcd/lemma-E.1/exact", "feddcd/lemma-E.2"]


@pytest.mark.parametrize(
    "bound",
    (
        EQ_4.variant(constant=EQ_4.statement.constant * sympy.Rational(99, 100)),
        # From 0 the sum of squares may be n times the largest.
        EQ_5.variant(constant=EQ_4.statement.constant),
        EQ_4.variant(requires=EQ_4.requires[1:]),
        replace(EQ_4, setting=replace(EQ_4.setting, potential=None)),
        # The inequalities are claimed of states of another setting.
        replace(EQ_4, setting=replace(EQ_4.setting, text="mine")),
    ),
)
def test_other_bounds_through_a_potential_do_not(bound):
    with pytest.raises(Unread):
        chain_of(bound)
