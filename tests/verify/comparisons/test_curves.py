"""Leading terms along a curve: what leads, what cancels, and what is not decided."""

from fractions import Fraction

import pytest
import sympy

from verify.comparisons import curves
from verify.comparisons.curves import FIRST, LAST, UndecidedExpansion

x, n, p, e = sympy.symbols("x n p e", positive=True)
CURVE = {
    x: curves.power_of(LAST, Fraction(1), Fraction(1)),
    n: curves.power_of(LAST, Fraction(2), Fraction(1)),
    p: curves.power_of(LAST, Fraction(-1), Fraction(1)),
    e: curves.power_of(FIRST, Fraction(-1), Fraction(1)),
}
log, sqrt, exp = sympy.log, sympy.sqrt, sympy.exp
k = sympy.Symbol("k", integer=True, positive=True)


@pytest.mark.parametrize(
    ("left", "right", "power", "place"),
    [
        (x**2, 10**30 + x, 1, LAST),
        (x ** sympy.Rational(1, 3000), log(x + 2), Fraction(1, 3000), LAST),
        (log(log(x)), 1, 1, LAST + 2),
        (log(x + 1) - log(x), 1, -1, LAST),
        (sqrt(x + 1) - sqrt(x), 1, Fraction(-1, 2), LAST),
        ((x + 1) ** 3 - x**3 - 3 * x**2, x, 0, LAST),
        (exp(x), x**9, 1, LAST),
        (sympy.Integer(2) ** x, sympy.Integer(3) ** x, -1, LAST),
        (exp(sqrt(log(x))), log(x) ** 5, Fraction(1, 2), LAST + 1),
        (exp(3 * log(x) / 2), x, Fraction(1, 2), LAST),
        (1 - (1 - p) ** n, 1, 0, LAST),
        (-1 / log(1 - p), x, 0, LAST),
        (sympy.Max(sqrt(x), n), x, 1, LAST),
        (sympy.Min(sqrt(x), n), 1, Fraction(1, 2), LAST),
        (sympy.ceiling(p), p, 1, LAST),
        (1 + sympy.floor(1 - p), 1, 0, LAST),
        (sympy.ceiling(n / x), x, 0, LAST),
        (x * log(x / e), log(2 / e**3), 1, LAST),
        (1 / e, exp(log(1 / e) / 2) * n, Fraction(1, 2), FIRST),
    ],
)
def test_growth(left, right, power, place):
    assert curves.growth(sympy.sympify(left), sympy.sympify(right), CURVE) == (power, place)


@pytest.mark.parametrize(
    "left",
    [
        log(log(log(x))),
        sympy.gamma(x),
        sympy.floor(sqrt(x)) - sqrt(x),
        1 / (x - x * 1**n),
        sqrt(-x),
        sympy.Sum(1 / k, (k, 1, x)),
    ],
)
def test_what_is_not_decided_is_not_told(left):
    with pytest.raises(UndecidedExpansion):
        curves.growth(left, sympy.S.One, CURVE)


def test_relations_hold_for_all_large_numbers():
    assert curves.holds(x - 5 < n, CURVE) and not curves.holds(n <= 10**9 * x, CURVE)
    assert curves.holds(sympy.And(p <= 1, p * x >= 1), CURVE) and not curves.holds(p * x > 1, CURVE)


def test_the_sign_of_a_number_next_to_zero_is_not_guessed():
    with pytest.raises(UndecidedExpansion):
        curves.sign(sympy.sqrt(2) - sympy.Rational(str(sympy.sqrt(2).evalf(40))))
    assert curves.sign(sympy.log(2) - sympy.Rational(693, 1000)) == 1
