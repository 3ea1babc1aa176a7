"""Federated Optimization, Appendix A: whether Algorithms 5 and 6 converge, for the sigma of their listings and of A.3.

A.3 takes for sigma a constant with X'X <= sigma B, and both methods converge. The listings of both say "Input: sigma in
[1, K]" and no more, and numbers in [1, K] need not have it. On ridge regression they are one method (Theorem 5).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import dual_block_ascent, perturbed_primal
from fedtheory.instances import pick
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.limit import Limit
from fedtheory.numbers.rational import Array, determinant
from fedtheory.papers.fedopt import dual_steps
from fedtheory.papers.fedopt.data import Parameters, RidgeInstances, States, clients_of, few, one_of
from fedtheory.papers.fedopt.predictors import (
    ADMISSIBLE_SIGMA,
    ANY_GAMMA,
    D_0,
    D_T,
    DOMINATES,
    DUAL_STATES,
    GAP_0,
    GAP_T,
    IN_RANGE,
    LOSSES,
    NO_STATE,
    SIGMA_AS_LISTED,
    K,
    Theta,
    dual_optimum,
    dual_share,
    gamma,
    gap,
    lamda,
    letters,
    n,
    of_dual,
    of_primal,
    section,
    setting,
    sigma,
    smax,
)
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# Rounds as linear maps


def primal_map(problem: LinearProblem, params: perturbed_primal.Params) -> Array:
    """The linear map of a round of Algorithm 5 on (w - w*, g_1 - g_1*, ..., g_K - g_K*), from its code."""
    d, size = problem.d, problem.d * (problem.n + 1)
    rest = perturbed_primal.fixed_point(problem, params)
    basis = np.eye(size, dtype=int) + 0 * problem.f.X[0, 0]
    state = perturbed_primal.State(rest.w + basis[:, :d], rest.g + basis[:, d:].reshape(size, problem.n, d))
    after = perturbed_primal.step(problem, params, state, None)
    images = np.concatenate([after.w - rest.w, (after.g - rest.g).reshape(size, -1)], axis=1)
    return images.T


def dual_map(problem: LinearProblem, params: dual_block_ascent.Params) -> Array:
    """The linear map of a round of Algorithm 6 on alpha - alpha*, from its code."""
    rest = dual_optimum(problem)
    basis = np.eye(len(rest), dtype=int) + 0 * problem.f.X[0, 0]
    images = dual_block_ascent.step(problem, params, dual_block_ascent.State(rest + basis), None).alpha - rest
    return np.asarray(images).T


def _beyond(round_map: Any, of: str) -> Quantity:
    def value(problem: LinearProblem, params: object, state: object) -> Array:
        M = round_map(problem, params)
        return np.asarray(determinant(M + np.eye(len(M), dtype=int)))[None, None]

    value.__doc__ = (
        f"M maps the error before a round of {of} to that after it; where det(I+M) is negative M has an "
        "eigenvalue below -1, and the method diverges from almost every start; at 0 it cycles from some"
    )
    value.parts = {"M": round_map}  # type: ignore[attr-defined]
    return Quantity(sympy.Symbol("det(I+M)", real=True), value)


# Settings


def _identical_line(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    if rng.random() < 0.5:
        return clients_of(rng, kind, single, most=2)
    one = {"examples": ({"x": (Fraction(int(rng.integers(1, 4))),), "y": Fraction(0)},)}
    return 1, (one,) * int(rng.integers(2, 5))


def _printed_range(params: Parameters) -> Setting:
    posed = RidgeInstances(
        params,
        NO_STATE,
        {"sigma": one_of(1, 1, 1, "3/2", 2, 3)},
        share="equal",
        lam=lambda rng: Fraction(1, int(pick(rng, (1, 2, 4, 20)))),
        clients=_identical_line,
    )
    return setting("ridge regression on any data and nodes, the F_k of eq. (12)", posed, letters(sigma, K))


ADMISSIBLE = setting(
    f"{LOSSES}, on any data and nodes, from any alpha^0",
    RidgeInstances(of_dual, DUAL_STATES, {**ANY_GAMMA, **ADMISSIBLE_SIGMA}),
    letters(lamda, gamma, n, sigma, smax),
)


def _free(problem: LinearProblem, params: perturbed_primal.Params, theta: Array) -> perturbed_primal.State:
    """Any w, and any g_k of sum 0."""
    rest, d = perturbed_primal.fixed_point(problem, params), problem.d
    first = rest.g[:-1] + theta[:, None, d:].reshape(len(theta), 1, problem.n - 1, d)
    last = -first.sum(axis=-2, keepdims=True) if problem.n > 1 else rest.g + 0 * theta[:, None, None, :1]
    return perturbed_primal.State(rest.w + theta[:, None, :d], np.concatenate([first, last], axis=-2))


def _freed(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """The inverse of that chart: ``(..., K d)``."""
    rest = perturbed_primal.fixed_point(problem, params)
    w, g = state.w - rest.w, (state.g - rest.g)[..., :-1, :]
    return np.concatenate([w, g.reshape(*g.shape[:-2], problem.d * (problem.n - 1))], axis=-1)


CONVERGING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12)",
    RidgeInstances(
        of_primal,
        States(lambda problem: problem.d * problem.n, _free, _freed),
        ADMISSIBLE_SIGMA,
        share="equal",
        clients=few,
    ),
)

_gap_T = sympy.Symbol("f(w^t)-f*")
_MEANT = "sigma has X'X <= sigma B, as A.3 introduces it, not merely sigma in [1, K], as the listing says"
_LITERAL = (
    "with any sigma in [1, K], as the listing alone says. Where det(I + M) <= 0 the map M has a real eigenvalue of -1 "
    "or less, and the method does not converge from that eigenvector"
)

appendix_a3 = section(
    "Appendix A.3",
    dual_steps.SETTING,
    dual_steps.CONVEX,
    Hypothesis("(15) is solved, Theta = 0", sympy.Eq(Theta, 0, evaluate=False)),
    id="algorithm-6/linear",
)
CONVERGENCE = (
    appendix_a3(
        "",
        dual_steps.GAP_AFTER <= (1 - dual_steps.SHARE) * dual_steps.GAP_BEFORE,
        "the dual method converges linearly",
        kind="bound",
        tex=r"X^TX\preceq\sigma B",
        uses=("lower-bound-step",),
        reading=f"{_MEANT}. Of every round, from any alpha. The rate, which is not printed, is that of proximal "
        "gradient ascent",
    ),
    appendix_a3(
        "quadratic",
        Bound(dual_block_ascent.algorithm, D_T, 1 - dual_share, D_0, (GAP_T, GAP_0)),
        "the same of Algorithm 6 as it is run, on quadratic losses",
        kind="bound",
        setting=ADMISSIBLE,
        requires=(DOMINATES,),
        origin="observed",
        reading=f"{_MEANT}; s_max = max_k |X_k|^2",
    ),
    section("Algorithm 6, line 1", _printed_range(of_dual), IN_RANGE, id="algorithm-6/linear")(
        "literal",
        sympy.S.Zero < _beyond(dual_map, "Algorithm 6"),
        "for every sigma in [1, K], as the listing alone says",
        kind="property",
        tex=r"\sigma\in[1,K]",
        uses=("lower-bound-step",),
        reading=_LITERAL,
        literal_of="algorithm-6/linear",
        flaw="The lower bound on which the method rests needs a sigma so large that X'X <= sigma B. That it lies in "
        "[1, K] is shown of the least such number; the listing takes every number in [1, K].",
        root=SIGMA_AS_LISTED,
    ),
    section("Appendix A.1", CONVERGING, DOMINATES, id="algorithm-5")(
        "any-partition",
        Limit(perturbed_primal.algorithm, Quantity(_gap_T, gap, after=True), "f(w^t) -> f*"),
        "ridge regression, any partition: converges",
        kind="limit",
        tex=r"X^TX\preceq\sigma B",
        uses=("theorem-5", "algorithm-6/linear"),
        reading=f"{_MEANT}. From any w and g_k of sum 0",
    ),
    section("Algorithm 5, line 1", _printed_range(of_primal), IN_RANGE, id="algorithm-5/any-partition")(
        "literal",
        sympy.S.Zero < _beyond(primal_map, "Algorithm 5"),
        "for every sigma in [1, K], as the listing alone says",
        kind="property",
        tex=r"\sigma\in[1,K]",
        uses=("theorem-5", "algorithm-6/linear/literal"),
        reading=_LITERAL,
        literal_of="algorithm-5/any-partition",
        root=SIGMA_AS_LISTED,
    ),
)
