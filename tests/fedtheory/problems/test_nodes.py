"""Functions on nodes: on data they are what the models of the data are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fedtheory.learning.lower_bounds import Copies, Examples, Locals
from fedtheory.numbers.rational import exact
from fedtheory.problems.linear_models import LinearModels
from fedtheory.problems.losses import squared
from fedtheory.problems.quadratic import diagonal

X, y = exact(np.array([[1, 2], [0, 3], [-1, 1], [2, 2], [1, 0]])), exact(np.array([1, -1, 2, 0, 3]))
SIZES, LAM = (2, 1, 2), Fraction(1, 3)
MODELS = LinearModels(X, y, np.array(SIZES), LAM, squared(Fraction(1)), "own")
QUADRATICS = diagonal(exact(np.array([[1, 2], [3, 1], [5, 2]])), exact(np.array([[0, 1], [2, -1], [1, 1]])))
POINTS = exact(np.arange(12).reshape(2, 3, 2))


def test_examples_are_those_of_the_data():
    f = Examples(MODELS.singles, SIZES)
    assert f.n == 3 and (f.owner == MODELS.owner).all() and (f.starts == MODELS.starts).all()
    assert (f.gradient(POINTS) == MODELS.gradient(POINTS)).all()
    assert (f.full_gradient(POINTS[:, 0]) == MODELS.full_gradient(POINTS[:, 0])).all()
    rows = np.array([[0, 2, 4], [1, 2, 3]])
    assert (f.example_gradient(POINTS, rows) == MODELS.example_gradient(POINTS, rows)).all()
    near = POINTS[:, :1]
    assert (f.example_change(POINTS, near, rows) == MODELS.example_change(POINTS, near, rows)).all()


def test_local_functions_have_the_resolvents_of_their_gradients():
    weights, centre = np.array([Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]), exact(np.array([1, -2]))
    f = Locals(QUADRATICS, weights, Fraction(1, 4), centre)
    for shift in (Fraction(1, 4), Fraction(2)):
        root = f.resolvent(shift, POINTS)
        assert (f.gradient(root) + shift * root == POINTS).all()
    scale = 3 * weights[:, None]
    assert (f.gradient(POINTS) * scale == QUADRATICS.gradient(POINTS) - scale * (POINTS - centre) / 4).all()
    mean = (weights[:, None] * f.gradient(POINTS[:, :1])).sum(axis=-2)
    assert (f.full_gradient(POINTS[:, 0]) == mean).all()


def test_copies_are_one_function():
    one = LinearModels(X, y, np.array([5]), LAM, squared(Fraction(1)), "own")
    f = Copies(one, 3)
    assert (f.gradient(POINTS)[:, 1] == one.gradient(POINTS[:, 1:2])[:, 0]).all()
    assert (f.full_gradient(POINTS[:, 0]) == one.full_gradient(POINTS[:, 0])).all()
    root = f.resolvent(Fraction(2), POINTS)
    assert (f.gradient(root) + 2 * root == POINTS).all()
