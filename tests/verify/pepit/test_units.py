"""Models of very large and very small numbers have both ends, which hold in their own units."""

from dataclasses import replace
from fractions import Fraction

import pytest

from verify.pepit import capture, certify, certifying, exactly
from verify.pepit.systems import Rational
from verify.pepit.units import Units, two

PEPit = pytest.importorskip("PEPit")
from PEPit import PEP, Expression  # noqa: E402
from PEPit.functions import SmoothConvexFunction  # noqa: E402


def number(value):
    return exactly.Exact(Fraction(value))


def descent(L, radius, n=2):
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=L)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= radius**2)
    for _ in range(n):
        x = x - f.gradient(x) / L
    problem.set_performance_metric(f(x) - f(minimiser))
    return problem


def ball(weight, size):
    problem = PEP()
    x = problem.set_initial_point()
    problem.set_initial_condition(weight * x**2 <= size)
    problem.set_performance_metric(x**2)
    return problem


def root(size):
    """t^2 <= size, by a matrix of expressions."""
    problem = PEP()
    x = problem.set_initial_point()
    problem.set_initial_condition(x**2 <= size)
    t = Expression()
    problem.add_psd_matrix([[x**2, t], [t, 1]])
    problem.set_performance_metric(t)
    return problem


@pytest.mark.parametrize(
    ("problem", "value"),
    [
        (lambda: descent(number(10**6), number(100)), 10**9),
        (lambda: descent(number(Fraction(1, 10**6)), number(1), 1), Fraction(1, 6 * 10**6)),
        (lambda: ball(1, number(Fraction(1, 10**17))), Fraction(1, 10**17)),
        (lambda: ball(number(Fraction(1, 2**58)), 1), 2**58),
        (lambda: root(number(Fraction(1, 10**16))), Fraction(1, 10**8)),
    ],
)
def test_worst_cases_of_any_size_have_both_ends(problem, value):
    found = certify(problem())
    assert found.lower.bound <= value <= found.upper.bound
    assert found.gap <= Fraction(1, 10**6) * found.upper.bound


def test_a_float_that_is_small_by_itself_is_meant():
    found = certify(ball(2.0**-58, 1))
    assert found.lower.bound <= 2**58 <= found.upper.bound < 2**58 * (1 + Fraction(1, 10**6))
    found = certify(ball(1, 1e-17))
    assert found.lower.bound <= Fraction(1e-17) <= found.upper.bound < Fraction(1e-17) * (1 + Fraction(1, 10**6))


def _in_units(units):
    model, _ = capture.model_of(descent(number(1000), number(1), 1))
    other = certifying.bounds(units(Units.of(model)).scaled(model))
    return other, model


def test_wrong_units_prove_nothing():
    other, model = _in_units(lambda units: units)
    right = Units.of(model)
    own = certifying._in_own(other, model, right, None)
    assert own.exact == Fraction(1000, 6) and any(right.points)
    for k in range(len(right.constraints)):
        for more in (1, -1):
            moved = [e + more * (j == k) for j, e in enumerate(right.constraints)]
            found = certifying._in_own(other, model, replace(right, constraints=tuple(moved)), None)
            assert found.upper is None or found.upper.bound >= own.exact
    for name in ("points", "values"):
        for k in range(len(getattr(right, name))):
            moved = tuple(e + (j == k) for j, e in enumerate(getattr(right, name)))
            found = certifying._in_own(other, model, replace(right, **{name: moved}), None)
            assert found.upper is None or found.upper.bound >= own.exact
            assert found.lower is None or found.lower.bound <= own.exact


def test_a_model_in_other_units_is_the_same():
    model, _ = capture.model_of(root(number(Fraction(1, 10**16))))
    units = Units.of(model)
    scaled = units.scaled(model)
    assert two(-3) * two(3) == 1
    factors = [*units.constraints, *(a + b for rows in units.matrices for a in rows for b in rows)]
    for before, after, factor in zip(model.quantities(), scaled.quantities(), factors, strict=True):
        assert after.constant == before.constant * two(factor)
        for key, c in before.coefficients.items():
            assert after.coefficients[key] == c * two(factor + units.unit(key))
    sizes = [abs(c) for c in scaled.numbers() if c]
    assert max(sizes) / min(sizes) < Rational(10**6) < 10**15


def test_the_better_end_is_one_for_all_that_is_rounded():
    found = certify(ball(2.0**-3 + 2.0**-50, 1))
    assert found.upper.enclosure is not None
    middle = replace(found, upper=replace(found.upper, bound=found.upper.identity, enclosure=None))
    for pair in ((found, middle), (middle, found)):
        assert certifying._joined(*pair).upper == found.upper
