"""Numbers and places as they are told."""

from fractions import Fraction

import pytest

from verify.comparisons import naming


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0", "0"),
        ("1/2", "1/2"),
        ("-31/480", "-31/480"),
        # Exact, and shorter.
        ("116074557/625000000", "0.1857192912"),
        ("-180580249/10000", "-18058.0249"),
        # No decimal.
        ("116074557/625000001", "116074557/625000001"),
        ("3722264543519375393/51634170299567898", "about 72.0891712198"),
        ("1/1099511627776", "1/1099511627776"),
        (str(10**12), "1000000000000"),
    ],
)
def test_fractions_are_told_as_they_are_read_best(value, told):
    found = naming.number(Fraction(value))
    assert found == told
    assert found.startswith("about") or Fraction(found) == Fraction(value)


def test_a_problem_that_was_moved_is_not_told_where_it_was():
    told = "n=2, d=1; x* = (0); f_1: Hessian diag(1)"
    assert naming.place(told, "; moved to x* = 1, grad f_1(x*) = 0") == (
        "n=2, d=1; f_1: Hessian diag(1); moved to x* = 1, grad f_1(x*) = 0"
    )
    assert naming.place(told, "; x = 1") == f"{told}; x = 1"
