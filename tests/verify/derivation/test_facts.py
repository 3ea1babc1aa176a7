"""Coefficients in letters: signs that are the same for all of them, and those of which nothing is known."""

from __future__ import annotations

import pytest
import sympy

from verify.derivation.facts import Coefficient, is_zero

a, b = sympy.symbols("a b", positive=True)
BELOW = (sympy.Lt(a, 1),)


def test_signs_follow_from_what_is_assumed():
    c = Coefficient.of(1 - a, BELOW)
    assert c > 0 and -c < 0 and not c <= 0 and c < 1 and not is_zero(c)
    assert Coefficient.of(b / (1 - a), BELOW) > 0


@pytest.mark.parametrize("value", [1 - a, a - b, (a - 1) ** 2, 1 / (1 - a)])
def test_what_differs_from_letter_to_letter_is_not_told(value):
    with pytest.raises(ValueError, match="not known of all letters"):
        _ = Coefficient.of(value, ()) > 0


def test_zero_is_zero_for_all_letters():
    assert is_zero(Coefficient.of((a + b) ** 2 - a**2 - 2 * a * b - b**2, ()))
    with pytest.raises(ValueError, match="not known"):
        is_zero(Coefficient.of(a - b, ()))


@pytest.mark.parametrize("value", [a - 1, 1 - a, (a - b) ** 2, -((a - b) ** 2)])
def test_what_vanishes_for_some_letters_is_neither_zero_nor_nonzero(value):
    at_most = (sympy.Le(a, 1),)
    with pytest.raises(ValueError, match="not known of all letters whether"):
        is_zero(Coefficient.of(value, at_most))


def test_what_is_negative_for_all_letters_is_nonzero():
    assert not is_zero(Coefficient.of(a - 1, BELOW)) and not is_zero(Coefficient.of(-a, ()))


def test_equal_functions_are_one_coefficient():
    left, right = Coefficient.of((a**2 - b**2) / (a - b), ()), Coefficient.of(a + b, ())
    assert left == right and hash(left) == hash(right) and left - right == Coefficient.of(sympy.S.Zero, ())


def test_relations_that_nothing_meets_tell_nothing():
    with pytest.raises(ValueError, match="not known"):
        _ = Coefficient.of(a, (sympy.Lt(a, 0, evaluate=False),)) > 0


def test_roots_are_refused():
    with pytest.raises(ValueError, match="not a rational function"):
        Coefficient.of(sympy.sqrt(a), ())
