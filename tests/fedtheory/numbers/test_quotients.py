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

from fedtheory.numbers.intervals import FLOAT, Interval, Undecided
from fedtheory.numbers.quotients import Quotient

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod)
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
# Small ones, which often share factors, and large ones.
integers = st.integers(-60, 60) | st.integers(-(10**40), 10**40)
fractions = st.builds(Fraction, integers, st.integers(1, 60) | st.integers(1, 10**40))
others = fractions | fractions.map(Quotient) | integers | st.booleans()
floats = st.floats(-1e9, 1e9, allow_nan=False)


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


@given(a=fractions, power=st.integers(-6, 6) | st.just(Fraction(2)))
def test_powers_are_those_of_fractions(a, power):
    assert_same(outcome(operator.pow, Quotient(a), power), outcome(operator.pow, a, power))


@pytest.mark.parametrize("operation", OPERATIONS[:4])
@given(a=fractions, b=floats)
def test_a_float_is_read_with_room_for_its_rounding(operation, a, b):
    for one, two in ((Quotient(a), b), (b, Quotient(a))):
        try:
            found = operation(one, two)
        except (ZeroDivisionError, Undecided):
            # A float that is nearly nothing may be what was left of others.
            assert abs(two) <= 1e-9
            continue
        exact = operation(Fraction(one), Fraction(two))
        assert type(found) is Interval and found.where.startswith("test_a_float_is_read")
        assert found.low <= exact <= found.high
        # And so is every number that the float may stand for.
        meant = operation(
            *(Fraction(v) * (1 if isinstance(v, Fraction) else 1 + Fraction(1, 10**12)) for v in (one, two))
        )
        assert found.low <= meant <= found.high


@given(a=fractions, b=floats)
def test_a_float_is_compared_where_its_rounding_does_not_matter(a, b):
    for compare in COMPARISONS:
        try:
            assert compare(Quotient(a), b) == compare(a, Fraction(b))
        except Undecided:
            assert abs(a - Fraction(b)) <= FLOAT * abs(Fraction(b))


@given(a=fractions)
def test_a_root_is_enclosed(a):
    root = Quotient(abs(a)) ** Fraction(1, 2)
    low, high = (root.low, root.high) if isinstance(root, Interval) else (root, root)
    assert low**2 <= abs(a) <= high**2
    assert high - low <= high * Fraction(1, 10**49)


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


def test_integers_of_numpy_do_not_overflow():
    large = Quotient(np.int64(2**40))
    assert large * large * large == 2**120 and type(large.numerator) is int
    assert type(Quotient(np.int64(3), np.int64(7)).denominator) is int
