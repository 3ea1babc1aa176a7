"""Models whose coefficients are rounded keep the directions that they do not notice, and no exactness that is none."""

import math
from fractions import Fraction

import pytest

from verify.pepit import capture, certify, certifying, invariances, points
from verify.pepit.model import Quantity
from verify.pepit.systems import Rational

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP  # noqa: E402
from PEPit.functions import SmoothConvexFunction  # noqa: E402


def descent(step, n=3, bound=1):
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=1)
    minimiser, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= bound)
    y = x
    for k in range(n):
        # Weights that add up to one before they are rounded.
        x, y = x - step * f.gradient(x), x
        x = math.exp(-k) * x + (1 - math.exp(-k)) * y
    problem.set_performance_metric(f(x) - f(minimiser))
    return problem


def images(model, vector):
    """What each form maps a vector to."""
    for quantity in model.quantities():
        image = [Rational(0)] * model.points
        for (i, j), c in quantity.pairs():
            image[i] += c * vector[j] / 2
            image[j] += c * vector[i] / 2
        yield image


def test_translations_are_noticed_by_no_form():
    model, rounded = capture.model_of(descent(math.exp(-1)))
    directions = invariances.directions(model)
    assert rounded and len(directions) == 1
    ((_, direction),) = directions
    assert all(not any(image) for image in images(model, direction))


def test_both_ends_of_a_model_with_rounded_weights():
    found = certify(descent(math.exp(-1)))
    assert found.rounded and found.exact is None
    assert 0 <= found.gap < Fraction(1, 10**6) * found.lower.bound
    model = found.model
    gram = [found.lower.gram[i][j] for i in range(model.points) for j in range(i, model.points)]
    point = [Rational(v.numerator, v.denominator) for v in (*gram, *found.lower.values)]
    assert model.primal().holds(point)


def test_only_what_is_rounding_is_changed():
    """A form that is off by more than its last digits is meant so, and stays."""
    model, _ = capture.model_of(descent(math.exp(-1)))
    quantities = list(model.quantities())
    place, first = next((k, q) for k, q in enumerate(quantities) if any(q.pairs()))
    for error, stays in ((Rational(1, 10**9), True), (Rational(1, 10**18), False)):
        pair, c = next(first.pairs())
        off = Quantity({**first.coefficients, pair: c + error}, first.constant)
        planted = model.replaced([*quantities[:place], off, *quantities[place + 1 :]])
        again = invariances.restored(planted)
        assert (again == planted) is stays
        changes = (
            abs(a.coefficients.get(key, Rational(0)) - b.coefficients.get(key, Rational(0)))
            for a, b in zip(again.quantities(), planted.quantities(), strict=True)
            for key in a.coefficients.keys() | b.coefficients.keys()
        )
        assert max(changes) <= Rational(1, 10**17)


@pytest.mark.parametrize("error", [1e-11, -1e-11, 1e-14])
def test_a_worst_case_beside_a_simple_number_is_not_that(error):
    """The solver's eight digits say 1/6; the condition is a little off it, as a float and as a fraction."""

    def posed(bound):
        problem = PEP()
        x = problem.set_initial_point()
        problem.set_initial_condition(x**2 <= bound)
        problem.set_performance_metric(x**2)
        return problem

    found = certify(posed(1 / 6 + error))
    assert found.exact != Fraction(1, 6)
    written = Fraction(1, 6) + Fraction(error)
    model, _ = capture.model_of(posed(1))
    moved = model.replaced(
        quantity._replace(constant=quantity.constant and Rational(-written.numerator, written.denominator))
        for quantity in model.quantities()
    )
    ends = certifying.bounds(moved)
    assert ends.exact == written and ends.upper.bound == ends.lower.bound == written


def test_multipliers_that_are_large_are_found():
    """The trace of what proves the bound is beyond a thousand, which is as far as is looked first."""
    problem = PEP()
    x, y = problem.set_initial_point(), problem.set_initial_point()
    problem.set_initial_condition(x**2 + y**2 <= 1)
    problem.set_performance_metric(1500 * (x + y) ** 2)
    model, _ = capture.model_of(problem)
    ((_, inner),) = points.interior(model.dual(), 6000.0)
    assert inner.value > 0 and certify(problem).exact == 3000
