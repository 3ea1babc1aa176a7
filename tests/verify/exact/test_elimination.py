"""Exact elimination: sums of squares give the matrix back, and what is not semidefinite has none."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.exact import elimination

ENTRIES = st.lists(st.integers(-3, 3), min_size=16, max_size=16)


def summed(found, size):
    out = [[Fraction(0)] * size for _ in range(size)]
    for weight, vector in found:
        assert weight > 0
        for i, a in vector.items():
            for j, b in vector.items():
                out[i][j] += weight * a * b
    return out


@given(ENTRIES, st.integers(0, 4))
def test_squares_of_a_gram_matrix_sum_to_it(entries, rank):
    N = np.array([Fraction(v, 7) for v in entries], dtype=object).reshape(4, 4)[:, :rank]
    X = (N @ N.T).tolist() if rank else [[Fraction(0)] * 4] * 4
    assert summed(elimination.squares(X), 4) == X
    of_flint = [[flint.fmpq(v.numerator, v.denominator) for v in row] for row in X]
    assert len([*elimination.squares(of_flint)]) == len([*elimination.squares(X)]) <= rank


@given(ENTRIES, st.integers(0, 3), st.integers(1, 10**12))
def test_a_negative_direction_is_seen_however_small(entries, place, size):
    """N N' less a part of e e' where e is not in the range of N: beyond the range any part is too much."""
    N = np.array([Fraction(v) for v in entries], dtype=object).reshape(4, 4)
    N[place] = 0
    X = N @ N.T
    X[place, place] -= Fraction(1, size)
    assert not elimination.is_positive_semidefinite(X)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        list(elimination.squares(X))


def test_integers_stay_exact():
    (first, _) = elimination.squares([[3, 1], [1, 1]])
    assert first == (3, {0: 1, 1: Fraction(1, 3)})


def test_rows_from_which_the_others_follow():
    rows = [{0: Fraction(1), 1: Fraction(1)}, {0: Fraction(2), 1: Fraction(2)}, {2: Fraction(1, 3)}, {0: Fraction(1)}]
    found = elimination.independent(rows, range(3))
    assert (found.rows, found.pivots, found.alone) == ([0, 2, 3], [0, 1, 2], [0, 1, 2])
    assert elimination.independent(rows[:1], [1, 0]).pivots == [1]
    assert elimination.independent(rows[:1], [1, 0]).alone == []
    assert elimination.independent([], range(3)) == ([], [], [])


@pytest.mark.parametrize("matrix", [[[1, 0], [1, 1]], [[1, 2], [0, 5]], [[1, 0, 0], [0, 1, 0]], [[1], [0]]])
def test_what_is_no_symmetric_matrix_is_not_positive_semidefinite(matrix):
    assert not elimination.is_positive_semidefinite(matrix)
    with pytest.raises(ValueError, match="not symmetric"):
        list(elimination.squares(matrix))
