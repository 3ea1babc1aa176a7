"""Expressions at exact numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from fedtheory.numbers.intervals import Interval, Undecided
from fedtheory.numbers.rational import Undefined, evaluate, real

x, y = sympy.symbols("x y", real=True)


def test_what_rounds_and_compares_is_exact():
    at = {x: Fraction(-7, 2), y: Fraction(1, 3)}
    assert evaluate(sympy.Abs(x) + sympy.floor(x) + sympy.ceiling(x), at) == Fraction(7, 2) - 4 - 3
    assert evaluate(sympy.Max(x, y), at) == Fraction(1, 3) and evaluate(sympy.Min(x, y), at) == Fraction(-7, 2)


def test_extremes_of_arrays_are_taken_entry_by_entry():
    at = {x: np.array([Fraction(1), Fraction(3)], dtype=object), y: Fraction(2)}
    assert evaluate(sympy.Max(x, y), at).tolist() == [2, 3] and evaluate(sympy.Min(x, y), at).tolist() == [1, 2]


def test_roots_of_arrays_are_exact_where_they_are_rational():
    at = {x: np.array([Fraction(4), Fraction(9, 4)], dtype=object), y: Fraction(1)}
    assert evaluate(sympy.sqrt(x) + y, at).tolist() == [3, Fraction(5, 2)]
    found = evaluate(sympy.sqrt(x) * sympy.exp(y), {x: np.array([Fraction(2)], dtype=object), y: Fraction(1)})
    assert math.isclose(float(real(found[0])), math.sqrt(2) * math.e, rel_tol=1e-12)
    with pytest.raises(Undefined, match="square root"):
        evaluate(sympy.sqrt(x), {x: np.array([Fraction(-1)], dtype=object)})


def test_two_roots_of_what_is_negative_have_no_product():
    with pytest.raises(Undefined, match="square root"):
        evaluate(sympy.sqrt(1 - x) * sympy.sqrt(1 - y), {x: Fraction(2), y: Fraction(2)})


def test_exponentials_and_logarithms():
    assert math.isclose(float(real(evaluate(sympy.log(x), {x: Fraction(2)}))), math.log(2), rel_tol=1e-12)
    assert math.isclose(float(real(evaluate(sympy.E * x, {x: Fraction(2)}))), 2 * math.e, rel_tol=1e-12)
    for value in (Fraction(0), Fraction(-1), np.array([1.0, 0.0])):
        with pytest.raises(Undefined, match="logarithm"):
            evaluate(sympy.log(x), {x: value})


@pytest.mark.parametrize("exponent", [math.nan, math.inf, -math.inf])
def test_a_power_by_what_is_no_number_is_a_float(exponent):
    found = evaluate(x**y, {x: 2.0, y: exponent})
    assert math.isnan(found) if math.isnan(exponent) else found == 2.0**exponent


def test_a_root_of_a_negative_float_is_no_complex_number():
    assert math.isnan(evaluate(x ** sympy.Rational(1, 3), {x: -2.0}))


def test_roots_of_nothing_are_nothing():
    """They are computed by logarithms, and it has none."""
    assert evaluate(sympy.cbrt(x), {x: Fraction(0)}) == 0
    assert Interval(Fraction(0), Fraction(8)) ** Fraction(1, 3) <= 3
    with pytest.raises(Undefined):
        evaluate(1 / sympy.cbrt(x), {x: Fraction(0)})


def test_a_fraction_beside_a_float_in_an_extreme_is_a_float():
    x = sympy.Symbol("x", positive=True)
    near = 0.24999999999999997
    # sqrt(x) = near, and 1/4 is too near to it to be told apart as a fraction.
    assert evaluate(sympy.Min(sympy.Rational(1, 4), sympy.sqrt(x)), {x: near**2}) == near
    assert evaluate(sympy.Max(sympy.Rational(1, 4), sympy.sqrt(x)), {x: near**2}) == 0.25
    y = sympy.Symbol("y", positive=True)
    assert evaluate(sympy.Min(y, sympy.sqrt(x)), {x: near**2, y: Fraction(1, 4)}) == near


def test_roots_among_floats_are_floats_and_beside_fractions_intervals():
    roots = sympy.sqrt(x) * sympy.sqrt(y - 1)
    found = evaluate(roots, {x: 0.3, y: 5})
    assert isinstance(found, float) and found == pytest.approx(math.sqrt(1.2))
    # What a float stands for beside fractions is not known.
    assert isinstance(evaluate(roots, {x: 0.3, y: Fraction(5)}), Interval)
    beside = {x: 0.3, y: 5, sympy.Symbol("v"): np.array([Fraction(1)], dtype=object)}
    assert isinstance(evaluate(roots, beside), Interval)


def test_the_exponential_of_zero_is_one():
    x = sympy.Symbol("x")
    assert evaluate(sympy.exp(x), {x: Fraction(0)}) == 1 and isinstance(
        evaluate(sympy.exp(x), {x: Fraction(0)}), Fraction
    )
    assert isinstance(evaluate(sympy.exp(x), {x: Fraction(1, 10**80)}), Interval)
    about_zero = evaluate(sympy.exp(x), {x: Interval(Fraction(-1, 10), Fraction(1, 10))})
    assert about_zero.low < 1 < about_zero.high


def test_sums_beyond_the_terms_that_are_computed_are_left_undecided():
    i, x = sympy.symbols("i x", integer=True)
    with pytest.raises(Undecided, match="at most 100000 are computed"):
        evaluate(sympy.Sum(i, (i, 1, x)), {x: Fraction(10**5 + 1)})
    assert evaluate(sympy.Sum(3, (i, 1, x)), {x: Fraction(10**9)}) == 3 * 10**9
