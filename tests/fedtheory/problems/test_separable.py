"""Averages of piecewise quadratics: where they are least, and their Polyak-Lojasiewicz constants."""

from fractions import Fraction as Fr

import numpy as np

from fedtheory.problems.separable import Profile, average, is_least, lojasiewicz


def profile(rng, pieces):
    knots = tuple(sorted({Fr(int(v), 2) for v in rng.integers(-6, 7, pieces)}))
    slopes = tuple(Fr(int(v), 2) for v in rng.integers(-2, 4, len(knots) + 1))
    return Profile(knots, slopes)


def at(of, z):
    """The value and the derivative at z, piece by piece."""
    if z < 0:
        value, derivative = at(of.mirrored, -z)
        return value, -derivative
    place = value = derivative = Fr(0)
    for end in [*sorted(k for k in of.knots if 0 < k < z), z]:
        slope = of.slopes[sum(k <= place for k in of.knots)]
        width = end - place
        value, derivative = value + derivative * width + slope * width**2 / 2, derivative + slope * width
        place = end
    return value, derivative


def points(of):
    near = [k + e for k in (*of.knots, Fr(0)) for e in (0, Fr(1, 1000), -Fr(1, 1000))]
    return [*near, *(Fr(v, 8) for v in range(-60, 61)), Fr(10**6), -Fr(10**6)]


def test_what_is_least_and_how_fast_it_grows_is_what_points_show():
    rng = np.random.default_rng(0)
    least = growing = 0
    for _ in range(400):
        of = profile(rng, int(rng.integers(0, 4)))
        seen = [at(of, z) for z in points(of)]
        if not is_least(of):
            # Below 0 somewhere, or linearly so far away.
            assert min(v for v, _ in seen) < 0
            continue
        least += 1
        assert min(v for v, _ in seen) >= 0
        found = lojasiewicz(of)
        ratios = [d**2 / (2 * v) for v, d in seen if v > 0]
        if found is None:
            assert not ratios
            continue
        assert min(ratios) >= found
        # It is the largest such number: points that were looked at come near to it.
        assert min(ratios) <= found + Fr(1, 20)
        growing += found > 0 and min(of.slopes) < 0
    assert least > 60 and growing > 3


def test_an_average_has_all_kinks():
    one, other = Profile((Fr(1),), (Fr(2), Fr(4))), Profile((Fr(-1), Fr(1)), (Fr(0), Fr(6), Fr(2)))
    assert average([one, other]) == Profile((Fr(-1), Fr(1)), (Fr(1), Fr(4), Fr(3)))


def test_a_function_that_is_not_convex_has_a_constant():
    # Its derivative grows to 1, falls to 1/2, and grows again.
    of = Profile((Fr(1), Fr(3, 2)), (Fr(1), Fr(-1), Fr(1)))
    assert is_least(of) and lojasiewicz(of) == Fr(1, 4) / (2 * Fr(7, 8))
