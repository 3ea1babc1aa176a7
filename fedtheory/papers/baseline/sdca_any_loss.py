"""A step of SDCA for all convex and 1/gamma-smooth phi_i; it is run, on squared losses, in the module on SAG and SDCA.

As in :mod:`fedtheory.papers.fedopt.dual_steps` dual variables are known by slopes: x_i alpha_i with a minus is the
slope of L_i(w) = phi_i(x_i'w) at some point v_i, and phi_i^*(-alpha_i) is at least <v_i, slope> less L_i(v_i). L_i is
convex and beta-smooth, beta = max_i |x_i|^2/gamma. The functions of a problem here are L_i with lambda <x*, w> added to
each, so that x*, the minimiser of P, is one of their sum.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import Algorithm, no_step
from fedtheory.claims import Claim
from fedtheory.classes import SmoothConvex
from fedtheory.instances import Recipe, generic, number
from fedtheory.kinds.inequality import inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.baseline.rivals import n
from fedtheory.papers.fedopt.dual_steps import Losses
from fedtheory.papers.fedopt.predictors import lamda
from fedtheory.problems.base import Problem, everywhere
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity


class Params(NamedTuple):
    """``lamda``: the strength of the regulariser."""

    lamda: Scalar


class State(NamedTuple):
    """``v (..., n, d)``: where the L_i have the slopes of alpha; ``E``: vectors, by whose squares the conjugates are
    more than the least."""

    v: Array
    E: Array


def _init(problem: Problem, params: Params, v: Array, E: Array) -> State:
    return State(v, E)


def _centre(problem: Problem, params: Params) -> State:
    x = np.broadcast_to(problem.x_star, (problem.n, problem.d))
    return State(x, 0 * x)


def _losses(problem: Problem, params: Params) -> Losses:
    return Losses(problem, params.lamda * problem.x_star, params.lamda * problem.n)


def _model(problem: Problem, params: Params, v: Array) -> Array:
    """w = X alpha/(lambda n), ``(..., d)``."""
    return -_losses(problem, params).slope(v).sum(axis=-2) / (params.lamda * problem.n)


def _dual(problem: Problem, params: Params, v: Array, E: Array) -> Array:
    """D(alpha)."""
    conjugates = (_losses(problem, params).conjugate(v) + square(E)).sum(axis=-1) / problem.n
    return -params.lamda / 2 * square(_model(problem, params, v)) - conjugates


def _gap(problem: Problem, params: Params, state: State) -> Array:
    """D* - D(alpha)."""
    best = _dual(problem, params, np.broadcast_to(problem.x_star, (problem.n, problem.d)), 0 * state.E)
    return best - _dual(problem, params, state.v, state.E)


def _gains(problem: Problem, params: Params, state: State) -> Array:
    """n times what D gains where alpha_i becomes the best there is, for each i, ``(..., n)``."""
    losses, w = _losses(problem, params), _model(problem, params, state.v)[..., None, :]
    best = losses.root(losses.slope(state.v) + losses.shift * w)
    h = losses.slope(state.v) - losses.slope(best)
    spent: Array = (w * h).sum(axis=-1) + square(h) / (2 * losses.shift)
    return losses.conjugate(state.v) + square(state.E) - losses.conjugate(best) - spent


def _gap_after(problem: Problem, params: Params, state: State) -> Array:
    """E[D* - D(alpha_next)], over the example that is drawn."""
    return _gap(problem, params, state) - _gains(problem, params, state).sum(axis=-1) / problem.n**2


def _duality_gap(problem: Problem, params: Params, state: State) -> Array:
    """P(w) - D(alpha)."""
    w = _model(problem, params, state.v)
    primal = _losses(problem, params).value(everywhere(problem, w)).sum(axis=-1) / problem.n
    return primal + params.lamda / 2 * square(w) - _dual(problem, params, state.v, state.E)


def _draw(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {**recipe, "lamda": generic(rng, Fraction(1, 50), Fraction(5))}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    if recipe["lamda"] <= 0:
        raise ValueError("lambda must be positive")
    return Params(number(recipe["lamda"], exact))


beta = sympy.Symbol("beta", positive=True)
_CLASS = SmoothConvex(beta)
SETTING = Setting(
    "phi_i convex and 1/gamma-smooth on any examples, beta = max_i |x_i|^2/gamma; any lambda > 0, any alpha",
    letters={beta: "L", n: "n", lamda: "lamda"},
    algorithm=Algorithm("a step of SDCA", Params, State, _init, no_step, no_step, _centre),
    functions=_CLASS,
    drawing=Drawing(classes_stated=True, draw=_draw, parameters=_parameters),
    clients=(1, 2, 2, 3),
)
CONVEX = Hypothesis("phi_i is convex and 1/gamma-smooth", met=_CLASS.contains)
AFTER, BEFORE, PRIMAL_DUAL = (
    Quantity(sympy.Symbol(name), of)
    for name, of in (("E[D*-D(alpha_next)]", _gap_after), ("D*-D(alpha)", _gap), ("P(w)-D(alpha)", _duality_gap))
)
_WHERE = "Shalev-Shwartz, Zhang 2013, proof of Theorem 5"
#: The share of the gap that a step removes: lambda gamma/(1 + lambda gamma n) where |x_i| <= 1.
SHARE = lamda / (lamda * n + beta)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="baseline/sdca/one-step/any-loss",
        where=_WHERE,
        gist="expected contraction of the dual gap of SDCA, for all smooth losses",
        origin="observed",
        setting=SETTING,
        statement=inequality((1 - SHARE) * BEFORE >= AFTER),
        requires=(CONVEX,),
        reading="the example is drawn from all n, and its dual variable becomes the best there is",
    ),
    Claim(
        id="baseline/sdca/duality-gap/any-loss",
        where=_WHERE,
        gist="the duality gap is at most n + 1/(lambda gamma) times what a step gains, for all smooth losses",
        origin="observed",
        setting=SETTING,
        statement=inequality(AFTER <= BEFORE - SHARE * PRIMAL_DUAL),
        requires=(CONVEX,),
        reading="the example is drawn from all n, and its dual variable becomes the best there is",
    ),
)
