"""Compressors that answer each vector otherwise for one draw have the moments of those that they are made of."""

from fractions import Fraction

import numpy as np
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


NEAR = (Fraction(11, 10), Fraction(1001, 1000), Fraction(999, 1000), 1 + Fraction(1, 20000))


@pytest.mark.parametrize("factor", [2, 3, 4, 8, *NEAR])
def test_of_vectors_along_a_ray_some_are_told_apart(factor):
    rays = exact([[Fraction(k, 16)] for k in range(1, 800)])
    assert (is_turned(rays) != is_turned(factor * rays)).any()
    assert (is_turned(rays) != is_turned(-rays)).all()


@pytest.mark.parametrize("factor", NEAR)
def test_vectors_that_are_near_each_other_are_told_apart_as_often_as_not(factor):
    rays = exact([[Fraction(k, 16)] for k in range(1, 800)])
    assert 0.3 < (is_turned(rays) != is_turned(factor * rays)).mean() < 0.7


def test_floats_of_simple_fractions_are_at_no_end():
    values = [Fraction(p, q) for q in range(1, 60) for p in range(1, 60)]
    nearly = np.array([[float(v) * (1 + e)] for v in values for e in (-1e-12, 0, 1e-12)])
    assert (is_turned(nearly).reshape(-1, 3) == is_turned(exact([[v] for v in values]))[:, None]).all()
