"""Federated Optimization, Appendix A.1: the new primal method, Algorithm 5."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import perturbed_primal
from fedtheory.claims import Claim
from fedtheory.instances.base import pick
from fedtheory.papers.fedopt.data import Posed, States, clients_of, one_of
from fedtheory.papers.fedopt.dual_states import (
    ADMISSIBLE_SIGMA,
    ANY_SIGMA,
    NO_STATE,
    few,
    of_primal,
)
from fedtheory.papers.fedopt.predictors import (
    DOMINATES,
    IN_RANGE,
    LEARNT,
    LEFT,
    RIGHT,
    K,
    gap,
    letters,
    setting,
    sigma,
)
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.rational import Array
from fedtheory.statements import Limit, Quantity, Stays, identity, inequality

LEARNING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, from any alpha^0",
    Posed(of_primal, LEARNT, ANY_SIGMA, share="equal"),
)


def _perturbations(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1/K) sum_k a_k, a_k = grad F_k(w) - (eta grad F_k(w) + g_k)."""
    eta = perturbed_primal.eta(problem, params)
    own = problem.f.gradient(state.w[..., None, :])
    return (own - (eta * own + state.g)).sum(axis=-2) / problem.n


def _of_gradient(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1 - eta) grad f(w)."""
    return (1 - perturbed_primal.eta(problem, params)) * problem.f.full_gradient(state.w)


def round_map(problem: LinearProblem, params: Any) -> Array:
    """The linear map of a round of Algorithm 5 on (w - w*, g_1 - g_1*, ..., g_K - g_K*), from its code."""
    d, size = problem.d, problem.d * (problem.n + 1)
    rest = perturbed_primal.fixed_point(problem, params)
    basis = np.eye(size, dtype=int) + 0 * problem.f.X[0, 0]
    state = perturbed_primal.State(rest.w + basis[:, :d], rest.g + basis[:, d:].reshape(size, problem.n, d))
    after = perturbed_primal.step(problem, params, state, None)
    images = np.concatenate([after.w - rest.w, (after.g - rest.g).reshape(size, -1)], axis=1)
    return images.T


def determinant(A: Array) -> Any:
    """The determinant of a matrix of fractions or floats, by elimination."""
    A, found = np.array(A), 1
    for j in range(len(A)):
        pivot = j + max(range(len(A) - j), key=abs(A[j:, j]).tolist().__getitem__)
        if A[pivot, j] == 0:
            return 0 * A[0, 0]
        if pivot != j:
            A[[j, pivot]], found = A[[pivot, j]], -found
        found = found * A[j, j]
        A[j + 1 :] = A[j + 1 :] - (A[j + 1 :, j] / A[j, j])[:, None] * A[j]
    return found


def _beyond(problem: LinearProblem, params: perturbed_primal.Params, state: Any) -> Array:
    """det(I + M), M the linear map of a round about the optimum."""
    M = round_map(problem, params)
    return np.asarray(determinant(M + np.eye(len(M), dtype=int)))[None, None]


_det = sympy.Symbol("det(I+M)", real=True)


def _identical_line(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    if rng.random() < 0.5:
        return clients_of(rng, kind, single, most=2)
    one = {"examples": ({"x": (Fraction(int(rng.integers(1, 4))),), "y": Fraction(0)},)}
    return 1, (one,) * int(rng.integers(2, 5))


PRINTED_RANGE = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12)",
    Posed(
        of_primal,
        NO_STATE,
        {"sigma": one_of(1, 1, 1, "3/2", 2, 3)},
        share="equal",
        lam=lambda rng: Fraction(1, int(pick(rng, (1, 2, 4, 20)))),
        clients=_identical_line,
    ),
    letters(sigma, K),
)


def _free(problem: LinearProblem, params: Any, theta: Array) -> perturbed_primal.State:
    """Any w, and any g_k of sum 0."""
    rest, d = perturbed_primal.fixed_point(problem, params), problem.d
    first = rest.g[:-1] + theta[:, None, d:].reshape(len(theta), 1, problem.n - 1, d)
    last = -first.sum(axis=-2, keepdims=True) if problem.n > 1 else rest.g + 0 * theta[:, None, None, :1]
    return perturbed_primal.State(rest.w + theta[:, None, :d], np.concatenate([first, last], axis=-2))


def _freed(problem: LinearProblem, params: Any, state: perturbed_primal.State) -> Array:
    """The inverse of that chart: ``(..., K d)``."""
    rest = perturbed_primal.fixed_point(problem, params)
    w, g = state.w - rest.w, (state.g - rest.g)[..., :-1, :]
    return np.concatenate([w, g.reshape(*g.shape[:-2], problem.d * (problem.n - 1))], axis=-1)


CONVERGING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12)",
    Posed(
        of_primal,
        States(lambda problem: problem.d * problem.n, _free, _freed),
        ADMISSIBLE_SIGMA,
        share="equal",
        clients=few,
    ),
)

_A1 = "Appendix A.1"
_gap_T = sympy.Symbol("f(w^t)-f*")
LEFT_Q = Quantity(LEFT, _perturbations)
RIGHT_Q = Quantity(RIGHT, _of_gradient)

APPENDIX_A1 = (
    Claim(
        id="fedopt/perturbation-average",
        where=_A1,
        gist="mean of the a_k of the new method",
        setting=LEARNING,
        statement=identity(LEFT_Q, RIGHT_Q),
        reading="(1 - eta) grad f(w^t) for Algorithm 5; DANE's a_k have this mean too where all n_k are equal",
    ),
    Claim(
        id="fedopt/lemma-4",
        where="Lemma 4",
        kind="invariant",
        gist="sum of the g_k stays 0",
        setting=LEARNING,
        statement=Stays(perturbed_primal.algorithm, perturbed_primal.invariant, "sum_k g_k stays 0, where it starts"),
    ),
)

#: What follows the dual method in the list, and speaks of the primal one.
DET = Quantity(_det, _beyond)

ANY_PARTITION = (
    Claim(
        id="fedopt/algorithm-5/any-partition",
        where=_A1,
        kind="limit",
        gist="ridge regression, any partition: converges",
        setting=PRINTED_RANGE,
        statement=inequality(sympy.S.Zero < DET),
        requires=(IN_RANGE,),
        reading="with any sigma in [1, K], as Algorithm 5 prints. A round is a linear map M about the optimum; where "
        "det(I + M) <= 0 it has a real eigenvalue of -1 or less, and does not converge from that eigenvector",
    ),
    Claim(
        id="fedopt/algorithm-5/any-partition/repaired",
        where=_A1,
        gist="Algorithm 5 converges on any ridge regression and partition if X'X <= sigma B",
        setting=CONVERGING,
        statement=Limit(perturbed_primal.algorithm, Quantity(_gap_T, gap, after=True), "f(w^t) -> f*"),
        requires=(DOMINATES,),
        reading="from any w and g_k of sum 0",
        repairs="fedopt/algorithm-5/any-partition",
    ),
)
