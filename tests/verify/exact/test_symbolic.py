"""Derivations over slacks, whose names no letter of a statement can have."""

import sympy

from verify.exact import symbolic

a, b = sympy.symbols("a b", positive=True)
n = sympy.Symbol("n", integer=True, positive=True)


def test_a_letter_is_no_slack_of_its_name():
    of_hypothesis, of_integer = sympy.symbols("slack_0 slack_n", nonnegative=True)
    assert symbolic.at_most(b, a, [a >= b])
    assert not symbolic.at_most(of_hypothesis, a - b, [a >= b])
    assert not symbolic.at_most(of_integer, n - 1, [])
