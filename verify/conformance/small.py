"""Small problems, with parameters for the methods that have no claims to take them from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.examples import Given
from fedtheory.problems import oracles
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.problems.quadratic import diagonal, with_spectra


def problems(name: str, rng: np.random.Generator, features: Collection[str]) -> Iterator[tuple[Problem, Any]]:
    """Problems with parameters for a method that has an example of them."""
    example = algorithms.example_of(name)
    assert example is not None
    for given in _given(example.problem, rng, features):
        params = example.params(given)
        if params is not None:
            yield given.problem, params


def _given(kind: str, rng: np.random.Generator, features: Collection[str]) -> Iterator[Given]:
    if kind == "clients":
        for n, d, tau, epochs in _SHAPES:
            problem = _quadratic(rng, n, d)
            batches: Any = oracles.AllRows()
            if "minibatches" in features and n <= 3:
                problem, batches = _in_parts(rng, n, d)
                epochs = 1
            yield Given(rng, problem, features, tau, epochs, batches)
    elif kind == "sum":
        for n, d in _SUM_SHAPES:
            yield Given(rng, _quadratic(rng, n, d), features)
    else:
        for k, (sizes, d) in enumerate(_ROWS):
            logistic = kind == "rows, any loss" and k % 2 == 1
            yield Given(rng, _linear(rng, sizes, d, logistic), features, epochs=1 + k % 2)


#: (n, d, tau, epochs): clients, dimension, participants, local epochs.
_SHAPES = ((2, 1, 2, 2), (2, 1, 1, 3), (3, 1, 2, 2), (3, 2, 2, 3), (4, 1, 2, 1), (4, 2, 3, 2), (5, 1, 3, 2))
#: (n, d): functions, dimension.
_SUM_SHAPES = ((1, 1), (2, 1), (2, 3), (3, 1), (4, 2), (5, 2))
#: Examples of each client, and features.
_ROWS = (((1, 1), 1), ((2, 1), 1), ((2, 1), 2), ((2, 2), 3), ((1, 3), 2), ((3, 1, 2), 3))


def _quadratic(rng: np.random.Generator, n: int, d: int) -> Problem:
    """No two clients alike: a step would not tell which of them took part."""
    if d > 1 and rng.random() < 0.5:
        return Problem(with_spectra(rng.uniform(0.5, 3, (n, d)), rng))
    centres = rng.permuted(np.tile(np.arange(-8, 9), (d, 1)), axis=1)[:, :n].T
    return Problem(diagonal(rng.integers(2, 12, (n, d)) / 4, centres / 4 + 1 / 3))


def _in_parts(rng: np.random.Generator, n: int, d: int) -> tuple[Problem, oracles.Minibatches]:
    """A problem whose f_i are means of two parts, in batches of one."""
    h, c = rng.integers(2, 12, (2 * n, d)) / 4, rng.integers(-8, 9, (2 * n, d)) / 4
    mean = h.reshape(n, 2, d).mean(axis=1)
    centre = (h * c).reshape(n, 2, d).mean(axis=1) / mean
    return Problem(diagonal(mean, centre)), oracles.Minibatches(oracles.Split(diagonal(h, c), 2), 1)


def _linear(rng: np.random.Generator, sizes: tuple[int, ...], d: int, logistic: bool) -> LinearProblem:
    """Examples that lack some features, none of them all; where there are two, the first client lacks the first."""
    n = sum(sizes)
    held = (rng.random((n, d)) < 0.6) | (np.arange(d) == rng.integers(d, size=(n, 1)))
    if d > 1:
        # Scalings by how many clients hold a feature are else 1 now and then.
        held[: sizes[0], :2] = False, True
        held[sizes[0], 0] = True
    X = np.where(held, rng.choice([-1, 1], (n, d)) * rng.integers(2, 7, (n, d)) / 4, 0.0)
    y = rng.choice([-1.0, 1.0], n) if logistic else rng.integers(-8, 9, n) / 4 + 1 / 3
    return LinearProblem(LinearModels(X, y, np.array(sizes), 0.25, LOGISTIC if logistic else SQUARED))
