"""Compressors that answer each vector otherwise for one draw have the moments of those that they are made of."""

from fractions import Fraction

import pytest

from fedtheory.compressors import bernoulli, rand_k
from fedtheory.compressors.turned import is_turned, turned
from fedtheory.numbers.rational import exact, to_float
from fedtheory.randomness import expectation


@pytest.mark.parametrize("one", [bernoulli(2, Fraction(1, 3)), rand_k(2, 1)])
@pytest.mark.parametrize("x", [(1, 0), (2, 0), (-1, 3), (-2, 6), ("1/3", 5)])
def test_mean_and_variance_are_kept(one, x):
    x = exact([Fraction(v) for v in x])
    values, p = turned(one).outcomes(x)
    plain, _ = one.outcomes(x)
    assert (expectation(values, p, axis=0) == x).all()
    assert expectation(((values - x) ** 2).sum(-1), p) == expectation(((plain - x) ** 2).sum(-1), p)
    assert is_turned(x) == is_turned(to_float(x))


def test_one_draw_answers_two_vectors_otherwise():
    one = turned(bernoulli(1, Fraction(1)))
    draws, p = one.draws.support(True)
    x = exact([[2]])
    one_error, other = (one.apply(draws, c * x) - c * x for c in (1, 2))
    assert expectation((one_error * other).sum(-1), p) == -8


@pytest.mark.parametrize("factor", [2, 3, 4, 8, Fraction(11, 10)])
def test_of_vectors_along_a_ray_some_are_told_apart(factor):
    rays = exact([[Fraction(k, 16)] for k in range(1, 800)])
    assert (is_turned(rays) != is_turned(factor * rays)).any()
    assert (is_turned(rays) != is_turned(-rays)).all()
