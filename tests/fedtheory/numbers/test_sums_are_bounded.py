"""Sums and products are computed within counted work, and are what they are where they are computed."""

from fractions import Fraction

import pytest
import sympy
from sympy import Product, Sum

from fedtheory.numbers.intervals import Undecided
from fedtheory.numbers.rational import evaluate

x, y = sympy.symbols("x y")
n, i, l = sympy.symbols("n i l", integer=True)


@pytest.mark.parametrize(
    "e",
    [
        Sum(x * Sum(y + l, (l, 1, i)), (i, 1, n)),
        Sum(x + Sum(l, (l, i, n)), (i, 1, n)),
        Sum(x * Product(l, (l, 1, i)), (i, 1, n)),
        Sum(1 / (x + i), (i, 1, n)),
        Product(x + i, (i, 1, n)),
        Sum(x * Sum(y * Sum(i + l, (l, 1, i)), (i, 1, l)), (l, 1, n)),
    ],
    ids=str,
)
def test_sums_are_computed_or_left_undecided(e):
    small = {x: Fraction(2, 3), y: Fraction(5), n: Fraction(4)}
    assert evaluate(e, small) == Fraction(str(e.subs({x: sympy.Rational(2, 3), y: 5, n: 4}).doit()))
    with pytest.raises(Undecided):
        evaluate(e, {**small, n: Fraction(10**5)})


def test_equal_terms_are_counted():
    assert evaluate(Sum(x, (i, 1, n)), {x: Fraction(1, 3), n: Fraction(10**12)}) == Fraction(10**12, 3)
    assert evaluate(Product(x, (i, 3, n)), {x: Fraction(2), n: Fraction(12)}) == 2**10
    # Of nothing, also where a term is not defined.
    assert evaluate(Sum(1 / x, (i, 3, n)), {x: Fraction(0), n: Fraction(1)}) == 0
    assert evaluate(Product(1 / x, (i, 3, n)), {x: Fraction(0), n: Fraction(2)}) == 1
