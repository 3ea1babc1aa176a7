"""Random directions, and designs that have their moments."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.randomness import support_of
from fedtheory.randomness.directions import LARGEST_DESIGN, ORDERS, Design, design, is_endless, with_designs

KINDS = (ft.Gaussian, ft.Sphere)


def moment(kind, d, powers):
    """E u_1^a u_2^b ...: of independent normal numbers, and of these over the length."""
    if any(k % 2 for k in powers):
        return Fraction(0)
    normal = prod(prod(range(k - 1, 0, -2)) for k in powers)
    return Fraction(normal, prod(d + 2 * j for j in range(sum(powers) // 2)) if kind is ft.Sphere else 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", range(1, LARGEST_DESIGN + 1))
@pytest.mark.parametrize("order", ORDERS)
def test_designs_have_all_moments_of_the_direction_up_to_their_order(kind, d, order):
    points, p = support_of(with_designs(kind(d), order), exact=True)
    assert (p > 0).all()
    assert p.sum() == 1
    for size in range(order + 1):
        for which in combinations_with_replacement(range(d), size):
            powers = [which.count(i) for i in range(d)]
            found = sum(
                q * prod((x**k for x, k in zip(u, powers, strict=True)), start=1)
                for u, q in zip(points, p, strict=True)
            )
            assert found == moment(kind, d, powers), powers


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_second_and_the_fourth_moments(kind):
    u = kind(3).sample(np.random.default_rng(0), (200_000,))
    assert u.shape == (200_000, 3)
    for powers in ((2, 0, 0), (4, 0, 0), (2, 2, 0), (1, 1, 0)):
        assert np.mean(np.prod(u ** np.array(powers), axis=-1)) == pytest.approx(
            float(moment(kind, 3, powers)), abs=0.1
        )


def test_directions_are_endless_but_for_those_on_a_line_of_length_1():
    assert is_endless(ft.Gaussian(1))
    assert is_endless(ft.Sphere(2))
    assert not is_endless(ft.Sphere(1))
    assert is_endless(ft.Product(tuple, (ft.Bernoulli(Fraction(1, 2)), ft.Sphere(3))))
    assert is_endless(ft.Independent(ft.Gaussian(2), 3))
    assert not is_endless(ft.Bernoulli(Fraction(1, 2)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_design_stands_for_is_refused(kind):
    with pytest.raises(ValueError, match="a whole number from 1 on"):
        kind(0)
    with pytest.raises(ValueError, match="no finite support"):
        kind(2).support()
    with pytest.raises(ValueError, match="no vectors are known"):
        design(kind(LARGEST_DESIGN + 1), 5)
    with pytest.raises(ValueError, match="no vectors are known"):
        design(kind(2), 9)


def test_a_design_is_not_sampled():
    with pytest.raises(ValueError, match="not sampled"):
        Design(np.ones((1, 1)), np.ones(1)).sample(np.random.default_rng(0))
