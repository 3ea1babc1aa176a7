"""Federated Optimization, Appendix A: parameters, states and quantities of Algorithms 5 and 6."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dual_block_ascent, perturbed_primal
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.data import States, about, one_of, positive
from fedtheory.papers.fedopt.predictors import (
    dual_gap,
    dual_optimum,
    gamma,
    lamda,
    n,
    sigma,
    sigma_at,
    smax,
)
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.settings.relations import Quantity


def of_primal(recipe: Any, problem: LinearProblem, exact: bool) -> perturbed_primal.Params:
    """The parameter sigma of Algorithm 5 in a recipe; ``ValueError`` unless it is positive."""
    return perturbed_primal.Params(positive(recipe, "sigma", exact))


def of_dual(recipe: Any, problem: LinearProblem, exact: bool) -> dual_block_ascent.Params:
    """The parameter sigma of Algorithm 6 in a recipe; ``ValueError`` unless it is positive."""
    return dual_block_ascent.Params(positive(recipe, "sigma", exact))


ADMISSIBLE_SIGMA = {"sigma": sigma_at(0, 0, "1/2", 1)}
ANY_SIGMA = {"sigma": one_of("1/2", 1, "3/2", 2, 3, 5)}
#: The losses whose conjugates are exact on fractions; at gamma = 1, ridge regression, a gamma that is lost is not seen.
LOSSES = "phi_i(t) = (t - y_i)^2/(2 gamma)"
ANY_GAMMA = {"gamma": about("1/20", 20)}


def _coordinates(problem: LinearProblem, params: Any, state: Any) -> Array:
    """alpha - alpha* of a state of the dual method: ``(..., n)``."""
    return np.asarray(state.alpha - dual_optimum(problem))


DUAL_STATES = States(
    lambda problem: problem.f.examples,
    lambda problem, params, theta: dual_block_ascent.State(dual_optimum(problem) + theta[:, None]),
    _coordinates,
)


class At(NamedTuple):
    """No state: the data and sigma are all."""


NO_STATE = States(lambda problem: 0, lambda problem, params, theta: At())


#: Of the dual gap, what a step with exact blocks leaves; of CoCoA+ with local accuracy Theta, below.
dual_share = lamda * gamma * n / (lamda * gamma * n + sigma * smax)
D_T, D_0 = sympy.Symbol("D*-D(alpha^T)"), sympy.Symbol("D*-D(alpha^0)")
GAP_T, GAP_0 = Quantity(D_T, dual_gap, after=True), Quantity(D_0, dual_gap)
