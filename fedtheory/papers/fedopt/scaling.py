"""Federated Optimization, Section 3.6.2: why FSVRG scales gradients and updates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.classes import SmoothStronglyConvex
from fedtheory.instances import Recipe, generic, numbers
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.identity import identity
from fedtheory.learning.local_features import appearances, local_scaling
from fedtheory.numbers.rational import Array, apply, exact, inverse
from fedtheory.papers.fedopt.any_functions import least_share
from fedtheory.papers.fedopt.data import SEPARATE, RidgeInstances
from fedtheory.papers.fedopt.fsvrg import expected_directions
from fedtheory.papers.fedopt.predictors import (
    MODEL,
    TWO,
    Model,
    Two,
    gamma,
    gradient_of,
    lamda,
    letters,
    section,
    setting,
)
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# Gradients of features that one node holds


def _holders(f: LinearModels) -> Array:
    """The node that holds each feature, ``(d,)``; 0 where none does."""
    return np.asarray((f.per_client((f.X != 0).astype(int), 0) > 0).argmax(axis=0))


def _held(f: LinearModels, values: Array) -> Array:
    """Values of nodes and features, and 0 where a node has no example with a feature: ``(..., K, d)``."""
    return np.where(appearances(f) > 0, values, 0 * values)


def _own_slopes(problem: LinearProblem, params: object, state: Model) -> Array:
    """E of (grad phi_i)_j over the examples of each node, for the features j that it holds: ``(..., K, d)``."""
    f = problem.f
    return _held(f, f.gradient(state.w[..., None, :]) - f.lam * state.w[..., None, :])


def _larger_slopes(problem: LinearProblem, params: object, state: Model) -> Array:
    """(n/n_k) times the gradient of the whole loss, for the features j that node k holds: ``(..., K, d)``."""
    f = problem.f
    whole = gradient_of(problem, params, state) - f.lam * state.w
    return _held(f, whole[..., None, :] / f.shares[:, None])


def _on_one_node(problem: Any, params: object) -> bool:
    """Return True if each feature is on one node at most."""
    return bool((appearances(problem.f) > 0).astype(int).sum(axis=0).max() <= 1)


ONE_NODE_A_FEATURE = Hypothesis("each feature is on one node", met=_on_one_node)
ONE_HOLDER = setting(
    "each feature on a single node, any numbers of examples; any w",
    RidgeInstances(states=MODEL, kind=SEPARATE),
    letters(lamda, gamma),
)

# Bias


def _both_differences(problem: LinearProblem, params: object, state: Two) -> Array:
    """|E G_1 - grad f(w)|^2 |E G_1 - grad f(w^t)|^2."""
    mean = expected_directions(problem, state)[..., 0, :]
    targets = (problem.f.full_gradient(w) for w in (state.w, state.w_t))
    first, second = (((mean - target) ** 2).sum(axis=-1) for target in targets)
    return first * second


def _zero(problem: object, params: object, state: object) -> Array:
    return np.zeros((), dtype=int)


SEVERAL = setting(
    "any data on K > 1 nodes; any common w_k = w, and any w^t",
    RidgeInstances(states=TWO, holds=lambda recipe, f: f.n > 1),
)

# Separable data


def _added(problem: LinearProblem, params: object, state: object) -> Array:
    """The sum of the minimisers of the F_k, each in the features that its node holds and 0 elsewhere: ``(d,)``."""
    f = problem.f
    held = np.arange(f.n)[:, None] == _holders(f)
    H, origin = f.hessian(np.zeros((1, f.d), dtype=int)), np.zeros((1, f.d), dtype=int)
    # For the other features the identity, and a slope of 0.
    own = np.where(held[:, :, None] & held[:, None, :], H, 0 * H) + (~held[:, :, None]) * np.eye(f.d, dtype=int)
    slope = np.where(held, f.gradient(origin), 0 * f.gradient(origin))
    return apply(inverse(own), -slope).sum(axis=-2)


def _solution(problem: LinearProblem, params: object, state: object) -> Array:
    """w*."""
    return problem.x_star


def _regularised() -> RidgeInstances:
    def lam(rng: np.random.Generator) -> Fraction:
        return generic(rng, Fraction(1, 50), Fraction(5))

    def holds(recipe: object, f: LinearModels) -> bool:
        return bool(f.lam > 0 and (f.X != 0).any(axis=0).all())

    return RidgeInstances(kind=SEPARATE, lam=lam, plain=True, holds=holds)


class Variables(NamedTuple):
    """``v (..., K, d)``: the variables of each node."""

    v: Array


class Shares(NamedTuple):
    """``weights (K,)``: the n_k/n."""

    weights: Array


def _separable_params(recipe: Recipe, problem: Problem, exact: bool) -> Shares:
    sizes = numbers(recipe["sizes"], exact)
    if len(sizes) != problem.n or min(recipe["sizes"]) < 1:
        raise ValueError("every node holds something")
    return Shares(sizes / sizes.sum())


def _draw_sizes(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {**recipe, "sizes": tuple(int(v) for v in rng.integers(1, 4, len(recipe["clients"])))}


def _above_local_solutions(problem: Any, params: Shares, state: Variables) -> Array:
    """f(v) - f(u), f(v) = sum_k (n_k/n) F_k(v_k), u_k = argmin F_k."""
    f = problem.f
    found: Array = (params.weights * (f.value(state.v) - f.value(f.resolvent(0, 0 * state.v)))).sum(axis=-1)
    return found


def _from_local_solutions(problem: Any, params: Shares, state: Variables) -> Array:
    """sum_k (n_k/n) |v_k - u_k|^2, u_k = argmin F_k."""
    away = state.v - problem.f.resolvent(0, 0 * state.v)
    found: Array = (params.weights * (away**2).sum(axis=-1)).sum(axis=-1)
    return found


m_F, _L_F = sympy.symbols("m_F L_F", positive=True)
_STRONG = SmoothStronglyConvex(m_F, _L_F, optimum="stationary")
STRONGLY_CONVEX = Hypothesis("F_k is smooth and m_F-strongly convex", met=_STRONG.contains)
SEPARATE_VARIABLES = Setting(
    "F_1, ..., F_K, each of variables of its own; any v",
    letters={m_F: "mu", _L_F: "L", least_share: lambda problem, params: min(params.weights)},
    algorithm=points(Variables, Shares, lambda problem, params: Variables(problem.x_star + 0 * problem.y_star)),
    functions=_STRONG,
    drawing=Drawing(classes_stated=True, draw=_draw_sizes, parameters=_separable_params),
    clients=(1, 2, 2, 3),
)
REGULARISED = setting("each feature on a single node, lambda > 0 in every f_i, as A.2 has it", _regularised())

# s_k^j where node k has no example with feature j


def _whole(problem: LinearProblem, params: object, state: object) -> Array:
    """phi^j for every node and feature: ``(K, d)``."""
    counts = appearances(problem.f)
    return _fractions(problem, counts.sum(axis=0, keepdims=True) + 0 * counts) / problem.f.examples


def _by_ratio(problem: LinearProblem, params: object, state: Two) -> Array:
    """s_k^j phi_k^j, with s_k^j = phi^j/phi_k^j as it is defined: ``(K, d)``."""
    f = problem.f
    own = _fractions(problem, appearances(f)) / np.asarray(f.sizes)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _whole(problem, params, state) / own * own


def _fractions(problem: LinearProblem, counts: Array) -> Array:
    return exact(counts) if problem.f.exact else np.asarray(counts, dtype=np.float64)


def _scaled_changes(absent: int) -> Any:
    """S_k times grad phi_i(w) - grad phi_i(w^t) for every i in P_k, s_k^j = ``absent`` where node k lacks feature j."""

    def of(problem: LinearProblem, params: object, state: Two) -> Array:
        f = problem.f
        slopes = f.loss.slope(f.predictions(state.w), f.y) - f.loss.slope(f.predictions(state.w_t), f.y)
        return local_scaling(f, absent)[f.owner, :] * (slopes[..., None] * f.X)

    return of


ANY_DATA = setting("any data on K nodes; any w and w^t", RidgeInstances(states=TWO), letters(lamda, gamma))
_S_K_J = "Section 3.6.2, s_k^j"
section_362_s_k_j = section("Section 3.6.2, s_k^j", ANY_DATA, id="scaling/absent-feature")
ABSENT = (
    section_362_s_k_j(
        "",
        identity(Quantity("s_k^j phi_k^j", _by_ratio), Quantity("phi^j", _whole)),
        "s_k^j where node k has no example with feature j",
        kind="property",
        tex=r"s_k^j=\phi^j/\phi_k^j",
        reading="s_k^j = phi^j/phi_k^j, of all nodes k and features j, as it is defined before Algorithm 4: where no "
        "example of node k has feature j it is phi^j/0",
        flaw="phi_k^j is the share of the examples of node k that have feature j. In sparse data it is 0 for most "
        "features of a node, and s_k^j is divided by it.",
    ),
    section_362_s_k_j(
        "repaired",
        identity(
            Quantity("S_k(grad phi_i(w)-grad phi_i(w^t)), s_k^j=1", _scaled_changes(1)),
            Quantity("S_k(grad phi_i(w)-grad phi_i(w^t)), s_k^j=7", _scaled_changes(7)),
        ),
        "any number serves for s_k^j there, as the losses of node k do not depend on w_j",
        kind="property",
        reading="of the losses phi_i alone. A regulariser in every f_i, as Appendix A.2 has it, is scaled by s_k^j "
        "there too, and then the number does matter",
        repairs="scaling/absent-feature",
    ),
)

ADDED, SOLUTION = Quantity("sum_k(argmin F_k)", _added), Quantity("w*", _solution)
_362 = "Section 3.6.2"

section_362 = section("Section 3.6.2", ONE_HOLDER, id="")
SECTION_3_6_2 = (
    section_362(
        "naive-fsvrg/scale-of-gradients",
        identity(
            Quantity("E[(grad phi_i)_j], i in P_k", _own_slopes), Quantity("(n/n_k) (grad phi)_j", _larger_slopes)
        ),
        "the example of gradients that differ a thousandfold",
        kind="property",
        requires=(ONE_NODE_A_FEATURE,),
        tex="",
        reading="a feature that node k alone holds has there, in the mean over its examples, n/n_k times the slope "
        "that it has in f, whatever the data: with n = 1,000,000 and n_k = 1,000 the thousandfold. Of the losses, "
        "without the regulariser. That the method is then likely to diverge is not claimed of all data",
    ),
    section_362(
        "fsvrg/biased",
        Fails(
            identity(Quantity("|E[G_1]-grad f(w)|^2|E[G_1]-grad f(w^t)|^2", _both_differences), Quantity("0", _zero)),
            "E[G_1] is grad f(w) or grad f(w^t)",
        ),
        "G_k is biased for K > 1",
        kind="property",
        setting=SEVERAL,
        tex=r"G_k=\nabla f_i(w)-\nabla f_i(w^t)+\nabla f(w^t)",
        reading="in general: for some data it is neither grad f(w^t), as printed, nor grad f(w), as the display that "
        "follows has it",
    ),
    section_362(
        "separable-data",
        m_F / 2 * Quantity("sum_k(n_k/n)|v_k-u_k|^2", _from_local_solutions)
        <= Quantity("f(v)-f(u)", _above_local_solutions),
        "separable data: exact local solutions, added, solve in one round",
        kind="property",
        setting=SEPARATE_VARIABLES,
        requires=(STRONGLY_CONVEX,),
        tex="",
        reading="each data point depends on one of disjoint groups of variables, which no f_i does that has a "
        "regulariser of all of them (separable-data/regularised), so that F_k is a function of the v_k of its node, "
        "and f(v) = sum_k (n_k/n) F_k(v_k). For u_k = argmin F_k f(v) is larger than f(u) unless v = u: the local "
        "solutions, each with 0 for the variables of others, add up to the only minimiser. All groups have d "
        "variables: a smaller one has others of which F_k is a square",
    ),
    section_362(
        "separable-data/regularised",
        Fails(identity(ADDED, SOLUTION), "the sum of the minimisers of the F_k is the solution"),
        "with a regulariser in every f_i the local solutions do not add up to the solution",
        kind="property",
        setting=REGULARISED,
        origin="observed",
        reading="for some data: F_k, eq. (6), regularises the features of its node n/n_k times less, against their "
        "losses, than f does",
    ),
)
