"""Batches of rows in passes, with a smaller last one or without."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.learning.batches import Batches, Minibatches, Split
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize(("m", "size", "steps"), [(3, 2, 1), (3, 2, 4), (4, 3, 3), (2, 2, 3), (3, 1, 4), (5, 3, 2)])
def test_what_is_drawn_is_in_the_support(m, size, steps, drop_last):
    law = Batches(m, size, steps, drop_last)
    outcomes, p = law.support()
    assert outcomes.shape == (law.count, steps, size) and p.sum() == pytest.approx(1)
    # Within a batch the order does not matter.
    known = {tuple(map(tuple, np.sort(rows, axis=-1))) for rows in outcomes}
    assert len(known) == law.count
    drawn = law.sample(np.random.default_rng(0), (200,))
    assert {tuple(map(tuple, np.sort(rows, axis=-1))) for rows in drawn} <= known
    each = m // size if drop_last else -(-m // size)
    for rows in drawn[:20]:
        for start in range(0, steps, each):
            one = rows[start : start + each].ravel()
            one = one[one >= 0]
            assert len(set(one)) == len(one)
            if start + each <= steps:
                assert len(one) == (each * size if drop_last else m)


def test_a_smaller_last_batch_is_the_mean_of_its_rows():
    h, c = np.array([[1.0], [2.0], [4.0]]), np.array([[0.0], [1.0], [-1.0]])
    parts = Split(diagonal(h, c), 3)
    problem = Problem(diagonal([[7 / 3]], [[-2 / 7]]))
    for drop_last, steps in ((True, 1), (False, 2)):
        batches = Minibatches(parts, 2, drop_last)
        assert batches.per_epoch == steps
        rows = np.array([[[0, 2], [1, -1], [1, 2], [0, -1]]]) if not drop_last else np.array([[[0, 2], [1, 2]]])
        x = np.array([[3.0]])
        alone = (h * (x - c))[:, 0]
        for k in range(rows.shape[1]):
            chosen = rows[0, k][rows[0, k] >= 0]
            np.testing.assert_allclose(batches.gradient(problem, x, rows, k), [[alone[chosen].mean()]])


def test_passes_without_a_rest_are_the_same():
    for drop_last in (True, False):
        law = Batches(4, 2, 3, drop_last)
        np.testing.assert_array_equal(
            law.sample(np.random.default_rng(1), (5,)), Batches(4, 2, 3).sample(np.random.default_rng(1), (5,))
        )
