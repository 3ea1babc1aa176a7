"""LoCoDL: the run on which the bound of Theorem 3.1 is measured."""

from __future__ import annotations

import math

import numpy as np

from fedtheory.algorithms import locodl
from fedtheory.compressors import Family, rand_k
from fedtheory.learning.logistic import logistic_with_condition
from fedtheory.numbers.rational import Array
from fedtheory.plugins import Run
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal

#: The condition number: an iteration takes n gradients.
KAPPA = 1000


def run(A: Array, b: Array) -> Run:
    """Algorithm 1 on logistic regression. Raise ``ValueError`` if no regularisation gives the condition number."""
    f = logistic_with_condition(A, b, KAPPA)
    mu = float(f.mu[0])
    problem = Problem(f, diagonal(np.full((1, f.d), mu), np.zeros((1, f.d))))
    k = math.ceil(f.d / f.n)
    params = locodl.theory(problem, Family(rand_k(f.d, k), f.n))
    return Run(
        "LoCoDL, Algorithm 1",
        "iteration",
        problem,
        params,
        # A gradient multiplies by the data twice; the compression of n vectors costs about as much as ten rows each.
        2 * f.n * (f.m + 10) * f.d,
        # Half a minute on one core of 2020.
        1e11,
        (
            f"f: logistic loss + (μ/2)|x|², g = (μ/2)|x|², κ = L/μ = {KAPPA}, μ = {mu:.3g}",
            f"as in Theorem 3.1, eqs. (6), (8): independent rand-{k}, ω = {params.omega:.3g}, p = {params.p:.3g}, "
            f"γ = {params.gamma:.3g}, ρ = χ = {params.rho:.3g}",
        ),
    )
