"""SAG and SDCA, with which Federated Optimization compares: their own theorems, in each paper's letters.

SAG minimises (1/n) sum_i f_i(x), SDCA P(w) = (1/n) sum_i phi_i(x_i'w) + (lambda/2) |w|^2 by its dual D.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import sag, sdca
from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.one_step import OneStep, one_step
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import Min
from fedtheory.papers.baseline import finite_sum, potentials
from fedtheory.papers.baseline.rival_settings import L, mu, n
from fedtheory.papers.fedopt.data import RidgeInstances, States
from fedtheory.papers.fedopt.predictors import ANY_GAMMA, LOSSES, dual_gap, dual_optimum, gamma, lamda, letters
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

# SAG


def _gap(problem: Problem, params: sag.Params, state: sag.State) -> Array:
    """f(x) - f*."""
    return potentials.gap(problem, state.x)


def _distance(problem: Problem, params: sag.Params, state: sag.State) -> Array:
    """|x - x*|^2."""
    return potentials.distance(problem, state.x)


def _variance(problem: Problem, params: sag.Params, state: sag.State) -> Array:
    """(1/n) sum_i |grad f_i(x*)|^2."""
    return (problem.y_star**2).sum(axis=(-1, -2)) / problem.n


def _centred(problem: Problem, params: sag.Params, x: Array | None = None) -> sag.State:
    """y_i^0 = grad f_i(x^0) - grad f(x^0)."""
    start = sag.init(problem, params, x)
    return start._replace(y=sag.centred(problem, start.x))


alpha = sympy.Symbol("alpha", positive=True)
_SAG = replace(
    finite_sum.SVRG,
    letters={mu: "mu", L: "L", n: "n", alpha: "alpha"},
    algorithm=sag.algorithm,
    drawing=replace(finite_sum.SVRG.drawing, start=("x",)),
)
_CENTRED = replace(_SAG, algorithm=replace(sag.algorithm, init=_centred))
_gap_T, _gap_0, _dist, _noise = (sympy.Symbol(s) for s in ("f(x^T)-f*", "f(x^0)-f*", "|x^0-x*|^2", "sigma^2"))
_QUANTITIES = (Quantity(_gap_T, _gap, after=True), Quantity(_gap_0, _gap), Quantity(_dist, _distance))
_RATE = 1 - Min(mu / (16 * L), 1 / (8 * n))
_STEP = Hypothesis("alpha = 1/(16 L)", sympy.Eq(alpha, 1 / (16 * L), evaluate=False))


def _sag(name: str, gist: str, of: Setting, initial: sympy.Expr, quantities: tuple[Quantity, ...]) -> Claim:
    assert of.algorithm is not None
    statement = Bound(of.algorithm, _gap_T, _RATE, initial, quantities)
    where = "Schmidt, Le Roux, Bach 2017, Theorem 1"
    return Claim(
        id=f"baseline/sag/{name}",
        where=where,
        gist=gist,
        origin="implied",
        setting=of,
        statement=statement,
        requires=(finite_sum.AVERAGE, _STEP),
    )


# SDCA

#: Vectors of length at most 1, of length 1 among them, and longer ones that a theorem does not allow.
_VECTORS = (("1", "0"), ("0", "1"), ("3/5", "4/5"), ("4/5", "-3/5"), ("1/2", "1/2"), ("1/10", "0"), ("1", "0"))


def _unit(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    """One node; examples of length at most 1, now and then one that is longer."""
    found = []
    for _ in range(int(rng.integers(1, 6))):
        x = tuple(Fraction(v) for v in _VECTORS[int(rng.integers(len(_VECTORS)))])
        longer = Fraction(int(rng.integers(2, 4)), 2) if rng.random() < 0.05 else Fraction(1)
        found.append({"x": tuple(longer * v for v in x), "y": Fraction(int(rng.integers(-3, 4)))})
    return 2, ({"examples": tuple(found)},)


SDCA = Setting(
    f"{LOSSES}, any alpha",
    letters=letters(lamda, gamma, n),
    drawing=Drawing(
        special=RidgeInstances(
            lambda recipe, problem, exact: sdca.Params(),
            States(
                lambda problem: problem.f.examples,
                lambda problem, params, theta: sdca.State(dual_optimum(problem) + theta[:, None]),
            ),
            ANY_GAMMA,
            clients=_unit,
        ).instances
    ),
    hints=Hints(complete=True),
)
_SHORT = Hypothesis("|x_i| <= 1", met=lambda problem, params: problem.f.squared_norms.max() <= 1)  # type: ignore[attr-defined]


def _duality_gap(problem: LinearProblem, params: sdca.Params, state: sdca.State) -> Array:
    """P(w) - D(alpha), w = X alpha/(lambda n)."""
    return problem.f.objective(problem.f.primal(state.alpha)) - problem.f.dual(state.alpha)


_D_next, _D, _P_D = (sympy.Symbol(s) for s in ("D*-D(alpha_next)", "D*-D(alpha)", "P(w)-D(alpha)"))
_AFTER, _BEFORE = Quantity(_D_next, dual_gap, after=True), Quantity(_D, dual_gap)
_SDCA_WHERE = "Shalev-Shwartz, Zhang 2013, proof of Theorem 5"
_RIDGE = "tested on quadratic losses"

CLAIMS: tuple[Claim, ...] = (
    _sag(
        "zero-table",
        "linear rate of SAG from a table of gradients that are 0",
        _SAG,
        _gap_0 + 4 * L * _dist / n + _noise / (16 * L),
        (*_QUANTITIES, Quantity(_noise, _variance)),
    ),
    _sag(
        "centred-table",
        "linear rate of SAG from a table of the gradients at x^0, less their mean",
        _CENTRED,
        3 * _gap_0 / 2 + 4 * L * _dist / n,
        _QUANTITIES,
    ),
    Claim(
        id="baseline/sdca/one-step",
        where=_SDCA_WHERE,
        gist="expected contraction of the dual gap of SDCA",
        origin="observed",
        setting=SDCA,
        statement=one_step(sdca.algorithm, E(_AFTER) <= (1 - lamda * gamma / (1 + lamda * gamma * n)) * _BEFORE),
        requires=(_SHORT,),
        reading=_RIDGE,
    ),
    Claim(
        id="baseline/sdca/duality-gap",
        where=_SDCA_WHERE,
        gist="the duality gap is at most n + 1/(lambda gamma) times what a step gains",
        origin="observed",
        setting=SDCA,
        statement=OneStep(
            sdca.algorithm,
            _D_next,
            _D - _P_D / (n + 1 / (lamda * gamma)),
            (_AFTER, _BEFORE, Quantity(_P_D, _duality_gap)),
        ),
        requires=(_SHORT,),
        reading="P(w) - D(alpha) <= (n + 1/(lambda gamma)) E[D(alpha_next) - D(alpha)]; " + _RIDGE,
    ),
)
