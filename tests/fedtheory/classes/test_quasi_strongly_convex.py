"""Smooth functions whose average is quasi-strongly convex: members, what is known of them, theorems and attacks."""

from __future__ import annotations

from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest
import sympy
from formula_values import Number, Vector

import fedtheory as ft
from fedtheory.problems.ridged import Ridged
from fedtheory.sampling import building, drawing
from fedtheory.sampling.outside import outside
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP

mu, L, gamma = ft.letters("mu L gamma")
CLASS = ft.QuasiStronglyConvex(mu, L)
SHORT = (gamma * L <= 1,)


def _slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def _descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * _slope(problem, state.x)}


def _locally_twice(problem, params, state, draw):
    x = state.x[..., None, :]
    y = x - params.gamma * problem.f.gradient(x)
    return {"x": (y - params.gamma * problem.f.gradient(y)).sum(axis=-2) / problem.n}


def _two_descents(problem, params, state, draw):
    return {name: v - params.gamma * _slope(problem, v) for name, v in (("x", state.x), ("y", state.y))}


def _proximal(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma).sum(axis=-2) / problem.n}


def _apart(problem, params, state):
    return ((state.x - state.y) ** 2).sum(axis=-1)


def _steepness(problem, params, state):
    return (_slope(problem, state.x) ** 2).sum(axis=-1)


def _proved(step, of, factor, requires=SHORT, functions=CLASS):
    parts = {"x": "point", "y": "point"} if step is _two_descents else {"x": "point"}
    method = ft.method("mine", step, ["gamma"], parts)
    setting = ft.Setting(algorithm=method, functions=functions)
    claim = ft.Claim("quasi/step", setting=setting, statement=ft.contracts(method, of, factor), requires=requires)
    return not isinstance(prove(claim, STEP), str)


def _problems(seed=0):
    method = ft.method("gradient-descent", _descent, ["gamma"], {"x": "point"})
    setting, rng = ft.Setting(algorithm=method, functions=CLASS), np.random.default_rng(seed)
    while True:
        yield building.problem_of(setting, drawing.drawn(setting, rng), True), rng


def test_formulas_hold_of_members_and_are_attained_and_some_members_are_not_convex():
    attained, ridged, concave = set(), 0, 0
    for problem, rng in islice(_problems(), 80):
        assert CLASS.contains(problem, None)
        f, each = problem.f, np.zeros((problem.n, 1), dtype=int)
        ridged += isinstance(f, Ridged)
        least = f.value(problem.x_star + each).sum() / problem.n
        far = rng.integers(-40, 41, (4, problem.d))
        near = np.eye(1, problem.d, dtype=int) * np.arange(-20, 21, 2)[:, None]
        last = None
        for z in np.concatenate([far, near]) * Fr(1, 8):
            x = problem.x_star + z + each
            gap, g = f.value(x).sum() / problem.n - least, f.gradient(x).sum(axis=0) / problem.n
            concave += last is not None and ((g - last[1]) * (z - last[0])).sum() < 0
            last = z, g
            for name, form in CLASS.average(problem, None)(Vector(z), Number(gap), Vector(g)):
                assert form.value <= 0, name
                attained |= {name} if form.value == 0 and gap else set()
    assert attained == {
        "quadratic growth",
        "quasi-strong convexity",
        "f at least f*",
        "quadratic growth and smoothness",
    }
    assert ridged > 3 and concave > 10


def test_what_is_just_outside_is_outside():
    for problem, _ in islice(_problems(), 10):
        names = [name for name, worse, _ in outside(CLASS, problem, None, problem) if not CLASS.contains(worse, None)]
        assert {"less smooth functions", "less convex functions", "other functions"} <= set(names)


def test_the_constant_is_the_best_one_of_a_function_with_a_strip():
    # phi'(z) = z up to 1, then 2 - z up to 3/2, then z - 1: z phi' - phi is least beside z^2 at 3/2.
    client = {"h": (1,), "h_above": (-1,), "h_beyond": (1,), "kink": (1,), "kink_beyond": (Fr(3, 2),), "y": (0,)}
    recipe = {"d": 1, "x": (Fr(0),), "clients": (client,), "L": Fr(1)}
    method = ft.method("gradient-descent", _descent, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=CLASS)
    # phi(3/2) = 1/2 + 3/8, so that mu (3/2)^2/2 <= 3/4 - 7/8, which no mu > 0 meets.
    assert not CLASS.contains(building.problem_of(setting, {**recipe, "mu": Fr(1, 1000)}, True), None)
    # With the strip up to 5/4 it is mu <= 2 (15/16 - 23/32)/(25/16) = 7/25.
    shorter = {**recipe, "clients": ({**client, "kink_beyond": (Fr(5, 4),)},)}
    for constant, right in ((Fr(7, 25), True), (Fr(71, 250), False)):
        problem = building.problem_of(setting, {**shorter, "mu": constant}, True)
        assert CLASS.contains(problem, None) is right


@pytest.mark.parametrize(
    ("step", "of", "factor", "requires", "right"),
    (
        (_descent, ft.distance, 1 - gamma * mu, SHORT, True),
        # Quadratics of the curvature mu attain it.
        (_descent, ft.distance, (1 - gamma * mu) ** 2, (sympy.Eq(gamma * L, 1), mu < L), True),
        (_descent, ft.distance, (1 - gamma * mu) ** 3, SHORT, False),
        (_descent, ft.distance, 1 - gamma * mu, (gamma * L <= 2,), False),
        (_descent, ft.gap, 1 - gamma * mu, SHORT, True),
        (_descent, ft.gap, (1 - gamma * mu) ** 2, SHORT, False),
        # The inequality is of x*: nothing is known of gradients, or of two other points, but smoothness.
        (_descent, _steepness, sympy.Integer(1), SHORT, False),
        (_two_descents, _apart, sympy.Integer(1), SHORT, False),
        # It is of the average: what a client does alone is not bounded.
        (_locally_twice, ft.distance, sympy.Integer(1), SHORT, False),
        (_proximal, ft.distance, sympy.Integer(1), (gamma * L <= sympy.Rational(1, 2),), False),
    ),
)
def test_what_is_proved_holds_from_x_star_and_of_the_average(step, of, factor, requires, right):
    assert _proved(step, of, factor, requires) is right


def test_smoothness_alone_proves_nothing():
    assert not _proved(_descent, ft.distance, sympy.Integer(1), functions=ft.Smooth(L))


@pytest.mark.parametrize("more", ({"optimum": "stationary"}, {"optimum": "none"}, {"optimum": "sum zero"}))
def test_the_inequality_is_from_a_minimiser_of_the_average(more):
    with pytest.raises(ValueError, match="consensus"):
        ft.QuasiStronglyConvex(mu, L, **more)
