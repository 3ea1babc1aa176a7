"""Numbers with square roots are exact: signs, roots that are none, and conjugates."""

import pickle
from fractions import Fraction

import flint
import pytest

from verify.exact import elimination
from verify.pepit.algebraic import Algebraic, AlgebraicMatrix, Field, TooLarge


def root(value):
    return Field().element([Fraction(value)]).sqrt()


def test_products_of_roots_are_rational_where_they_are():
    assert root(2) * root(2) == 2 and root(2) * root(8) == 4
    assert root(2) * root(3) == root(6)
    assert (root(2) ** 2).simplified() == flint.fmpq(2)
    assert 1 / root(2) == root(2) / 2 == root(Fraction(1, 2))


@pytest.mark.parametrize(
    ("square", "expected"),
    [
        (3 + 2 * root(2), 1 + root(2)),
        (3 - 2 * root(2), root(2) - 1),
        (5 + 2 * root(2) * root(3), root(2) + root(3)),
        (root(2) + 2, None),
    ],
    ids=["nested", "the positive one of two roots", "of two fields", "of degree four"],
)
def test_a_root_that_the_field_has_adds_nothing(square, expected):
    found = square.sqrt()
    assert found > 0 and found * found == square
    if expected is None:
        assert found.field.degree == 2 * square.field.degree
    else:
        assert found == expected and found.field == square.field


def test_signs_are_exact_where_floats_see_none():
    # (1 - sqrt 2)^40 is 5e-16: beside the powers that cancel in it a float sees nothing.
    small = (root(2) - 1) ** 120
    assert 0 < small < Fraction(1, 10**45)
    assert (1 - root(2)) ** 121 < 0 < (1 - root(2)) ** 120
    assert root(10) + root(5) != root(28) + Fraction(10**9, 10**9 + 1) / 1


def test_the_conjugate_is_another_number():
    one, other = (3 + root(5)) / 2, (3 - root(5)) / 2
    assert one != other and one > other and one * other == 1 and one + other == 3


def test_fractions_enclose_a_number():
    low, high = root(7).between(100)
    assert low**2 < 7 < high**2 and high - low <= Fraction(4, 2**100)


def test_text_and_copies_are_the_number():
    golden = (1 + root(5)) / 2
    assert str(golden) == "(1 + sqrt(5))/2" and str(-root(Fraction(1, 10))) == "-sqrt(10)/10"
    assert pickle.loads(pickle.dumps(golden)) == golden


def test_a_field_does_not_grow_without_end():
    with pytest.raises(TooLarge):
        root(2) + root(3) + root(5) + root(7)


def test_roots_of_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="negative"):
        (1 - root(2)).sqrt()


def test_linear_equations_and_squares():
    field = root(3).field
    matrix = AlgebraicMatrix(field, 2, 2, [root(3), flint.fmpq(1), flint.fmpq(1), root(3)])
    solved = matrix.solve(AlgebraicMatrix(field, 2, 1, [flint.fmpq(1), flint.fmpq(0)]))
    assert solved[0, 0] == root(3) / 2 and solved[1, 0] == flint.fmpq(-1, 2)
    edge = [[flint.fmpq(1), root(3)], [root(3), flint.fmpq(3)]]
    assert elimination.is_positive_semidefinite(edge)
    beyond = [[flint.fmpq(1), root(3)], [root(3), flint.fmpq(3) - flint.fmpq(1, 10**60)]]
    assert not elimination.is_positive_semidefinite(beyond)
    assert isinstance(edge[0][1], Algebraic)


def test_the_prime_is_one_in_which_the_roots_are():
    field = (root(3) + root(7)).field
    prime = field.prime(elimination.PRIME)
    found = (root(3) + root(7)).residue(prime)
    assert ((found * found - 10) ** 2 - 84) % prime == 0
