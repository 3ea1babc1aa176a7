"""Federated Optimization, Sections 3.4 and 3.5: DANE, and its equivalence with naive FSVRG (Proposition 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dane, dane_svrg, naive_fsvrg
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.papers.fedopt.data import (
    IDENTICAL,
    ONE_NODE,
    SEPARATE,
    Posed,
    about,
    clients_of,
    count_of,
    one_of,
    positive,
    solvable,
    value,
)
from fedtheory.papers.fedopt.predictors import LEFT, RIGHT, TWO, Two, gap, model_of, models, optimum, setting
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import Draw
from fedtheory.rational import Array, apply, inverse
from fedtheory.statements import Agreement, Fails, Identity, Quantity, Reached, Stays, inequality

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


def _few(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    """At most two nodes with at most two examples each: all draws of two steps are enumerated."""
    return clients_of(rng, kind, single, most=2)


def _plain(recipe: Any, problem: LinearProblem, exact: bool) -> dane.Params:
    one = Fraction(1) if exact else 1.0
    return dane.Params(0 * one, one)


def _tuned(recipe: Any, problem: LinearProblem, exact: bool) -> dane.Params:
    return dane.Params(value(recipe, "mu", exact), value(recipe, "eta", exact))


_PARAMETERS = {"mu": one_of(0, 0, "1/3", 1, 20), "eta": one_of(1, 1, "1/2", "7/10", 3)}
_MODELS = models(dane.State)
ANY_PARAMETERS = setting(
    "any data, lambda > 0; any mu >= 0 and eta, from any w^t", Posed(_tuned, _MODELS, _PARAMETERS, clients=_few)
)
AT_OPTIMUM = setting(
    "any data, lambda > 0; any mu >= 0 and eta, at w^t = w*", Posed(_tuned, optimum(dane.State), _PARAMETERS)
)


class Offset(NamedTuple):
    """DANE's parameters at default, and ``start (d,)``: w^t - w*, not zero."""

    mu: Any
    eta: Any
    start: Array


def _offset(recipe: Any, problem: LinearProblem, exact: bool) -> Offset:
    start = np.array([Fraction(v) if exact else float(v) for v in recipe["start"]], dtype=object if exact else float)
    if not start.any():
        raise ValueError("the start must not be the optimum")
    return Offset(*_plain(recipe, problem, exact), start)


def _start(rng: np.random.Generator, recipe: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(v) or 1) for v in rng.integers(-2, 3, recipe["d"]))


def _after_one(problem: LinearProblem, params: Offset, state: Any) -> Array:
    """f(w^1) - f*, from a w^0 that is not the optimum."""
    after = dane.step(problem, dane.Params(params.mu, params.eta), dane.State(problem.x_star + params.start), None)
    return gap(problem, params, after)


SINGLE_NODE = setting(
    "all data on a single node, K = 1, lambda > 0; mu = 0, eta = 1; a start that is not the optimum",
    Posed(_offset, letters={"start": _start}, kind=ONE_NODE),
)
ONE = setting("all data on a single node, K = 1, lambda > 0; mu = 0, eta = 1", Posed(_plain, _MODELS, kind=ONE_NODE))
BLOCKS = setting(
    "each feature on a single node, each example has one, lambda > 0; mu = 0, eta = 1",
    Posed(_plain, _MODELS, kind=SEPARATE, single=True),
)
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

_one_round = sympy.Symbol("f(w^1)-f*", nonnegative=True)

ONE_ROUND = Quantity(_one_round, _after_one)

_ENLARGES = Fails(
    Reached(dane.algorithm, gap, share=sympy.S.One), "a round of DANE does not enlarge f(w) - f*, from any start"
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
        setting=SINGLE_NODE,
        statement=inequality(sympy.S.Zero < ONE_ROUND),
        reading="a single node is K = 1, and mu = 0, eta = 1 as printed: then DANE would leave a gap after a round. "
        "With K - 1 nodes that hold nothing besides, F_k = (lambda/2) |w|^2, DANE does not have the property: it may "
        "diverge (see the table fedopt/properties)",
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
        setting=BLOCKS,
        statement=_ENLARGES,
        reading="with mu = 0, eta = 1 as printed it diverges on some data: every example has one feature, so that an "
        "error along one feature is multiplied by the same number in every round",
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
        statement=_ENLARGES,
        reading="some data, in one dimension, on which every round multiplies w - w* by a number beyond -1; on one "
        "node the same data are solved in one round (property B, repaired)",
    ),
)

# Section 3.5


def _both(recipe: Any, problem: LinearProblem, exact: bool) -> naive_fsvrg.Params:
    return naive_fsvrg.Params(positive(recipe, "h", exact), recipe["m"])


def _through_dane(
    problem: LinearProblem, params: naive_fsvrg.Params, state: naive_fsvrg.State
) -> tuple[dane_svrg.Params, dane.State]:
    """DANE with eta = 1, mu = 0, an epoch of SVRG for its local solver, from the same w^t."""
    return dane_svrg.Params(params.h, params.m, 0, 1), dane.State(state.w)


PROPOSITION_1 = setting(
    "any data on any nodes; any h and m, from any w^t; all samples, shared",
    Posed(_both, models(naive_fsvrg.State), {"h": about("1/20", 2), "m": count_of(1, 2, 2)}, clients=_few),
)


def _bracket(printed: bool) -> Any:
    """What stands in the brackets of the proof, for every example i, at w."""

    def value(problem: LinearProblem, params: Any, state: Two) -> Array:
        f = problem.f
        own, full = f.gradient(state.w_t[..., None, :])[..., f.owner, :], f.full_gradient(state.w_t)[..., None, :]
        of_examples = _example_gradients(problem, state.w)
        return of_examples - own - full if printed else of_examples - own + full

    sign = "-" if printed else "+"
    value.__doc__ = f"grad f_i(w) - grad F_k(w^t) {sign} grad f(w^t), for every i in P_k"
    return value


def _example_gradients(problem: LinearProblem, w: Array) -> Array:
    f = problem.f
    slopes = f.loss.slope(f.predictions(w), f.y)
    return slopes[..., None] * f.X + f.lam * w[..., None, :]


def _of_summand(problem: LinearProblem, params: Any, state: Two) -> Array:
    """Gradient at w of f_i(w) - (grad F_k(w^t) - grad f(w^t))'w, the summands of (10) with eta = 1 and mu = 0.

    By differences, which are exact on quadratics.
    """
    f = problem.f
    a = f.gradient(state.w_t[..., None, :])[..., f.owner, :] - f.full_gradient(state.w_t)[..., None, :]

    def value(w: Array) -> Array:
        losses = f.loss.value(f.predictions(w), f.y) + f.lam * (w**2).sum(axis=-1)[..., None] / 2
        return losses - (a * w[..., None, :]).sum(axis=-1)

    unit = np.eye(f.d, dtype=int)
    return np.stack([(value(state.w + e) - value(state.w - e)) / 2 for e in unit], axis=-1)


SUMMANDS = setting("any data on any nodes; any w and w^t", Posed(states=TWO))


def _gradient_claim(id: str, gist: str, printed: bool, reading: str, repairs: str | None = None) -> Claim:
    left, right = Quantity(LEFT, _bracket(printed)), Quantity(RIGHT, _of_summand)
    where = "proof of Proposition 1"
    return Claim(
        id=id,
        where=where,
        gist=gist,
        setting=SUMMANDS,
        statement=Identity(LEFT, RIGHT, (left, right)),
        reading=reading,
        repairs=repairs,
    )


SECTION_3_5 = (
    Claim(
        id="fedopt/proposition-1",
        where="Proposition 1",
        kind="equivalence",
        gist="DANE (eta = 1, mu = 0) solved by one SVRG epoch is naive FSVRG, sample by sample",
        setting=PROPOSITION_1,
        statement=Agreement(
            naive_fsvrg.algorithm,
            dane_svrg.algorithm,
            _through_dane,
            (model_of, model_of),
            "Algorithm 3 and DANE with an epoch of SVRG go to the same w^(t+1), for all samples",
        ),
        reading="a single iteration of SVRG is one outer iteration of Algorithm 1, of m steps; the samples are the "
        "same (Remark 2)",
    ),
    _gradient_claim(
        "fedopt/proposition-1/gradient",
        "the stochastic gradient of (10), signs as printed",
        True,
        "the brackets are the gradients of the summands of (10), at w and at w^t; f(w^t) in them is a number where a "
        "vector is needed, and read as grad f(w^t). That the difference of the two brackets is that of the grad f_i "
        "holds whatever stands there",
    ),
    _gradient_claim(
        "fedopt/proposition-1/gradient/repaired",
        "grad f_i(w) - grad F_k(w^t) + grad f(w^t) is the gradient of the i-th summand of (10)",
        False,
        "eta = 1, mu = 0",
        "fedopt/proposition-1/gradient",
    ),
)
