"""FedDCD, Sections 3 and 4, with the lemmas of Appendix E on the exact method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.kinds.bound import bound
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
    section,
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

theorem_41 = section("Theorem 4.1", SETTING, *THEOREM)
appendix_e = section("Appendix E", SETTING, CONVEX, PARTICIPATION, id="theorem-4.1/proof-constants")
SECTION_4 = (
    duality.EQ_1,
    section(
        "Algorithm 1",
        replace(SETTING, letters={**LETTERS, Lambda_min: lambda problem, params: min(params.Lambda)}),
        PARTICIPATION,
    )(
        "feasibility",
        Invariant(algorithm_1.algorithm, algorithm_1.invariant, "sum_i y_i = 0"),
        "sum of the y_i stays 0",
        tex=r"\sum_{i=1}^{N}y_i^{(t)}=0",
    ),
    theorem_41(
        "eq-3",
        bound(algorithm_1.algorithm, E(GAP_T) <= rate**T * GAP_0),
        "expected dual gap after T rounds",
        tex=r"\mathbb{E}\left[G(y^{(T)})-G(y^*)\right]\le\left(1-\frac{\tau-1}{N-1}\frac{\alpha}{\beta}"
        r"\right)^T(G(y^{(0)})-G(y^*))",
        uses=("lemma-B.8/rate", "theorem-4.1/proof-constants"),
        reading=_READING + " G is the objective of (D): +infinity where the y_i do not sum to 0.",
    ),
    theorem_41(
        "eq-4",
        bound(algorithm_1.algorithm, E(DISTANCE_T) <= (1 / (N * alpha**2)) * rate**T * NORM_Y),
        "expected squared primal distance, through norm(y*)",
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{1}{N\alpha^2}\left(1-\frac{\tau-1}{N-1}\frac{\alpha}{"
        r"\beta}\right)^T\|y^*\|^2",
        uses=("lemma-E.1/exact", "theorem-4.1/eq-3", "lemma-E.2"),
        reading=_READING,
    ),
    theorem_41(
        "eq-5",
        bound(algorithm_1.algorithm, E(DISTANCE_T) <= (1 / alpha**2) * rate**T * ZETA),
        "expected squared primal distance, through zeta",
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{1}{\alpha^2}\left(1-\frac{\tau-1}{N-1}\frac{\alpha}{"
        r"\beta}\right)^T\zeta^2",
        uses=("theorem-4.1/eq-4", "heterogeneity"),
        reading=_READING + " zeta is the smallest constant that Assumption 3.3 admits.",
    ),
    appendix_e(
        "",
        ParameterRule({mu_min: 1 / beta, L_max: 1 / beta}, _identification, _curvatures),
        "the identification of mu_min and L_max printed in the proof of Theorem 4.1",
        tex=r"\mu_{\min}=1/\beta, \quad L_{\max}=1/\beta",
        uses=("block-smoothness",),
        literal_of="theorem-4.1/proof-constants/repaired",
        flaw="L_max is set to 1/beta, a slip for 1/alpha: the conjugate of an alpha-strongly convex function is "
        "1/alpha-smooth. With 1/beta the factor of Lemma B.8 is 1 - (tau-1)/(N-1), without the condition number "
        "of eq. (3).",
    ),
    appendix_e(
        "repaired",
        ParameterRule(
            {mu_min: 1 / beta, L_max: 1 / alpha},
            (sympy.Ge(L_max, 1 / alpha), sympy.Le(mu_min, 1 / beta), _IDENTIFIED),
        ),
        "mu_min = 1/beta and L_max = 1/alpha",
        setting=CONSTANTS,
        requires=(Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False)), PARTICIPATION),
        tex=r"\mu_{\min}=1/\beta, \quad L_{\max}=1/\alpha",
        reading="G is 1/alpha-smooth and 1/beta-strongly convex, block by block, which is block-smoothness; no better "
        "constants do so for all f_i",
        repairs="theorem-4.1/proof-constants",
    ),
    duality.IDENTICAL,
)

LEMMA_E1 = (
    section("Lemma E.1", SETTING, CONVEX)(
        "exact",
        DISTANCE <= 2 / (N * alpha) * GAP,
        "primal distance through the dual gap, exact oracle",
        kind="bound",
        tex=r"\mathbb{E}[\|\hat{w}^{(t)}-w^*\|^2]\le\frac{2}{N\alpha}\left[G(y^{(t)})-G(y^*)\right]",
    ),
)

LEMMA_E2 = (
    section("Lemma E.2", SETTING, CONVEX)(
        "",
        GAP <= DUAL_DISTANCE / (2 * alpha),
        "dual gap through the dual distance",
        tex=r"G(y^{(t)})-G(y^*)\leq\frac{1}{2\alpha}\|y^{(t)}-y^*\|^2",
        uses=("lemma-B.5",),
    ),
)
