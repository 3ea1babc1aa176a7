"""What a step leaves as it is, read off its code: at the optimum the gradients balance, and no more is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from fedtheory.algorithms.base import Algorithm
from fedtheory.kinds.base import Statement
from fedtheory.kinds.scope import Scope
from fedtheory.numbers.rational import Array
from fedtheory.settings.relations import Comparison
from verify.base.own import load
from verify.base.verdict import Verdict
from verify.methods import read_code
from verify.methods.base import Inquiry

mu, L, M, gamma, s = ft.letters("mu L M gamma s")


def shown(claim):
    return read_code.run(read_code.METHOD, Inquiry(claim, 0, 12)).verdict is Verdict.PROVED


def test_scaffold_stays_at_the_optimum_and_fedavg_is_not_shown_to():
    true, false = load(EXAMPLES / "gallery" / "scaffold_fixed_point.py")
    assert shown(true) and not shown(false)


def _rest(problem, params):
    return problem.x_star, problem.y_star


def _away(problem, params, state):
    return np.concatenate([(state.x - problem.x_star)[..., None, :], state.c - problem.y_star], axis=-2)


def _away_from_x(problem, params, state):
    return state.x - problem.x_star


def _model(problem, params, state):
    return state.x


def _controls(problem, params, state):
    return state.c


def _corrected(problem, params, state, draw):
    x = state.x[..., None, :]
    y = x - params.gamma * (problem.f.gradient(x) - state.c)
    return {"x": y.sum(axis=-2) / problem.n, "c": problem.f.gradient(y)}


def _uncorrected(problem, params, state, draw):
    x = state.x[..., None, :]
    return {"x": state.x - params.gamma * problem.f.gradient(x).sum(axis=-2), "c": 2 * state.c}


def _elsewhere(problem, params, state, draw):
    x = 2 * state.x[..., None, :]
    return {"x": state.x - params.gamma * problem.f.gradient(x).sum(axis=-2), "c": state.c}


def _weighted(problem, params, state, draw):
    x = state.x[..., None, :]
    weights = problem.f.L[:, None]
    return {"x": state.x - params.gamma * (weights * problem.f.gradient(x)).sum(axis=-2), "c": state.c}


def _squared(problem, params, state, draw):
    lengths = (state.c**2).sum(axis=(-1, -2))[..., None]
    return {"x": state.x + params.gamma * lengths * state.c.sum(axis=-2), "c": state.c * (1 + lengths[..., None])}


def _claim(step, observed=_model, functions=None, invariant=_away, **more):
    parts = {"x": "point", "c": "clients"}
    method = ft.method("mine", step, ["gamma"], parts, init=_rest, fixed_point=_rest, invariant=invariant)
    setting = ft.Setting(algorithm=method, functions=functions or ft.SmoothStronglyConvex(mu, L), **more)
    return ft.Claim("mine/stays", setting=setting, statement=ft.Stays(method, observed, "it stays"))


@pytest.mark.parametrize(
    ("step", "observed", "right"),
    (
        (_corrected, _model, True),
        (_corrected, _controls, True),
        (_uncorrected, _model, True),
        (_uncorrected, _controls, False),
        (_elsewhere, _model, False),
        (_weighted, _model, False),
        (_squared, _model, True),
        (_squared, _controls, False),
    ),
)
def test_gradients_at_the_optimum_balance_and_are_known_there_alone(step, observed, right):
    assert shown(_claim(step, observed)) is right


@pytest.mark.parametrize(
    "functions", (ft.Convex(), ft.ConvexLipschitz(M), ft.Composite(ft.SmoothStronglyConvex(mu, L)))
)
def test_of_kinks_and_beside_a_g_they_need_not_balance(functions):
    assert not shown(_claim(_corrected, functions=functions))
    assert not shown(_claim(_uncorrected, functions=functions))


def test_states_are_those_that_meet_the_invariant_and_no_fewer():
    # Whatever the controls are, the gradients at x* sum to zero; the model is corrected by the controls.
    assert shown(_claim(_uncorrected, invariant=_away_from_x))
    assert not shown(_claim(_corrected, invariant=_away_from_x))
    assert not shown(_claim(_uncorrected, invariant=None))


@pytest.mark.parametrize("optimum", ("stationary", "consensus"))
def test_functions_need_not_be_convex(optimum):
    assert shown(_claim(_corrected, functions=ft.Smooth(L, optimum=optimum)))


@dataclass(frozen=True)
class Mine(ft.SmoothStronglyConvex):
    """A class of somebody's own."""


def test_of_a_class_of_somebodys_own_nothing_is_known_at_the_optimum():
    assert not shown(_claim(_corrected, functions=Mine(mu, L)))


@dataclass(frozen=True)
class Doubles(Statement):
    """A step doubles what is observed: a kind of somebody's own, a part of which has the name of one of ours."""

    algorithm: Algorithm
    observed: Callable[[Any, Any, Any], Array]
    kind: ClassVar[str] = "doubling"
    scope: ClassVar[Scope] = Scope.CODE
    pointwise: ClassVar[bool] = True

    @property
    def comparisons(self):
        before, after = sympy.symbols("before after")
        return (Comparison(after, "==", 2 * before),)


def test_of_other_kinds_it_is_not_shown_that_they_stay():
    stays = _claim(_corrected)
    doubles = replace(stays, statement=Doubles(stays.statement.algorithm, _model))
    assert read_code.METHOD.speaks_of(stays) and not read_code.METHOD.speaks_of(doubles)


def test_a_step_of_other_states_is_refused():
    claim = _claim(_corrected)
    other = ft.method("other", _corrected, ["gamma"], {"x": "point", "c": "clients"})
    assert not shown(replace(claim, statement=ft.Stays(other, _model, "it stays")))
