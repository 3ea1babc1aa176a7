"""FedDCD: letters, settings, quantities and hypotheses that its statements share.

The primal problem is min_w sum_i f_i(w), the dual min G(y) = sum_i f_i^*(y_i) subject to sum_i y_i = 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.classes import SmoothStronglyConvex
from fedtheory.instances import Recipe, check_shape, number
from fedtheory.numbers import symbols
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.sections import section as section_of
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

#: A section of the paper, by its place, its setting and its hypotheses.
section = partial(section_of, "feddcd")
#: The faults that make several claims fail: each is one, whatever it makes fail.
FIRST_ANSWER = "the error of the oracle's first answer is left out"
LARGER_START = "the Lyapunov function's start is more than the gap"
FAR_NEWTON = "Newton's method from far away"
OTHER_CASE = "the case alpha >= beta/N of Theorem 7.1"
LOGARITHM = "log(zeta/epsilon) for log(zeta^2/(alpha^2 epsilon))"

alpha, beta, zeta = sympy.symbols("alpha beta zeta", positive=True)
N, tau, d = sympy.symbols("N tau d", integer=True, positive=True)
eta = sympy.Symbol("eta", positive=True)
mu_min, L_max = sympy.symbols("mu_min L_max", positive=True)
T = symbols.T

#: The paper's letters in the common vocabulary.
glossary = {
    alpha: symbols.mu,
    beta: symbols.L,
    N: symbols.n,
    d: symbols.d,
    tau: symbols.m,
    zeta: symbols.zeta,
    beta / alpha: symbols.kappa,
}

#: The share of the full decrease that a random set of tau clients achieves.
r = (tau - 1) / (N - 1)
#: The factor of Theorem 4.1, eq. (3).
rate = 1 - r * alpha / beta


#: Where the letters of the problem come from.
OF_PROBLEM = {alpha: "mu", beta: "L", N: "n", d: "d"}
LETTERS = {**OF_PROBLEM, tau: "tau", eta: "eta"}
FUNCTIONS = SmoothStronglyConvex(alpha, beta, conjugates=True)
#: Numbers of clients, two at least.
CLIENTS = (2, 3, 3, 4, 5)


def with_scale(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """The recipe with the scale of :func:`Lambda`."""
    return {**recipe, "scale": Fraction(1)}


def Lambda(recipe: Recipe, problem: Problem, exact: bool) -> Array:
    """The weights scale/alpha, ``(N,)``; Theorem 4.1 has scale 1."""
    check_shape(recipe["d"], recipe["scale"])
    return np.array([number(recipe["scale"], exact) / problem.mu] * problem.n)


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> algorithm_1.Params:
    check_shape(recipe["d"], recipe["eta"])
    return algorithm_1.Params(recipe["tau"], Lambda(recipe, problem, exact), number(recipe["eta"], exact))


#: What sampling without a choice of one block alone needs, and how settings say so.
SAMPLED = (sympy.Ge(tau, 2), sympy.Le(tau, N))
_SAMPLED = "; 2 <= tau <= N"


class Nothing(NamedTuple):
    """No parameters."""


def dual_gap(problem: Problem, params: object, state: Any) -> Array:
    """G(y) - G(y*), where G(y) = sum_i f_i^*(y_i)."""
    return (problem.f.conjugate(state.y) - problem.f.conjugate(problem.y_star)).sum(axis=-1)


def primal_distance(problem: Problem, params: object, state: Any) -> Array:
    """E|w - w*|^2 for w = grad f_i^*(y_i) with i uniform on [N]."""
    w = problem.f.conjugate_gradient(state.y)
    return ((w - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


def dual_distance(problem: Problem, params: object, state: algorithm_1.State) -> Array:
    """|y - y*|^2."""
    return ((state.y - problem.y_star) ** 2).sum(axis=(-1, -2))


def norm_y_star(problem: Problem, params: object, state: object) -> Array:
    """|y*|^2."""
    return (problem.y_star**2).sum(axis=(-1, -2))


def heterogeneity(problem: Problem, params: object, state: object) -> Array:
    """zeta^2 = max_i |grad f_i(w*)|^2, the smallest zeta that Assumption 3.3 admits."""
    return (problem.y_star**2).sum(axis=-1).max(axis=-1)


def smallest_curvature(problem: Problem, params: object, state: object) -> Scalar:
    """The smallest strong convexity constant of the f_i."""
    return min(problem.f.mu)


def largest_curvature(problem: Problem, params: object, state: object) -> Scalar:
    """The largest smoothness constant of the f_i."""
    return max(problem.f.L)


_gap, _gap_T, _gap_0 = (sympy.Symbol(s) for s in ("G-G*", "G(y^T)-G*", "G(y^0)-G*"))
_dist, _dist_T, _dual_dist, _norm_y = (sympy.Symbol(s) for s in ("|w-w*|^2", "|w^T-w*|^2", "|y-y*|^2", "|y*|"))
GAP_T = Quantity(_gap_T, dual_gap, after=True, domain=algorithm_1.invariant)
GAP_0 = Quantity(_gap_0, dual_gap)
GAP = Quantity(_gap, dual_gap)
DISTANCE_T = Quantity(_dist_T, primal_distance, after=True)
DISTANCE = Quantity(_dist, primal_distance)
DUAL_DISTANCE = Quantity(_dual_dist, dual_distance)
NORM_Y = Quantity(_norm_y**2, norm_y_star)
ZETA = Quantity(zeta**2, heterogeneity)

SCALING = Hypothesis("Lambda = I/alpha", each={"Lambda": 1 / alpha})
SETTING = Setting(
    "f_1, ..., f_N on R^d, each alpha-strongly convex and beta-smooth; y dual feasible" + _SAMPLED,
    letters=LETTERS,
    algorithm=algorithm_1.algorithm,
    functions=FUNCTIONS,
    drawing=Drawing(
        classes_stated=True,
        draw=with_scale,
        parameters=_parameters,
        typical={eta: sympy.S.One},
        sweep={"kappa": (2, 5, 10, 30, 100), "N": (2, 3, 4), "tau": (2, 3, 4)},
    ),
    domain=SAMPLED,
    potential=GAP_T,
    clients=CLIENTS,
)
CONSTANTS = Setting("all values of the constants")

CONVEX = Hypothesis(
    "Assumptions 3.1-3.2: every f_i is alpha-strongly convex and beta-smooth",
    met=FUNCTIONS.contains,
)
PARTICIPATION = Hypothesis("Assumption 3.4: 2 <= tau <= N", sympy.And(*SAMPLED))
UNIT_RATE = Hypothesis("eta = 1", sympy.Eq(eta, 1, evaluate=False))
