"""Directions in a search: expectations are exact, or there are none."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.numbers.rational import exact
from verify.base.case import Case
from verify.base.evaluate import Endless, rollout, sides
from verify.comparisons.exact import is_enumerable
from verify.pep import posing
from verify.search.states import too_many

L, gamma, r, d = ft.letters("L gamma r d")


def gaussian(problem, params, state):
    return ft.Gaussian(problem.d)


def sphere(problem, params, state):
    return ft.Sphere(problem.d)


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).mean(axis=-2)


def value(problem, x):
    return problem.f.value(x[..., None, :]).mean(axis=-1)


def forward(problem, params, state, draw):
    g = slope(problem, state.x)
    return {"x": state.x - params.gamma * (g * draw).sum(axis=-1)[..., None] * draw}


def differences(problem, params, state, draw):
    found = (value(problem, state.x + params.r * draw) - value(problem, state.x)) / params.r
    return {"x": state.x - params.gamma * found[..., None] * draw}


def half_of_the_draws(problem, params, state, draw):
    moved = state.x - params.gamma * slope(problem, state.x)
    return {"x": np.where((draw > 0).all(axis=-1)[..., None], moved, state.x)}


def caught(problem, params, state, draw):
    try:
        bold = bool((np.asarray(draw) > 1).any())
    except ValueError:
        bold = False
    return {"x": state.x * (0 if bold else 1) + 0 * draw}


def cubed(problem, params, state, draw):
    z = state.x - problem.x_star
    return {"x": problem.x_star + (z**2).sum(axis=-1)[..., None] * z + draw}


def fourth(problem, params, state):
    return ((state.x - problem.x_star) ** 2).sum(axis=-1) ** 2


def case_of(step, draws, quantity, recipe, names=("gamma", "r")):
    method = ft.method("step", step, list(names), {"x": "point"}, draws=draws)
    V = ft.Quantity("V", quantity)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L))
    claim = ft.Claim("a/step", setting=setting, statement=ft.one_step(method, ft.E(V.next) <= V))
    recipes = claim.instances.recipes(np.random.default_rng(0))
    return next(case for case in (Case(claim, found) for found in recipes) if case.exists and recipe(case.problem))


def quadratic(dimension):
    def fits(problem):
        return type(problem.f).__name__ == "Quadratics" and problem.d == dimension and problem.g is None

    return fits


def piecewise(problem):
    return type(problem.f).__name__ == "PiecewiseQuadratic" and problem.d <= 3


def left(case):
    theta = exact(np.arange(1, case.dimension + 1))[None]
    return case, case.start(theta), sides(case, theta)[0][0][0]


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("draws", [gaussian, sphere])
def test_expectations_on_quadratics_are_those_of_moments(draws, dimension):
    case, (problem, state), found = left(case_of(forward, draws, ft.distance, quadratic(dimension)))
    g, z = slope(problem, state.x)[0, 0], state.x[0, 0] - problem.x_star
    first = Fraction(1) if draws is gaussian else Fraction(1, dimension)
    second = dimension + 2 if draws is gaussian else Fraction(1, dimension)
    step = case.params.gamma
    assert found == (z**2).sum() - 2 * step * first * (g * z).sum() + step**2 * second * (g**2).sum()


def test_values_at_moved_points_have_the_sixth_moment():
    case, (problem, state), found = left(case_of(differences, gaussian, ft.distance, quadratic(1)))
    step, by = case.params.gamma, case.params.r
    z, curvature = (state.x[0, 0] - problem.x_star)[0], slope(problem, problem.x_star[None] + 1)[0, 0]
    a, b = curvature * z, curvature * by / 2
    # (a u + b u^2) u, with E u^2 = 1, E u^4 = 3 and E u^6 = 15.
    assert found == z**2 - 2 * step * z * a + step**2 * (3 * a**2 + 15 * b**2)


@pytest.mark.parametrize(
    "step, quantity, recipe",
    [
        (forward, ft.gap, piecewise),
        (half_of_the_draws, ft.distance, quadratic(2)),
        (caught, ft.distance, quadratic(2)),
        (forward, fourth, quadratic(2)),
        (forward, ft.distance, lambda problem: problem.d > 3),
    ],
)
def test_what_is_no_polynomial_of_low_degree_is_not_enumerated(step, quantity, recipe):
    case = case_of(step, gaussian, quantity, recipe)
    assert too_many(case)
    assert not is_enumerable(case, 2)
    with pytest.raises(Endless, match="not enumerated"):
        sides(case, exact(np.ones((1, case.dimension), dtype=int)))


def test_on_a_line_both_directions_of_length_1_are_enumerated_for_all_functions():
    def fits(problem):
        return piecewise(problem) and problem.d == 1

    case = case_of(forward, sphere, ft.gap, fits)
    assert not too_many(case)
    assert sides(case, exact(np.ones((1, case.dimension), dtype=int)))


def bound_of(step, recipe):
    method = ft.method("step", step, ["gamma"], {"x": "point"}, draws=gaussian)
    D = ft.Quantity("D", ft.distance)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), drawing=ft.Drawing(start=("x",)))
    claim = ft.Claim("a/rounds", setting=setting, statement=ft.bound(method, ft.E(D.T) <= 2**ft.T * D.zero))
    recipes = claim.instances.recipes(np.random.default_rng(0))
    return next(c for c in (Case(claim, one) for one in recipes) if c.exists and recipe(c.problem))


def test_what_later_steps_make_of_a_direction_counts_for_the_first_step_too():
    case = bound_of(cubed, quadratic(1))
    theta = exact(np.arange(1, case.dimension + 1))[None]
    problem, state = case.start(theta)
    m = ((state.x[0, 0] - problem.x_star)[0]) ** 3
    # E (m + u)^6, and of the second step E w^2 = 1.
    assert sides(case, theta, 2)[0][0][0] == m**6 + 15 * m**4 + 45 * m**2 + 15 + 1


def kept_apart(problem, params, state, draw):
    return {"x": state.y, "y": (draw**2).sum(axis=-1)[..., None] ** 2 * state.x}


def test_the_whole_state_counts_and_not_only_what_is_compared():
    method = ft.method("step", kept_apart, ["gamma"], {"x": "point", "y": "point"}, draws=gaussian)
    D = ft.Quantity("D", lambda problem, params, state: ((state.x - problem.x_star) ** 2).sum(axis=-1))
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), drawing=ft.Drawing(start=("x", "y")))
    claim = ft.Claim("a/rounds", setting=setting, statement=ft.bound(method, ft.E(D.T) <= 100**ft.T * D.zero))
    recipes = claim.instances.recipes(np.random.default_rng(0))
    case = next(c for c in (Case(claim, recipe) for recipe in recipes) if c.exists and quadratic(1)(c.problem))
    # After a step x is what y was, and the second moments of y are of order 8.
    with pytest.raises(Endless):
        sides(case, exact(np.ones((1, case.dimension), dtype=int)))


def later_higher(problem, params, state, draw):
    high = (draw**2).sum(axis=-1)[..., None] ** 4
    return {"x": state.x * np.where(params.k > 2, high, draw * 0 + 1)}


def test_the_degree_is_that_of_the_round():
    names, schedules = ["gamma"], {"k": ft.round_index}
    method = ft.method("step", later_higher, names, {"x": "point"}, draws=gaussian, schedules=schedules)
    D = ft.Quantity("D", ft.distance)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), drawing=ft.Drawing(start=("x",)))
    claim = ft.Claim("a/rounds", setting=setting, statement=ft.bound(method, ft.E(D.T) <= 100**ft.T * D.zero))
    recipes = claim.instances.recipes(np.random.default_rng(0))
    case = next(c for c in (Case(claim, recipe) for recipe in recipes) if c.exists and quadratic(1)(c.problem))
    problem, state = case.start(exact(np.ones((1, case.dimension), dtype=int)))
    assert rollout(case, problem, state, 1, 0)
    with pytest.raises(Endless):
        rollout(case, problem, state, 1, 5)


def test_vectors_of_any_dimension_have_no_design():
    """Formal vectors have one coordinate, and the moments of a direction depend on the dimension."""
    case = case_of(forward, gaussian, ft.distance, quadratic(2))
    posed = posing.pose(case.setting, case.instance)
    problem, state = posed.instance.at(np.zeros((1, 0)))
    with pytest.raises(Endless):
        rollout(case.with_instance(posed.instance), problem, state, 1)


def test_two_steps_have_a_higher_degree_than_designs_have():
    case = bound_of(forward, quadratic(2))
    assert is_enumerable(case, 1)
    assert not is_enumerable(case, 2)
