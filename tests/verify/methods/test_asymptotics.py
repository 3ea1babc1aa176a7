"""Orders of growth: what fails along a curve only is found, and what holds with a constant stays."""

import pytest
import sympy

from fedtheory.claims import Claim
from fedtheory.settings import Setting
from fedtheory.statements import Order
from verify import check
from verify.verdict import Verdict

n, d = sympy.symbols("n d", positive=True, integer=True)
x, y = sympy.symbols("x y", positive=True)


def order(left, right, *letters):
    return Claim("own/order", setting=Setting("all values", letters=letters), statement=Order(left, right))


@pytest.mark.parametrize(
    ("left", "right", "letters"),
    [
        (sympy.sqrt(n), n**3 / d + d / n**3, (n, d)),
        (x ** sympy.Rational(1, 4), x**5 / y**2 + y**2 / x**5, (x, y)),
        (sympy.sqrt(n), 1 + n**2 / d + d / n**2, (n, d)),
    ],
)
def test_an_order_that_fails_along_a_curve_is_refuted(left, right, letters):
    found = check(order(left, right, *letters))
    assert found.verdict is Verdict.REFUTED
    first, second = found.counterexample.replay()
    assert first > second


@pytest.mark.parametrize(("left", "right"), [(x + y, sympy.Max(x, y)), (sympy.sqrt(x * y), x + y)])
def test_an_order_that_holds_stays(left, right):
    assert check(order(left, right, x, y)).verdict is Verdict.SUPPORTED
