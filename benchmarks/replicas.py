"""Many runs at once against one after the other, and exact expectations by moments against enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from benchmarks.timing import Line, compared, in_turn
from fedtheory.algorithms import diana, feddcd, run
from fedtheory.compressors import Family, rand_k
from fedtheory.learning.logistic import logistic_with_condition
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import UniformSubset

ROUNDS = 3


def at_once() -> Iterator[Line]:
    """R replicas of DIANA on 10 clients with 20 rows of 30 features, against R runs in a loop."""
    rng = np.random.default_rng(0)
    f = logistic_with_condition(rng.standard_normal((10, 20, 30)), rng.choice([-1, 1], (10, 20)), 100.0)
    problem = Problem(f)
    params = diana.theory(problem, Family(rand_k(30, 3), 10))

    def runs(replicas: int) -> Array:
        return run(diana.algorithm, problem, params, ROUNDS, rng, lambda s: s.x[..., 0], replicas)

    for R in (1, 10, 100, 1000):
        found = compared(lambda R=R: [runs(1) for _ in range(R)], lambda R=R: runs(R), 3 if R == 1000 else 9)
        # One run is one run; many share the overhead of each call.
        least = {1: 0.9, 10: 2.0}.get(R, 5.0)
        yield Line("R runs in a loop / R at once", f"R = {R}", found.ratio, "times", at_least=least, note=found.words)


def by_moments(x: Array, tau: int) -> float:
    """E |x_I - its mean over I|^2 over uniform tau-subsets I: (tau - 1)/(N - 1) times the sum of squared deviations."""
    return float((tau - 1) / (len(x) - 1) * ((x - x.mean(axis=0)) ** 2).sum())


def by_enumeration(x: Array, tau: int) -> float:
    """The same, over all subsets."""
    masks, p = UniformSubset(len(x), tau).support()
    moved = feddcd.project(np.ones(len(x)), masks, np.where(masks[..., None], x, 0))
    return float(p @ (moved**2).sum(axis=(-2, -1)))


def expectations() -> Iterator[Line]:
    """The expected squared step of FedDCD, of which Lemma B.3 knows the moments."""
    rng = np.random.default_rng(0)
    for N in (8, 12, 16, 18, 20):
        x, tau = rng.standard_normal((N, 2)), N // 2
        if not np.isclose(by_moments(x, tau), by_enumeration(x, tau), rtol=1e-12):
            raise ValueError("moments and enumeration disagree")
        found = compared(lambda x=x: by_enumeration(x, len(x) // 2), lambda x=x: by_moments(x, len(x) // 2), 3)
        what = f"N = {N}, {comb(N, tau)} subsets"
        yield Line("enumeration / moments", what, found.ratio, "times", at_least=1, note=found.words)
    x = rng.standard_normal((10_000, 2))
    seconds = float(np.median(in_turn({"moments": lambda: by_moments(x, 5000)}, 9)["moments"]))
    yield Line("enumeration / moments", "N = 10000, by moments alone", 1e3 * seconds, "ms", at_most=10)
