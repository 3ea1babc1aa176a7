"""Federated Optimization, Section 3.4: DANE as scheme (9), and which of the properties A to D it has."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dane
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.reached import Reached
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.any_functions import (
    COPIES,
    CURVATURES,
    LOCALS,
    SMOOTH_AND_STRONG,
    SOLVABLE,
    Nodes,
    Solvable,
    copies_of,
    least_share,
    locals_of,
)
from fedtheory.papers.fedopt.data import (
    ONE_NODE,
    SEPARATE,
    RidgeInstances,
    count_of,
)
from fedtheory.papers.fedopt.predictors import K, Model, gap, models, section, setting
from fedtheory.papers.fedopt.rounds import ROUNDS, few_rounds, speeds, stiff
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.randomness import Draw
from fedtheory.settings import Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# On any F_k for which (10) can be solved


def _at(problem: Problem, params: Solvable, w: Array) -> dane.State:
    """A round of DANE from w."""
    return dane.step(locals_of(problem, params), dane.Params(params.mu, params.eta), dane.State(w), None)


def _ends(problem: Problem, params: Solvable, state: Model) -> Array:
    """The w_k of DANE, ``(..., K, d)``, and their mean."""
    on = locals_of(problem, params)
    a = dane.perturbation(on, dane.Params(params.mu, params.eta), state.w)
    return dane.perturbed_minimisers(on, state.w, a, params.mu)


def _slopes(problem: Problem, params: Solvable, state: Model) -> Array:
    """grad F_k(w_k) + mu (w_k - w^t) for all k, and after them w^(t+1): ``(..., K+1, d)``."""
    ends, w = _ends(problem, params, state), state.w[..., None, :]
    slopes = locals_of(problem, params).f.gradient(ends) + params.mu * (ends - w)
    return np.concatenate([slopes, _at(problem, params, state.w).w[..., None, :]], axis=-2)


def _scheme(problem: Problem, params: Solvable, state: Model) -> Array:
    """The a_k = grad F_k(w^t) - eta grad f(w^t), and after them (1/K) sum_k w_k: ``(..., K+1, d)``."""
    f = locals_of(problem, params).f
    a = f.gradient(state.w[..., None, :]) - params.eta * f.full_gradient(state.w)[..., None, :]
    mean = _ends(problem, params, state).sum(axis=-2) / problem.n
    return np.concatenate([a, mean[..., None, :]], axis=-2)


def _left(problem: Problem, params: Solvable, state: Model) -> Array:
    """|w^(t+1) - w*|^2 after a round of DANE from w*."""
    return square(_at(problem, params, problem.x_star).w - problem.x_star)


def _after_one(problem: Problem, params: Nodes, state: Model) -> Array:
    """|w^(t+1) - w*|^2 after a round of DANE with mu = 0 and eta = 1 on the same function everywhere."""
    return square(
        dane.step(copies_of(problem, params), dane.Params(0, 1), dane.State(state.w), None).w - problem.x_star
    )


class Perturbed(NamedTuple):
    """``w (..., d)``: w^t; ``a (..., K, d)``: the vectors a_k of scheme (9)."""

    w: Array
    a: Array


def _unperturbed(problem: Problem, params: Solvable) -> Perturbed:
    return Perturbed(problem.x_star, np.zeros((problem.n, problem.d), dtype=int))


def _missed_by(problem: Problem, params: Solvable, state: Perturbed) -> Array:
    """sum_k |w_k - w*|^2."""
    ends = dane.perturbed_minimisers(locals_of(problem, params), state.w, state.a, params.mu)
    return square(ends - problem.x_star[..., None, :]).sum(axis=-1)


def _off_by(problem: Problem, params: Solvable, state: Perturbed) -> Array:
    """sum_k |(K n_k/n) (a_k - grad F_k(w*) - mu (w* - w^t))|^2."""
    star = problem.x_star[..., None, :] + 0 * state.a
    off = state.a - locals_of(problem, params).f.gradient(star) - params.mu * (star - state.w[..., None, :])
    return square(problem.n * params.weights[:, None] * off).sum(axis=-1)


_missed, _off = sympy.symbols("sum_k|w_k-w*|^2 sum_k|(K*n_k/n)(a_k-grad_F_k(w*)-mu(w*-w^t))|^2")
_MISSED, _OFF = Quantity(_missed, _missed_by), Quantity(_off, _off_by)
_GONE = sympy.Symbol("|w^(t+1)-w*|^2")
_ANY_LOCALS = replace(LOCALS, letters={**LOCALS.sources, least_share: lambda problem, params: min(params.weights)})
_PERTURBED = replace(
    _ANY_LOCALS, text=f"{LOCALS.text}, and any a_k", algorithm=points(Perturbed, Solvable, _unperturbed)
)
ONE_NODE_ALONE = Hypothesis("K = 1", sympy.Eq(K, 1, evaluate=False))


# Instances


def _plain(recipe: object, problem: LinearProblem, exact: bool) -> dane.Params:
    one = Fraction(1) if exact else 1.0
    return dane.Params(0 * one, one)


_MODELS = models(dane.State)
ONE = setting(
    "all data on a single node, K = 1, lambda > 0; mu = 0, eta = 1", RidgeInstances(_plain, _MODELS, kind=ONE_NODE)
)


# Property B with nodes that hold nothing, and property C: for all mu and eta


def with_empty_nodes(count: int, curvature: object) -> Algorithm:
    """DANE on the data of one node and ``count`` more that hold none, F_k = (``curvature``/2) |w|^2.

    Eq. (6) is 0/0 for those; the curvature is lambda if the regulariser is theirs too, else 0, which needs mu > 0. Such
    a node returns w - eta grad f(w)/(curvature + mu).
    """

    def step(problem: LinearProblem, params: dane.Params, state: dane.State, draw: Draw) -> dane.State:
        full = dane.step(problem, params, state, draw).w
        idle = state.w - params.eta * problem.f.full_gradient(state.w) / (curvature + params.mu)
        return dane.State((full + count * idle) / (count + 1))

    return replace(dane.algorithm, name="DANE with empty nodes", step=step)


#: Values of mu at which the argument of :func:`least_rate` is compared with what the code does.
_TRIED = (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(100))


def least_rate(method: object, problem: LinearProblem, nodes: int, least: Scalar) -> Scalar:
    """A number that no mu >= 0 and eta bring the largest factor below by which a round multiplies an error, in size.

    ``nodes``: K. Along every coordinate one node has a curvature b_j >= l = ``least``, and the K - 1 others have l;
    f has H_j. A round multiplies an error by 1 - eta c_j, c_j = (H_j/K) (1/(b_j + mu) + (K-1)/(l + mu)), so that c_j (l
    + mu)/H_j is between (K-1)/K and 1. Then c_max/c_min >= r = (1 - 1/K) H_max/H_min for every mu, and the best eta
    leaves (r - 1)/(r + 1) or more. The two bounds are compared with the code. Raise ``ValueError`` if it breaks them.
    """
    f = problem.f
    H = np.diagonal(np.matmul(f.X.T, f.X)) / f.examples + f.lam
    for mu in (mu for mu in _TRIED if least + mu > 0):
        shift = mu if f.exact else float(mu)
        c = speeds(method, problem, partial(dane.Params, shift), None)
        share = c * (least + shift) / H
        if not (share <= 1 + (0 if f.exact else 1e-9)).all() or not (share * nodes >= nodes - 1 - 1e-9).all():
            raise ValueError("a round does not multiply the errors as on one node of K")
    ratio = (nodes - 1) * H.max() / (nodes * H.min())
    return max(ratio - 1, 0 * ratio) / (ratio + 1)


def _rate_with_empty_nodes(problem: LinearProblem, params: Idle, state: object) -> Array:
    """The least factor of the worst error in a round of DANE with nodes that hold nothing, over all mu and eta."""
    ways = (problem.f.lam, 0 * problem.f.lam)
    rates = [least_rate(with_empty_nodes(params.empty, l), problem, 1 + params.empty, l) for l in ways]
    return np.asarray(min(rates))[None, None]


def _rate_apart(problem: LinearProblem, params: object, state: object) -> Array:
    """A lower bound, over all mu and eta, on the worst error that a round of DANE leaves."""
    return np.asarray(least_rate(dane, problem, problem.f.n, problem.f.lam))[None, None]


class Idle(NamedTuple):
    """``empty``: how many nodes hold nothing."""

    empty: int


def _idle(recipe: Any, problem: LinearProblem, exact: bool) -> Idle:
    if recipe["empty"] < 1:
        raise ValueError("a node must be empty")
    return Idle(recipe["empty"])


_BEST = "the best mu >= 0 and eta"
ONE_OF_MANY = stiff(
    ONE_NODE, f"nodes that hold nothing besides; {_BEST}", RidgeInstances(_idle, letters={"empty": count_of(1, 2, 9)})
)


#: For the example on the first node, in units of the number of rounds: it is enough.
_STRETCH = 7


def _far_apart(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    """Two nodes with an example of one feature each."""
    rounds = int(rng.integers(1, 10) * 10 ** rng.integers(0, 3))
    one, zero = Fraction(1), Fraction(0)
    rows = ((_STRETCH * rounds * one, zero), (zero, one))
    return 2, tuple({"examples": ({"x": x, "y": zero},)} for x in rows)


def _rounds_of(f: LinearModels) -> Any:
    return f.X[0, 0] / _STRETCH


def _is_apart(recipe: object, f: LinearModels) -> bool:
    apart = f.X.shape == (2, 2) and f.X[0, 1] == f.X[1, 0] == 0 and f.X[1, 1] == 1
    return bool(apart and _rounds_of(f) >= 1 and _rounds_of(f) % 1 == 0)


R = sympy.Symbol("R", integer=True, positive=True)
APART = setting(
    f"for every R >= 1: x = ({_STRETCH}R, 0) on the first of two nodes, (0, 1) on the second, lambda = 1; any mu >= 0 "
    "and eta",
    RidgeInstances(
        kind=SEPARATE,
        lam=lambda rng: Fraction(1),
        holds=lambda recipe, f: f.lam == 1 and _is_apart(recipe, f),
        clients=_far_apart,
    ),
    {R: lambda problem, params: _rounds_of(problem.f)},
)


def _has_property_b(where: str, gist: str, of: Setting, statement: Any, reading: str) -> Claim:
    return section("Section 3.4", of, id="dane")(
        f"property-b#{where}", statement, gist, kind="property", origin="", reading=reading
    )


_ALONE = _has_property_b(
    "alone",
    "K = 1: DANE has property B, with mu = 0 and eta = 1 in one round",
    ONE,
    Reached(dane.algorithm, gap),
    "a single node is the only one, as where the paper writes K = 1",
)
_AMONG_EMPTY = _has_property_b(
    "among-empty-nodes",
    f"K - 1 nodes hold nothing: DANE has property B, {ROUNDS} rounds at the best mu and eta leave a quarter of the gap",
    ONE_OF_MANY,
    few_rounds(_rate_with_empty_nodes),
    "the extreme of unbalanced data; F_k is (lambda/2) |w|^2 or 0 where eq. (6) is 0/0",
)

section_34 = section("Section 3.4", _ANY_LOCALS, id="dane")
SECTION_3_4 = (
    section_34(
        "perturbation",
        identity(
            Quantity("(grad F_k(w_k)+mu(w_k-w^t), w^(t+1))", _slopes), Quantity("(a_k, (1/K) sum_k w_k)", _scheme)
        ),
        "DANE is scheme (9) with its a_k",
        kind="equivalence",
        tex=r"a_k^t=\nabla F_k(w^t)-\eta\nabla f(w^t)",
        reading="a w_k where the gradient of F_k(v) - a_k'v + (mu/2) |v - w^t|^2 vanishes is its minimiser, which "
        "scheme (9) averages, with a_k = grad F_k(w^t) - eta grad f(w^t)",
    ),
    section_34(
        "property-a",
        Quantity(_GONE, _left) <= sympy.S.Zero,
        "starts at the optimum, stays there (any mu, eta)",
        kind="property",
        setting=replace(_ANY_LOCALS, text=LOCALS.text.removesuffix(", any w") + ", at w^t = w*"),
        requires=(SOLVABLE,),
        tex=r"\nabla f(w^t)=0",
        uses=("dane/perturbation",),
        reading="where (10) has one minimiser: the argmin of (10) may be a set otherwise",
    ),
    section_34(
        "property-b",
        Readings("what a single node is, and what the others are, is not defined", (_ALONE, _AMONG_EMPTY), denied=True),
        "DANE does not have property B",
        kind="property",
        setting=replace(ONE, text="all data on a single node, lambda > 0"),
        tex=r"\mathcal{O}(1)",
        uses=("dane/perturbation",),
        reading="true with K - 1 empty nodes, for all mu and eta, and false for K = 1 with mu = 0 and eta = 1",
        flaw="No proof is printed. With K = 1, mu = 0 and eta = 1 the perturbation grad F_1 - grad f is zero, the "
        "subproblem (10) is the problem itself, and its exact solution is the optimum: one round. Among nodes "
        "that hold nothing DANE does lack the property.",
    ),
    section_34(
        "property-b/repaired",
        Quantity(_GONE, _after_one) <= sympy.S.Zero,
        "with all data on the only node, mu = 0 and eta = 1, DANE is at the optimum after one round",
        kind="property",
        setting=COPIES,
        requires=(SMOOTH_AND_STRONG, ONE_NODE_ALONE),
        repairs="dane/property-b",
    ),
    section_34(
        "property-c",
        sympy.Rational(1, 2) <= Quantity(sympy.Symbol("rate", real=True), _rate_apart) ** (2 * R),
        "DANE does not have property C",
        kind="property",
        setting=APART,
        tex=r"\mathcal{O}(1)",
        reading="for every number of rounds R there are data on which R rounds leave half of f(w^0) - f* from some "
        "w^0, whatever mu and eta are, even those that are best for the data; at least that share, since rate is what "
        "all mu and eta leave of the worst error in a round. With mu = 0, eta = 1 DANE may even diverge there "
        "(see the table fedopt/properties)",
    ),
    section_34(
        "property-d",
        Quantity(_GONE, _after_one) <= sympy.S.Zero,
        "identical data sets: immediate convergence (mu = 0, eta = 1)",
        kind="property",
        setting=COPIES,
        requires=(SMOOTH_AND_STRONG,),
        tex=r"\mu=0, \quad \eta=1",
        uses=("dane/perturbation",),
        reading="identical data make identical F_k, whatever the losses are; of (10) with mu = 0 and eta = 1 it is "
        "then asked that F_k be strongly convex",
    ),
)

STATIONARITY = section_34(
    "stationarity",
    Inequality(CURVATURES[0] ** 2 * _missed, CURVATURES[1] ** 2 * _missed, (_MISSED, _OFF), middle=_off),
    "w* solves the subproblem if and only if a_k = grad F_k(w*) + mu (w* - w^t)",
    kind="equivalence",
    setting=_PERTURBED,
    requires=(SOLVABLE,),
    tex=r"a_k^t=\nabla F_k(w^*)+\mu(w^*-w^t)",
    reading="of the minimisers w_k of scheme (9), for any a_k: they are w* if and only if all a_k are as stated, since "
    "either sum is 0 where the other is",
)
