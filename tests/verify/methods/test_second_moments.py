from fractions import Fraction

import mpmath
import numpy as np
import pytest

from fedtheory.rational import DIGITS, exact, to_float
from verify.comparisons import second_moments


def drawn(size, draws, seed=0):
    """(A, p, Q): maps, their probabilities and a symmetric form, in fractions."""
    rng = np.random.default_rng(seed)
    A = exact(rng.integers(-9, 10, (draws, size, size))) / 20
    Q = exact(rng.integers(-9, 10, (size, size))) / 7
    return A, exact(np.arange(1, draws + 1)) * Fraction(2, draws * (draws + 1)), Q + Q.T


def pulled_back(A, p, Q, rounds):
    """The form before so many rounds, in fractions."""
    for _ in range(rounds):
        Q = sum(p_k * A_k.T @ Q @ A_k for p_k, A_k in zip(p, A, strict=True))
    return Q


# Up to a hundred rounds one by one, then by squaring; thirteen coordinates are too many to square.
@pytest.mark.parametrize(("size", "rounds"), [(1, 1), (2, 7), (3, 101), (4, 130), (13, 3)])
def test_forms_are_pulled_back_to_fifty_digits(size, rounds):
    A, p, Q = drawn(size, 3)
    true = pulled_back(A, p, Q, rounds)
    with mpmath.workdps(DIGITS):
        found = second_moments._after(A, p, Q, rounds)
        off = max(abs(mpmath.mpf(a.numerator) / a.denominator - b) for a, b in zip(true.flat, found.flat, strict=True))
        largest = max(map(abs, true.flat))
        assert off < mpmath.mpf(10) ** (2 - DIGITS) * largest.numerator / largest.denominator
    in_floats = second_moments._after(to_float(A), to_float(p), to_float(Q), rounds)
    np.testing.assert_allclose(in_floats, to_float(true), atol=1e-9 * float(largest))


def test_numbers_of_fifty_digits_are_taken_as_they_are():
    with mpmath.workdps(DIGITS):
        root = np.array([[[mpmath.sqrt(2)]]], dtype=object)
        (found,) = second_moments._after(root, exact([1]), exact([[3]]), 10).flat
        assert abs(found - 3 * 2**10) < 1e-44
