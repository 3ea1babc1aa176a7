"""FedDCD, Sections 3 and 4, with the lemmas of Appendix E on the exact method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.claims import Claim
from fedtheory.kinds.bound import bound
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.symbols import T
from fedtheory.papers.feddcd import duality
from fedtheory.papers.feddcd.dual import (
    CONSTANTS,
    CONVEX,
    DISTANCE,
    DISTANCE_T,
    DUAL_DISTANCE,
    GAP,
    GAP_0,
    GAP_T,
    LETTERS,
    NORM_Y,
    PARTICIPATION,
    SCALING,
    SETTING,
    UNIT_RATE,
    ZETA,
    L_max,
    N,
    alpha,
    beta,
    largest_curvature,
    mu_min,
    r,
    rate,
    smallest_curvature,
)
from fedtheory.problems.base import Problem
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

#: The least entry of the diagonal scaling.
Lambda_min = sympy.Symbol("Lambda_min", positive=True)
THEOREM = (CONVEX, PARTICIPATION, SCALING, UNIT_RATE)
_READING = (
    "Theorem 4.1 names no learning rate; eta = 1 as in its proof (Lemma B.8). w_i^T = grad f_i^*(y_i^T) for all i, as "
    "Lemma E.1 takes it, although Algorithm 1 computes w_i for participants only."
)


_block_L, _block_mu = sympy.symbols("block_smoothness block_convexity", real=True)


def _block_smoothness(problem: Problem, params: object, state: object) -> Any:
    """The largest L_i of G: 1 over the least curvature of an f_i."""
    return 1 / smallest_curvature(problem, params, state)


def _block_convexity(problem: Problem, params: object, state: object) -> Any:
    """The least mu_i of G: 1 over the largest curvature of an f_i."""
    return 1 / largest_curvature(problem, params, state)


_curvatures = (Quantity(_block_L, _block_smoothness), Quantity(_block_mu, _block_convexity))
_IDENTIFIED = sympy.Eq(1 - r * mu_min / L_max, rate, evaluate=False)
_identification = (
    sympy.Le(_block_L, L_max),
    sympy.Ge(_block_mu, mu_min),
    _IDENTIFIED,
)

SECTION_3 = (
    duality.SECTION_3[0],
    duality.BLOCK_SMOOTHNESS,
    duality.SECTION_3[1],
)

SECTION_4 = (
    duality.EQ_1,
    Claim(
        id="feddcd/algorithm-1/feasibility",
        where="Algorithm 1",
        gist="sum of the y_i stays 0",
        setting=replace(SETTING, letters={**LETTERS, Lambda_min: lambda problem, params: min(params.Lambda)}),
        statement=Invariant(algorithm_1.algorithm, algorithm_1.invariant, "sum_i y_i = 0"),
        requires=(PARTICIPATION,),
    ),
    Claim(
        id="feddcd/theorem-4.1/eq-3",
        where="Theorem 4.1",
        gist="expected dual gap after T rounds",
        setting=SETTING,
        statement=bound(algorithm_1.algorithm, E(GAP_T) <= rate**T * GAP_0),
        requires=THEOREM,
        reading=_READING + " G is the objective of (D): +infinity where the y_i do not sum to 0.",
    ),
    Claim(
        id="feddcd/theorem-4.1/eq-4",
        where="Theorem 4.1",
        gist="expected squared primal distance, through norm(y*)",
        setting=SETTING,
        statement=bound(algorithm_1.algorithm, E(DISTANCE_T) <= (1 / (N * alpha**2)) * rate**T * NORM_Y),
        requires=THEOREM,
        reading=_READING,
    ),
    Claim(
        id="feddcd/theorem-4.1/eq-5",
        where="Theorem 4.1",
        gist="expected squared primal distance, through zeta",
        setting=SETTING,
        statement=bound(algorithm_1.algorithm, E(DISTANCE_T) <= (1 / alpha**2) * rate**T * ZETA),
        requires=THEOREM,
        reading=_READING + " zeta is the smallest constant that Assumption 3.3 admits.",
    ),
    Claim(
        id="feddcd/theorem-4.1/proof-constants",
        where="Appendix E",
        gist="the identification of mu_min and L_max printed in the proof of Theorem 4.1",
        setting=SETTING,
        statement=ParameterRule({mu_min: 1 / beta, L_max: 1 / beta}, _identification, _curvatures),
        requires=(CONVEX, PARTICIPATION),
        literal_of="feddcd/theorem-4.1/proof-constants/repaired",
    ),
    Claim(
        id="feddcd/theorem-4.1/proof-constants/repaired",
        where="Appendix E",
        gist="mu_min = 1/beta and L_max = 1/alpha",
        setting=CONSTANTS,
        statement=ParameterRule(
            {mu_min: 1 / beta, L_max: 1 / alpha},
            (sympy.Ge(L_max, 1 / alpha), sympy.Le(mu_min, 1 / beta), _IDENTIFIED),
        ),
        requires=(Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False)), PARTICIPATION),
        reading="G is 1/alpha-smooth and 1/beta-strongly convex, block by block, which is block-smoothness; no better "
        "constants do so for all f_i",
        repairs="feddcd/theorem-4.1/proof-constants",
    ),
    duality.IDENTICAL,
)

LEMMA_E1 = (
    Claim(
        id="feddcd/lemma-E.1/exact",
        where="Lemma E.1",
        kind="bound",
        gist="primal distance through the dual gap, exact oracle",
        setting=SETTING,
        statement=inequality(DISTANCE <= 2 / (N * alpha) * GAP),
        requires=(CONVEX,),
    ),
)

LEMMA_E2 = (
    Claim(
        id="feddcd/lemma-E.2",
        where="Lemma E.2",
        gist="dual gap through the dual distance",
        setting=SETTING,
        statement=inequality(GAP <= DUAL_DISTANCE / (2 * alpha)),
        requires=(CONVEX,),
    ),
)
