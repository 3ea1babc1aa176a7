"""Convex and smooth functions whose average grows quadratically from x*: members, what is known of them, a theorem."""

from __future__ import annotations

from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest
import sympy
from formula_values import Number, Vector

import fedtheory as ft
from fedtheory.sampling import building, drawing
from fedtheory.sampling.outside import outside
from verify.base.verdict import Verdict
from verify.methods import search
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP
from verify.reading.declarations import declarations

mu, L, gamma = ft.letters("mu L gamma")
CLASS = ft.SmoothQuadraticGrowth(mu, L)


def _descent(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


METHOD = ft.method("gradient-descent", _descent, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=CLASS)


def _claim(factor, requires=(gamma * L <= 1,), of=ft.distance, functions=CLASS):
    setting = ft.Setting(algorithm=METHOD, functions=functions)
    return ft.Claim("growth/step", setting=setting, statement=ft.contracts(METHOD, of, factor), requires=requires)


def _problems():
    rng = np.random.default_rng(0)
    while True:
        recipe = drawing.drawn(SETTING, rng)
        yield recipe, building.problem_of(SETTING, recipe, True), rng


def test_members_grow_and_what_is_known_of_them_is_attained():
    attained, slack = set(), 0
    for recipe, problem, rng in islice(_problems(), 60):
        assert CLASS.contains(problem, None)
        each = np.zeros((problem.n, 1), dtype=int)
        least = problem.f.value(problem.x_star + each).sum() / problem.n
        clients = [c for c in recipe["clients"] if "kink_beyond" in c][:1]
        places = [c[key] for c in clients for key in ("kink", "kink_beyond") if all(map(bool, c[key]))]
        far = [rng.integers(-40, 41, problem.d) for _ in range(4)]
        for z in (np.array([Fr(v) for v in place], dtype=object) for place in (*places, *far)):
            x = problem.x_star + z + each
            gap, g = problem.f.value(x).sum() / problem.n - least, problem.f.gradient(x).sum(axis=0) / problem.n
            # A strongly convex average would have this inequality too.
            slack += 2 * ((g * z).sum() - gap) < problem.mu * (z**2).sum()
            formulas = CLASS.average(problem, None)
            for name, form in formulas(Vector(z), Number(gap), Vector(g)):
                assert form.value <= 0, name
                attained |= {name} if form.value == 0 and gap else set()
    assert attained == {"quadratic growth", "quadratic growth and smoothness"} and slack > 5


def test_what_is_just_outside_is_outside():
    for _, problem, _ in islice(_problems(), 10):
        names = [name for name, worse, _ in outside(CLASS, problem, None, problem) if not CLASS.contains(worse, None)]
        assert {"less smooth functions", "less convex functions", "other functions"} <= set(names)


@pytest.mark.parametrize(
    ("factor", "requires", "right"),
    (
        (1 - gamma * mu, (gamma * L <= 1,), True),
        # The least factor for gamma = 1/L: a member attains it, below.
        ((2 * (L - mu) / (2 * L - mu)) ** 2, (sympy.Eq(gamma, 1 / L),), True),
        ((2 * (L - mu) / (2 * L - mu)) ** 2 * sympy.Rational(99, 100), (sympy.Eq(gamma, 1 / L), mu < L), False),
        ((1 - gamma * mu) ** 2, (gamma * L <= 1,), False),
        (1 - 2 * gamma * mu, (gamma * L <= sympy.Rational(1, 100),), False),
        (1 - gamma * mu, (gamma * L <= 2,), False),
    ),
)
def test_gradient_descent_is_proved_as_fast_as_growth_allows(factor, requires, right):
    assert isinstance(prove(_claim(factor, requires), STEP), str) is not right


def _locally_twice(problem, params, state, draw):
    x = state.x[..., None, :]
    y = x - params.gamma * problem.f.gradient(x)
    return {"x": (y - params.gamma * problem.f.gradient(y)).sum(axis=-2) / problem.n}


def _proximal(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma).sum(axis=-2) / problem.n}


def _two_descents(problem, params, state, draw):
    of_x, of_y = (problem.f.gradient(v[..., None, :]).sum(axis=-2) / problem.n for v in (state.x, state.y))
    return {"x": state.x - params.gamma * of_x, "y": state.y - params.gamma * of_y}


def _apart(problem, params, state):
    return ((state.x - state.y) ** 2).sum(axis=-1)


@pytest.mark.parametrize(
    ("step", "of", "factor", "right"),
    (
        # The average grows; what a client does alone is not bounded by that.
        (_locally_twice, ft.distance, (1 - gamma * mu) ** 2, False),
        (_locally_twice, ft.distance, 1 - gamma * mu, False),
        (_proximal, ft.distance, 1 / (1 + gamma * mu), False),
        # Growth is from x*: two other points come no closer, but where they are flat stay as they are.
        (_two_descents, _apart, sympy.Integer(1), True),
        (_two_descents, _apart, 1 - gamma * mu, False),
        (_two_descents, _apart, 1 - gamma * mu / 100, False),
        (_descent, ft.gap, (1 - gamma * mu) ** 2, False),
    ),
)
def test_nothing_is_shown_of_clients_or_of_pairs_of_points(step, of, factor, right):
    parts = {"x": "point", "y": "point"} if step is _two_descents else {"x": "point"}
    method = ft.method("mine", step, ["gamma"], parts)
    setting = ft.Setting(algorithm=method, functions=CLASS)
    statement = ft.contracts(method, of, factor)
    claim = ft.Claim("growth/attack", setting=setting, statement=statement, requires=(gamma * L <= 1,))
    assert isinstance(prove(claim, STEP), str) is not right


def test_the_least_factor_is_attained():
    client = {"h": (1,), "h_above": (0,), "h_beyond": (1,), "kink": (Fr(1, 3),), "kink_beyond": (1,), "y": (0,)}
    recipe = {"d": 1, "x": (Fr(0),), "clients": (client,), "mu": Fr(1, 2), "L": Fr(1)}
    problem = building.problem_of(SETTING, recipe, True)
    assert CLASS.contains(problem, None)
    assert (1 - problem.f.gradient(np.array([[Fr(1)]], dtype=object))[0, 0]) ** 2 == Fr(2, 3) ** 2
    steeper = building.problem_of(SETTING, {**recipe, "mu": Fr(501, 1000)}, True)
    assert not CLASS.contains(steeper, None)


def test_as_if_strongly_convex_is_refuted_and_growth_is_not_that_of_each():
    claim = _claim((1 - gamma * mu) ** 2)
    assert search.METHOD.run(search.METHOD, Inquiry(claim, 0, 10)).verdict is Verdict.REFUTED
    assert declarations(CLASS).bounds[:2] == (0, declarations(ft.SmoothConvex(L)).bounds.largest)


@pytest.mark.parametrize("more", ({"optimum": "stationary"}, {"optimum": "none"}, {"optimum": "sum zero"}))
def test_growth_is_from_a_minimiser_of_the_average(more):
    with pytest.raises(ValueError, match="consensus"):
        ft.SmoothQuadraticGrowth(mu, L, **more)
    with pytest.raises(ValueError, match="regulariser"):
        ft.Composite(CLASS)


def test_a_class_without_mu_is_smooth_and_convex():
    with pytest.raises(ValueError, match="SmoothConvex"):
        ft.SmoothQuadraticGrowth(0, L)
