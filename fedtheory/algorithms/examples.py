"""Parameters of small problems, for methods that no claim gives any: an algorithm's module has its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import to_float
from fedtheory.problems import oracles


class Given(NamedTuple):
    """What parameters are chosen for.

    ``tau`` participants, ``epochs`` local ones, the ``batches`` of a local step; ``features``: what a method does
    beyond the plain one.
    """

    rng: np.random.Generator
    problem: Any
    features: Collection[str]
    tau: int = 1
    epochs: int = 1
    batches: Any = oracles.AllRows()


class Example(NamedTuple):
    """``problem``: of which kind it is: "clients" with functions of their own, a "sum" of functions, or "rows" of a
    linear model at each client, "rows, any loss" where the loss need not be squared; ``params``: the parameters, or
    None where a method has none for it."""

    problem: str
    params: Callable[[Given], Any]


def weights(given: Given) -> Any:
    """alpha_i and sigma_i, no two alike."""
    alpha = given.rng.permutation(np.arange(1.0, given.problem.n + 1))
    alpha = alpha / alpha.sum()
    return alpha, given.rng.uniform(1, 2, given.problem.n) * alpha * to_float(given.problem.f.L)


def row_step(given: Given) -> float:
    """Half of what an example of a linear model allows."""
    f = given.problem.f
    return 0.5 / float(f.squared_norms.max() + f.lam)
