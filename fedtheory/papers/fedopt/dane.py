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
from fedtheory.instances import generic, pick
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.reached import Reached
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.papers.fedopt.data import (
    IDENTICAL,
    ONE_NODE,
    SEPARATE,
    Posed,
    count_of,
    few,
    one_of,
    solvable,
    value,
)
from fedtheory.papers.fedopt.predictors import gap, model_of, models, optimum, setting
from fedtheory.papers.fedopt.rounds import ROUNDS, few_rounds, speeds, stiff
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import Draw
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity

# Scheme (9), from the values of the functions alone


class Scheme(NamedTuple):
    """``a``: the perturbations a_k^t as a function of (problem, w); ``mu``: the local regulariser."""

    a: Any
    mu: Any


def _minimisers(problem: LinearProblem, w: Array, a: Array, mu: Any) -> Array:
    """argmin_v F_k(v) - a_k'v + (mu/2) |v - w|^2, by differences of this function, which are exact on quadratics.

    ``w (..., d)``, ``a (..., K, d) -> (..., K, d)``.
    """
    d = problem.d

    def objective(v: Array) -> Array:
        shifted = (v - w[..., None, :]) ** 2
        return problem.f.value(v) - (a * v).sum(axis=-1) + mu * shifted.sum(axis=-1) / 2

    unit = np.eye(d, dtype=int)
    centre = w[..., None, :] + 0 * a
    value = objective(centre)
    plus = np.stack([objective(centre + e) for e in unit], axis=-1)
    minus = np.stack([objective(centre - e) for e in unit], axis=-1)
    pairs = [[objective(centre + e + g) - plus[..., j] for e in unit] for j, g in enumerate(unit)]
    # Second differences: the Hessian does not depend on the state.
    H = np.stack(
        [np.stack([p - q for p, q in zip(row, np.moveaxis(plus, -1, 0), strict=True)], -1) for row in pairs], -2
    )
    H = H + value[..., None, None]
    numbers = np.vectorize(_number, otypes=[object])(H) if H.dtype == object else H
    return centre - apply(inverse(numbers), (plus - minus) / 2)


def _number(entry: Any) -> Fraction:
    """A rational function that is constant, as a fraction."""
    if isinstance(entry, int | Fraction):
        return Fraction(entry)
    constant = entry.as_expr()
    return Fraction(int(constant.p), int(constant.q))


def _scheme_step(problem: LinearProblem, params: Scheme, state: dane.State, draw: Draw) -> dane.State:
    ends = _minimisers(problem, state.w, params.a(problem, state.w), params.mu)
    return dane.State(ends.sum(axis=-2) / problem.n)


#: Scheme (9): perturbed local functions minimised and averaged.
scheme_9 = Algorithm("scheme (9)", Scheme, dane.State, dane.init, dane.draws, _scheme_step, dane.fixed_point)


def _as_scheme(problem: LinearProblem, params: dane.Params, state: dane.State) -> tuple[Scheme, dane.State]:
    """DANE's a_k = grad F_k(w^t) - eta grad f(w^t) and its mu."""

    def a(problem: LinearProblem, w: Array) -> Array:
        f = problem.f
        return f.gradient(w[..., None, :]) - params.eta * f.full_gradient(w)[..., None, :]

    return Scheme(a, params.mu), state


# Instances


def _plain(recipe: Any, problem: LinearProblem, exact: bool) -> dane.Params:
    one = Fraction(1) if exact else 1.0
    return dane.Params(0 * one, one)


def _tuned(recipe: Any, problem: LinearProblem, exact: bool) -> dane.Params:
    return dane.Params(value(recipe, "mu", exact), value(recipe, "eta", exact))


_PARAMETERS = {"mu": one_of(0, 0, "1/3", 1, 20), "eta": one_of(1, 1, "1/2", "7/10", 3)}
_MODELS = models(dane.State)
ANY_PARAMETERS = setting(
    "any data, lambda > 0; any mu >= 0 and eta, from any w^t", Posed(_tuned, _MODELS, _PARAMETERS, clients=few)
)
AT_OPTIMUM = setting(
    "any data, lambda >= 0; any mu >= 0 and eta, lambda + mu > 0, at w^t = w*",
    Posed(
        _tuned,
        optimum(dane.State),
        _PARAMETERS,
        lam=lambda rng: pick(rng, (Fraction(0), generic(rng, Fraction(1, 50), Fraction(5)))),
        plain=True,
        holds=lambda recipe, f: f.lam + recipe["mu"] > 0,
    ),
)


ONE = setting("all data on a single node, K = 1, lambda > 0; mu = 0, eta = 1", Posed(_plain, _MODELS, kind=ONE_NODE))
SAME = setting("the same data on every node, lambda > 0; mu = 0, eta = 1", Posed(_plain, _MODELS, kind=IDENTICAL))


def _line(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    """One feature, one example a node."""
    return 1, tuple(
        {"examples": ({"x": (Fraction(int(rng.integers(1, 6))),), "y": Fraction(0)},)}
        for _ in range(rng.integers(1, 6))
    )


LINE = setting(
    "one feature, one example a node, lambda >= 0; mu = 0, eta = 1",
    Posed(
        _plain,
        _MODELS,
        lam=lambda rng: Fraction(int(rng.integers(0, 2)), 4),
        plain=True,
        holds=lambda recipe, f: f.d == 1 and f.n == f.examples and solvable(recipe, f),
        clients=_line,
    ),
)

# Property B with nodes that hold nothing, and property C: for all mu and eta


def with_empty_nodes(count: int, curvature: Any) -> Algorithm:
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


def least_rate(method: Any, problem: LinearProblem, nodes: int, least: Any) -> Any:
    """A number that no mu >= 0 and eta bring the largest factor below by which a round multiplies an error, in size.

    ``nodes``: K. Along every coordinate one node has a curvature b_j >= l = ``least``, and the K - 1 others have l;
    f has H_j. A round multiplies an error by 1 - eta c_j, c_j = (H_j/K) (1/(b_j + mu) + (K-1)/(l + mu)), so that c_j (l
    + mu)/H_j is between (K-1)/K and 1. Then c_max/c_min >= r = (1 - 1/K) H_max/H_min for every mu, and the best eta
    leaves (r - 1)/(r + 1) or more. The two bounds are compared with the code; ``ValueError`` where it breaks them.
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


def _rate_with_empty_nodes(problem: LinearProblem, params: Idle, state: Any) -> Array:
    """The least factor of the worst error in a round of DANE with nodes that hold nothing, over all mu and eta."""
    ways = (problem.f.lam, 0 * problem.f.lam)
    rates = [least_rate(with_empty_nodes(params.empty, l), problem, 1 + params.empty, l) for l in ways]
    return np.asarray(min(rates))[None, None]


def _rate_apart(problem: LinearProblem, params: Any, state: Any) -> Array:
    """The least factor of the worst error in a round of DANE, over all mu and eta."""
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
    ONE_NODE, f"nodes that hold nothing besides; {_BEST}", Posed(_idle, letters={"empty": count_of(1, 2, 9)})
)
APART = stiff(SEPARATE, _BEST)


def _multiplier(problem: LinearProblem, params: dane.Params, state: dane.State) -> Array:
    """What a round multiplies w - w* by, in one dimension."""
    after = dane.step(problem, params, dane.State(problem.x_star + 1), None).w
    return (after - problem.x_star)[..., None]


_factor = Quantity(sympy.Symbol("factor", real=True), _multiplier)


def _has_property_b(where: str, gist: str, of: Setting, statement: Any, reading: str) -> Claim:
    return Claim(
        id=f"fedopt/dane/property-b#{where}",
        where="Section 3.4",
        kind="property",
        gist=gist,
        setting=of,
        statement=statement,
        reading=reading,
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

SECTION_3_4 = (
    Claim(
        id="fedopt/dane/perturbation",
        where="Section 3.4",
        kind="equivalence",
        gist="DANE is scheme (9) with its a_k",
        setting=ANY_PARAMETERS,
        statement=Agreement(
            dane.algorithm,
            scheme_9,
            _as_scheme,
            (model_of, model_of),
            "a step of DANE is a step of scheme (9) with a_k = grad F_k(w^t) - eta grad f(w^t)",
        ),
        reading="scheme (9) is run on the values of its functions alone, whose differences are exact on quadratics",
    ),
    Claim(
        id="fedopt/dane/property-a",
        where="Section 3.4",
        kind="property",
        gist="starts at the optimum, stays there (any mu, eta)",
        setting=AT_OPTIMUM,
        statement=Stays(dane.algorithm, model_of, "DANE at the optimum stays there"),
        reading="where (10) has one minimiser, as with lambda > 0: the argmin of (10) may be a set otherwise",
    ),
    Claim(
        id="fedopt/dane/property-b",
        where="Section 3.4",
        kind="property",
        gist="DANE does not have property B",
        setting=replace(ONE, text="all data on a single node, lambda > 0"),
        statement=Readings(
            "what a single node is, and what the others are, is not defined", (_ALONE, _AMONG_EMPTY), denied=True
        ),
        reading="true with K - 1 empty nodes, for all mu and eta, and false for K = 1 with mu = 0 and eta = 1",
    ),
    Claim(
        id="fedopt/dane/property-b/repaired",
        where="Section 3.4",
        kind="property",
        gist="with all data on the only node, mu = 0 and eta = 1, DANE is at the optimum after one round",
        setting=ONE,
        statement=Reached(dane.algorithm, gap),
        repairs="fedopt/dane/property-b",
    ),
    Claim(
        id="fedopt/dane/property-c",
        where="Section 3.4",
        kind="property",
        gist="DANE does not have property C",
        setting=APART,
        statement=Fails(
            few_rounds(_rate_apart), f"{ROUNDS} rounds at the best mu and eta for the data leave a quarter of the gap"
        ),
        reading=f"O(1) rounds is read as {ROUNDS} rounds to a quarter of f(w^0) - f*, for any mu and eta: as the "
        "instances are a matter of scale, no other number does. With mu = 0, eta = 1 DANE may even diverge there "
        "(see the table fedopt/properties)",
    ),
    Claim(
        id="fedopt/dane/property-d",
        where="Section 3.4",
        kind="property",
        gist="identical data sets: immediate convergence (mu = 0, eta = 1)",
        setting=SAME,
        statement=Reached(dane.algorithm, gap),
    ),
    Claim(
        id="fedopt/dane/diverges",
        where="Section 3.4",
        kind="property",
        gist="can diverge with mu = 0 as K grows",
        setting=LINE,
        statement=Fails(
            inequality(-sympy.S.One <= _factor), "a round of DANE does not multiply w - w* by a number below -1"
        ),
        reading="some data, in one dimension, where every round multiplies w - w* by the same number; on one node the "
        "same data are solved in one round (property B, repaired)",
    ),
)
