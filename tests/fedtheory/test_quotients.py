"""A quotient is a fraction in every respect: values, types, errors, copies, symbols."""

import copy
import operator
import pickle
from fractions import Fraction
from math import gcd

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.quotients import Quotient

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
# Small ones, which often share factors, and large ones.
integers = st.integers(-60, 60) | st.integers(-(10**40), 10**40)
fractions = st.builds(Fraction, integers, st.integers(1, 60) | st.integers(1, 10**40))
others = fractions | fractions.map(Quotient) | integers | st.booleans() | st.floats(-1e9, 1e9, allow_nan=False)


def outcome(of, *numbers):
    """What an operation gives, or the error that it raises."""
    try:
        return of(*numbers)
    except (ZeroDivisionError, OverflowError) as error:
        return type(error), str(error)


def plain(number):
    """The number as the standard library has it."""
    return Fraction(number.numerator, number.denominator) if isinstance(number, Quotient) else number


def assert_same(found, expected):
    if isinstance(expected, Fraction):
        assert isinstance(found, Fraction)
        assert (found.numerator, found.denominator) == (expected.numerator, expected.denominator)
        assert found.denominator > 0
        assert gcd(found.numerator, found.denominator) == 1
    else:
        assert type(found) is type(expected)
        assert found == expected


@pytest.mark.parametrize("operation", OPERATIONS + COMPARISONS)
@given(a=fractions, b=others)
def test_operations_are_those_of_fractions(operation, a, b):
    assert_same(outcome(operation, Quotient(a), b), outcome(operation, a, plain(b)))
    assert_same(outcome(operation, b, Quotient(a)), outcome(operation, plain(b), a))


@given(a=fractions, power=st.integers(-6, 6) | st.sampled_from([Fraction(2), Fraction(1, 2), 0.5]))
def test_powers_are_those_of_fractions(a, power):
    if a >= 0 or power == int(power):
        assert_same(outcome(operator.pow, Quotient(a), power), outcome(operator.pow, a, power))


@given(a=fractions)
def test_what_one_operand_makes_is_that_of_fractions(a):
    for of in (operator.neg, operator.pos, abs, float, bool, hash, int, round, str, sympy.Rational):
        assert_same(outcome(of, Quotient(a)), outcome(of, a))


@given(a=fractions, b=fractions | integers)
def test_what_meets_one_becomes_one(a, b):
    q = Quotient(a)
    for found in (q + b, b + q, q - b, b - q, q * b, b * q, -q, abs(q), q**2, *((q / b,) if b else ())):
        assert type(found) is Quotient


def test_it_is_made_copied_and_shown_as_a_fraction_is():
    q = Quotient("6/4")
    assert q == Quotient(3, 2) == Quotient(1.5) == Quotient(Fraction(3, 2)) == Quotient(q)
    assert repr(q) == "Fraction(3, 2)"
    for made in (pickle.loads(pickle.dumps(q)), copy.copy(q), copy.deepcopy(q)):
        assert (type(made), made) == (Quotient, q)
    assert sympy.sympify(q) == sympy.Rational(3, 2)
    with pytest.raises(ZeroDivisionError):
        Quotient(1, 0)
    with pytest.raises(ValueError, match="Invalid literal"):
        Quotient("one half")


def test_arrays_of_them_multiply_exactly():
    values = np.array([[Quotient(i - j, i + j + 1) for i in range(4)] for j in range(4)], dtype=object)
    expected = sum(plain(values[1, k]) * plain(values[k, 2]) for k in range(4))
    assert_same((values @ values)[1, 2], expected)
