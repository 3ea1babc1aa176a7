"""Federated Optimization, Appendices A.1 to A.3, and eq. (17): the new primal method, Algorithm 5, the dual problem and
the dual method, Algorithm 6."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import perturbed_primal
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt import conjugates
from fedtheory.papers.fedopt.any_functions import LEARNING, Learning, Learnt, learning_of
from fedtheory.papers.fedopt.data import RidgeInstances, States, clients_of, few
from fedtheory.papers.fedopt.predictors import (
    ADMISSIBLE_SIGMA,
    DOMINATES,
    DUALS,
    Duals,
    K,
    dual_optimum,
    gamma,
    lamda,
    letters,
    of_primal,
    section,
    setting,
    sigma,
)
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.settings.relations import Comparison, Quantity


def _eta(problem: Problem, params: Learning) -> Scalar:
    return perturbed_primal.eta(learning_of(problem, params), perturbed_primal.Params(params.sigma))


def _perturbations(problem: Problem, params: Learning, state: Learnt) -> Array:
    """(1/K) sum_k a_k, a_k = grad F_k(w) - (eta grad F_k(w) + g_k), for g_k of sum 0: the given ones less their
    mean."""
    own = learning_of(problem, params).f.gradient(state.w[..., None, :])
    g = state.g - state.g.sum(axis=-2, keepdims=True) / problem.n
    return (own - (_eta(problem, params) * own + g)).sum(axis=-2) / problem.n


def _of_gradient(problem: Problem, params: Learning, state: Learnt) -> Array:
    """(1 - eta) grad f(w)."""
    return (1 - _eta(problem, params)) * learning_of(problem, params).f.full_gradient(state.w)


def _sums(problem: Problem, params: Learning, state: Learnt) -> Array:
    """The sums over k of the g_k^(t+1), and of the g_k^0 of line 5: ``(..., 2, d)``."""
    on, given = learning_of(problem, params), perturbed_primal.Params(params.sigma)
    after = perturbed_primal.step(on, given, perturbed_primal.State(state.w, state.g), None)
    w = state.b.sum(axis=-2, keepdims=True) / (problem.n * params.lam)
    first = _eta(problem, params) * (state.b - params.lam * w)
    return np.stack([after.g.sum(axis=-2), first.sum(axis=-2)], axis=-2)


def _sums_before(problem: Problem, params: Learning, state: Learnt) -> Array:
    """The sum over k of the g_k^t, and 0: ``(..., 2, d)``."""
    total = state.g.sum(axis=-2)
    return np.stack([total, 0 * total], axis=-2)


_A1 = "Appendix A.1"

APPENDIX_A1 = (
    section("Appendix A.1", LEARNING, id="")(
        "perturbation-average",
        identity(Quantity("(1/K) sum_k(a_k)", _perturbations), Quantity("(1-eta) grad f(w)", _of_gradient)),
        "mean of the a_k of the new method",
        tex=r"\frac{1}{K}\sum_{k=1}^Ka_k^t=(1-\eta)\nabla f(w^t)",
        uses=("lemma-4",),
        reading="(1 - eta) grad f(w^t) for Algorithm 5, from any g_k of sum 0 (Lemma 4); DANE's a_k have this mean "
        "too where all n_k are equal",
    ),
    section("Lemma 4", LEARNING)(
        "",
        identity(Quantity("(sum_k(g_k^(t+1)), sum_k(g_k^0))", _sums), Quantity("(sum_k(g_k^t), 0)", _sums_before)),
        "sum of the g_k stays 0",
        kind="invariant",
        tex=r"\sum_{k=1}^Kg_k^t=0",
        reading="by induction: w^0 and g_k^0 are those of lines 4 and 5, with (K/n) X_k alpha_k^0 any vectors",
    ),
)


def _xi(f: LinearModels, h: Array) -> Array:
    """|Xh|^2."""
    return (f.combined(h) ** 2).sum(axis=-1)


def _in_blocks(f: LinearModels, h: Array) -> Array:
    """|h|_B^2 = sum_k |X_k h_k|^2."""
    return (f.per_client(h[..., None] * f.X, -2) ** 2).sum(axis=(-1, -2))


def _alone(f: LinearModels, h: Array) -> Array:
    """h, and 0 on the examples of all clients but the first."""
    return np.where(f.owner == 0, h, 0 * h)


def _xi_alone(f: LinearModels, h: Array) -> Array:
    """|X h|^2 for the part of h that the first client holds."""
    return _xi(f, _alone(f, h))


def _in_blocks_alone(f: LinearModels, h: Array) -> Array:
    """|h|_B^2 for the part of h that the first client holds."""
    return _in_blocks(f, _alone(f, h))


def _of_step(function: Any) -> Any:
    def quantity(problem: LinearProblem, params: object, state: Duals) -> Array:
        return function(problem.f, state.alpha - dual_optimum(problem))

    quantity.__doc__ = function.__doc__
    return quantity


class Stepping(NamedTuple):
    """``alpha``, ``h (..., n)``: dual variables and a step; ``c (...)``: (1/n) sum_i phi_i^*(-alpha_i - h_i)."""

    alpha: Array
    h: Array
    c: Array


def _stepping(problem: LinearProblem, params: object, theta: Array) -> Stepping:
    n = problem.f.examples
    return Stepping(theta[:, None, :n], theta[:, None, n : 2 * n], theta[:, None, -1])


def _after_step(problem: LinearProblem, params: object, state: Stepping) -> Array:
    """D(alpha + h)."""
    f = problem.f
    return -_xi(f, state.alpha + state.h) / (2 * f.lam * f.examples**2) - state.c


def _lower_bound(problem: LinearProblem, params: perturbed_primal.Params, state: Stepping) -> Array:
    """-(xi(alpha) + <grad xi(alpha), h> + (sigma/2) |h|_B^2)/(lambda n^2) - (1/n) sum_i phi_i^*(-alpha_i - h_i)."""
    f, alpha, h = problem.f, state.alpha, state.h
    image = f.combined(alpha)
    model = (image**2).sum(axis=-1) / 2 + (image * f.combined(h)).sum(axis=-1) + params.sigma * _in_blocks(f, h) / 2
    return -model / (f.lam * f.examples**2) - state.c


def _sparse(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    return clients_of(rng, kind, bool(rng.random() < 0.5))


def _most_nodes(problem: LinearProblem, params: object) -> int:
    """max_j omega^j: the largest number of nodes that hold a feature."""
    f = problem.f
    held: Array = f.per_client((f.X != 0).astype(int), 0) > 0
    return int(held.sum(axis=0).max())


omega = sympy.Symbol("omega", integer=True, positive=True)
_square, _blocks = sympy.Symbol("|Xh|^2"), sympy.Symbol("|h|_B^2")
_square_alone, _blocks_alone = sympy.Symbol("|X h_1|^2"), sympy.Symbol("|h_1|_B^2")
_bound, _value = sympy.Symbol("model(h)"), sympy.Symbol("D(alpha+h)")
ANY_STEP = setting("any data on any nodes, X != 0, any h", RidgeInstances(states=DUALS), letters(K, gamma))
STEPPING = setting(
    "any data on any nodes, any alpha and h, and any number for (1/n) sum_i phi_i^*(-alpha_i - h_i)",
    RidgeInstances(
        of_primal,
        States(lambda problem: 2 * problem.f.examples + 1, _stepping),
        ADMISSIBLE_SIGMA,
        clients=few,
    ),
    {**letters(lamda, gamma), sigma: "sigma"},
)
#: Data most of whose entries are 0.
SPARSE = setting(
    "any data on any nodes, of one feature an example in every other data set; any h",
    RidgeInstances(states=DUALS, clients=_sparse),
    {omega: _most_nodes, **letters(gamma)},
)


_A3 = "Appendix A.3"
SQUARE = Quantity(_square, _of_step(_xi))
BLOCKS = Quantity(_blocks, _of_step(_in_blocks))
SQUARE_ALONE = Quantity(_square_alone, _of_step(_xi_alone))
BLOCKS_ALONE = Quantity(_blocks_alone, _of_step(_in_blocks_alone))
BOUND = Quantity(_bound, _lower_bound)
VALUE = Quantity(_value, _after_step)

appendix_a3 = section("Appendix A.3", ANY_STEP, id="")
APPENDIX_A3 = (
    *conjugates.DUALITY,
    conjugates.CONCAVITY,
    appendix_a3(
        "sigma",
        Inequality(
            _square,
            K * _blocks,
            (SQUARE, BLOCKS, SQUARE_ALONE, BLOCKS_ALONE),
            also=(Comparison(_blocks_alone, "<=", _square_alone),),
        ),
        "X'X <= sigma B with 1 <= sigma <= K",
        tex=r"1\leq\sigma\leq K",
        reading="of the least sigma, for X != 0: at most K, since |Xh|^2 <= K |h|_B^2 for all h; at least 1, since "
        "|h_1|_B^2 <= |X h_1|^2 (they are equal) for h_1, what the first client holds of h, so that sigma < 1 would "
        "need X h_1 = 0 for all h, and so for every client. Every larger sigma has X'X <= sigma B too",
    ),
    section("Section 4.1 and Figure 1", SPARSE, id="sigma")(
        "sparsity",
        SQUARE <= omega * BLOCKS,
        "sigma <= max_j omega^j",
        tex="",
        reading="of the least sigma, which Section 4.1 calls the best sigma': |Xh|^2 <= max_j omega^j |h|_B^2 for all "
        "h, omega = max_j omega^j; where a feature is on every node the maximum is K, as the paper says of its data",
    ),
    appendix_a3(
        "lower-bound-step",
        BOUND <= VALUE,
        "separable lower bound on D(alpha + h)",
        setting=STEPPING,
        requires=(DOMINATES,),
        tex=r"D(\alpha^t+h)\geq-\frac{1}{\lambda n^2}\left(\xi(\alpha^t)+\langle\nabla\xi(\alpha^t),h\rangle+\frac{"
        r"\sigma}{2}\sum_{k=1}^K\|X_kh_k\|^2\right)-\frac{1}{n}\sum_{i=1}^n\phi_i^*(-\alpha_i^t-h_i)",
        uses=("sigma",),
        reading="for every phi: the conjugates at alpha + h are the same number on both sides",
    ),
)
