"""Derivations over slacks, whose names no letter of a statement can have."""

import pytest
import sympy

from verify.exact import symbolic

a, b = sympy.symbols("a b", positive=True)
n = sympy.Symbol("n", integer=True, positive=True)


def test_a_letter_is_no_slack_of_its_name():
    of_hypothesis, of_integer = sympy.symbols("slack_0 slack_n", nonnegative=True)
    assert symbolic.at_most(b, a, [a >= b])
    assert not symbolic.at_most(of_hypothesis, a - b, [a >= b])
    assert not symbolic.at_most(of_integer, n - 1, [])


def test_sums_of_high_degree_are_not_factored():
    many = sympy.Dummy("x", nonnegative=True) ** 200 - a**200 * b**200
    assert not symbolic.at_most(many, sympy.S.Zero, []) and not symbolic.below(sympy.S.Zero, many, [])
    with pytest.raises(symbolic.Unfactored, match="beyond 100"):
        symbolic._is_signed(many, False)
    # What stands as a power needs none.
    assert symbolic.at_most((a + b) ** 200, 2 * (a + b) ** 200, [])
