"""FedADMM, Theorems 4.1 and 4.2 and Corollary 4.1: limits, derived from what holds of each iteration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Fixed
from fedtheory.classes import SmoothStronglyConvex
from fedtheory.instances import Recipe, numbers
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.limit import Limit
from fedtheory.learning.subproblems import Exact
from fedtheory.meanings import BoundedBelow, Isolated
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import L, mu
from fedtheory.papers.fedadmm.descent import OBJECTIVE
from fedtheory.papers.fedadmm.differences import SERVER_MOVE
from fedtheory.papers.fedadmm.iterates import (
    lagrangian,
    models,
    multipliers,
    objective,
    server_model,
    steepest,
)
from fedtheory.papers.fedadmm.letters import BLOCKS, q, section
from fedtheory.papers.fedadmm.limits import (
    ABOVE,
    ASSUMED,
    COERCIVE,
    CONVEX,
    FLAT_TOO,
    INDEPENDENT,
    LONG,
    RANDOM,
    RANDOM_FLAT_TOO,
    SCHEME,
    START,
    STRONG,
    least,
    optimum,
)
from fedtheory.papers.fedadmm.sequences import (
    COUPLINGS,
    GAP_SQUARED,
    GRADIENT_SQUARED,
    GRADIENTS_SQUARED,
    L_MINUS_F,
    MODEL_SQUARED,
    MULTIPLIER_SQUARED,
    MULTIPLIERS_SQUARED,
    PARTS_A,
    PARTS_B,
    PARTS_C,
    RESIDUAL_SQUARED,
    SERVER_SQUARED,
    F_MINUS_f,
    each,
    of_all,
    values,
)
from fedtheory.papers.fedadmm.transition import ITERATION, SMOOTH, STEP
from fedtheory.problems.base import Problem
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Root
from fedtheory.settings.quantities import Away, Square, Value
from fedtheory.settings.relations import Quantity

# The theorems

_THEOREM_A, _THEOREM_B, _THEOREM_C, _SERVER = (f"fedadmm/theorem-4.1/{part}" for part in ("a", "b", "c", "c/server"))


def _root(name: str, quantity: Quantity) -> Quantity:
    return Quantity(q(name), Root(quantity.of))


def _long(**quantities: tuple[Quantity, ...]) -> Eventually:
    return Eventually(fedadmm.algorithm, iteration=ITERATION, **quantities)  # type: ignore[arg-type]


_STATE = (_root("|w^{tau_k}|", SERVER_SQUARED), _root("|w_i^k|", MODEL_SQUARED), _root("|pi_i^k|", MULTIPLIER_SQUARED))
_STATIONARY = (
    _root("|alpha_i*grad_f_i(w_i^k)+pi_i^k|", RESIDUAL_SQUARED),
    _root("|w_i^k-w^{tau_k}|", GAP_SQUARED),
    _root("|sum_i(pi_i^k)|", MULTIPLIERS_SQUARED),
)
_GRADIENT, _SUM = _root("|grad_f(w^{tau_k})|", GRADIENT_SQUARED), _root("|sum_i(g_i^k)|", GRADIENTS_SQUARED)
_OPTIMAL = (
    *(of_all(f"{name}-f*", Away(of, least)) for name, of in (("L^k", lagrangian), ("F(W^k)", values))),
    ABOVE,
)
_TO_OPTIMUM = (
    _root("|w^{tau_k}-w*|", of_all("|w^{tau_k}-w*|^2", Square(Away(server_model, optimum)))),
    _root("|w_i^k-w*|", each("|w_i^k-w*|^2", Square(Away(models, optimum)))),
    _root("|pi_i^k-pi_i*|", each("|pi_i^k-pi_i*|^2", Square(Away(multipliers, Value(steepest, optimum))))),
)
_ASSUMED = (*ASSUMED, START)
_SEQUENCE = (
    Quantity(q("w^{tau_k}"), At(ITERATION, server_model)),
    Quantity(q("w_i^k"), At(ITERATION, models, each=True)),
    Quantity(q("pi_i^k"), At(ITERATION, multipliers, each=True)),
)
ISOLATED = Hypothesis(
    "w^infinity is isolated",
    met=lambda problem, params: not params.flat,
    says=(Isolated(server_model, SERVER_MOVE.of),),
)


# The literal reading of grad F, at a stationary point, which Algorithm 1 does not leave


def _squared_blocks(problem: Problem, params: object, state: Any) -> Array:
    """sum_i |g_i|^2, the squared gradient of F as a function of m blocks."""
    return (steepest(problem, params, state.W) ** 2).sum(axis=(-1, -2))


def _exact_params(recipe: Recipe, problem: Problem, exact: bool) -> fedadmm.Params:
    m = problem.n
    alpha = numbers([Fraction(1, m)] * m, exact)
    half, accuracy = (numbers([v] * m, exact) for v in (Fraction(1, 2), Fraction(1)))
    return fedadmm.theory(problem, alpha, Fixed(np.ones((1, m), dtype=bool)), Exact(), 1, half, accuracy)


_QUADRATIC = Setting(
    "Algorithm 1 with full participation, exact answers and sigma_i = 3 alpha_i r_i on quadratic functions",
    letters={mu: "mu", L: "L"},
    algorithm=fedadmm.algorithm,
    functions=SmoothStronglyConvex(mu, L, quadratics=True),
    # W^0 may be any, and w^{tau_0} is defined nowhere.
    drawing=Drawing(classes_stated=True, start=("W", "w"), parameters=_exact_params),
    clients=(2, 3),
)
theorem_41 = section("Theorem 4.1", LONG, *_ASSUMED)
THEOREM_41 = (
    theorem_41(
        "a",
        _long(bounded=_STATE),
        "bounded sequences",
        kind="property",
        tex=r"\{(\mathbf{w}^{\tau_k},W^k,\Pi^k)\}",
        uses=("lemma-C.2/b", "lemma-C.2/c", "lemma-C.1/b"),
        follows=("lemma-C.2/c", *(claim.id for claim in PARTS_A)),
    ),
    theorem_41(
        "b",
        _long(vanishing=(L_MINUS_F, F_MINUS_f), converging=(OBJECTIVE,)),
        "three sequences share a limit",
        kind="limit",
        tex=r"\lim_{k\to\infty}\mathcal{L}^k=\lim_{k\to\infty}F(W^k)=\lim_{k\to\infty}f(\mathbf{w}^{\tau_k})",
        uses=("lemma-C.2/a", "lemma-C.2/b", "lemma-C.2/c", "theorem-4.1/a"),
        follows=(_THEOREM_A, *(claim.id for claim in PARTS_B)),
    ),
    theorem_41(
        "c",
        _long(vanishing=(_SUM,)),
        "gradients vanish",
        kind="limit",
        tex=r"\lim_{k\to\infty}\nabla F(W^k)=0, \quad \nabla F(W^{k+1})=\sum_i\boldsymbol{g}_i^{k+1}",
        uses=("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b"),
        reading="grad F(W^k) is sum_i g_i^k, as eq. (57) writes it; that (11) makes F a function of m blocks, whose "
        "gradient has the m blocks g_i^k, is c/literal",
        follows=("lemma-C.2/c", *(claim.id for claim in PARTS_C)),
    ),
    theorem_41(
        "c/server",
        _long(vanishing=(_GRADIENT,)),
        "gradients vanish: grad f(w^{tau_k}), of the server's model",
        kind="limit",
        tex=r"\lim_{k\to\infty}\nabla f(\mathbf{w}^{\tau_k})=0",
        uses=("theorem-4.1/c", "lemma-C.2/c"),
        follows=("lemma-C.2/c", *(claim.id for claim in PARTS_C)),
    ),
    theorem_41(
        "c/literal",
        Limit(fedadmm.algorithm, Quantity(q("|(g_1,...,g_m)|^2"), _squared_blocks), "the m blocks of grad F vanish"),
        "gradients vanish: all m blocks g_i^k of grad F(W^k)",
        setting=_QUADRATIC,
        requires=(),
        tex=r"\lim_{k\to\infty}\nabla F(W^k)=0, \quad F(W):=\sum_{i=1}^m\alpha_if_i(\mathbf{w}_i)",
        uses=("lemma-C.2/c", "lemma-C.1/a", "lemma-C.1/b"),
        reading="by (11) F is a function of the m blocks of W, and so its gradient has m blocks. Looked at on "
        "quadratics with full participation, which the theorem admits",
        literal_of=_THEOREM_C,
        flaw="Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m). Eq. (57) of the proof "
        "writes grad F for the sum of the g_i: the sum vanishes, the blocks do not.",
        root=BLOCKS,
    ),
    *PARTS_A,
    *PARTS_B,
    *PARTS_C,
)
theorem_42 = section("Theorem 4.2", LONG, *_ASSUMED)
THEOREM_42 = (
    theorem_42(
        "a",
        _long(vanishing=(*_STATIONARY, _GRADIENT)),
        "accumulation points are stationary",
        kind="limit",
        tex=r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
        uses=("lemma-C.1/b", "lemma-C.1/c", "lemma-C.2/c", "theorem-4.1/c/server", "definition-4.1"),
        reading="the residuals of (19) vanish along the whole sequence, and are continuous",
        follows=(_THEOREM_C, _SERVER, "theorem-4.2/a/residual"),
    ),
    theorem_42(
        "b",
        _long(converging=_SEQUENCE),
        "isolated accumulation point: the whole sequence converges",
        kind="limit",
        setting=FLAT_TOO,
        requires=(*_ASSUMED, ISOLATED),
        tex=r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
        uses=("theorem-4.2/a", "lemma-C.2/c", "lemma-C.1/b", "lemma-C.1/c"),
        reading="w^infinity is isolated: no other accumulation point of w^{tau_k} is near it. In the runs that are "
        "looked at the stationary points of f are isolated, for almost all of these functions",
        follows=("lemma-C.2/c", "theorem-4.2/a/residual"),
    ),
)
BELOW = Hypothesis("eq. (3): f is bounded below", met=lambda problem, params: True, says=(BoundedBelow(objective),))
THEOREM_43_LIMIT = section("Theorem 4.3", LONG, SMOOTH, BELOW, STEP, SCHEME, START)(
    "limit",
    _long(vanishing=(_GRADIENT,)),
    "the gradient vanishes under Assumption 4.1 alone, of an f that is bounded below",
    kind="limit",
    origin="observed",
    reading="what Theorem 4.3 says without its rate: the least |grad f(w^{tau_{s+1}})|^2 tends to 0, without "
    "Assumption 4.2, and all of them do",
    follows=("lemma-C.2/c", *(claim.id for claim in PARTS_C)),
)
after_theorem_42 = section(
    "after Theorem 4.2", RANDOM, SMOOTH, COERCIVE, STEP, INDEPENDENT, START, id="theorem-4.2/high-probability"
)
HIGH_PROBABILITY = after_theorem_42(
    "",
    _long(bounded=_STATE, vanishing=(*_STATIONARY, _GRADIENT, L_MINUS_F, F_MINUS_f), converging=(OBJECTIVE,)),
    "Theorems 4.1 and 4.2 hold with high probability under random participation",
    kind="property",
    tex="",
    uses=("theorem-4.1/c/server", "theorem-4.2/a", "remark-4.1/scheme"),
    reading="of all runs drawn; Theorem 4.2 b is -/isolated. Scheme 4.1 is met in all windows with probability 0 "
    "(remark-4.1/scheme), so that it is not by it that the theorems hold; what their proof needs is that all clients "
    "are selected again and again, which has probability 1",
)
HIGH_PROBABILITY_B = after_theorem_42(
    "isolated",
    _long(converging=_SEQUENCE),
    "Theorem 4.2 b holds with high probability under random participation: the whole sequence converges",
    kind="property",
    setting=RANDOM_FLAT_TOO,
    requires=(SMOOTH, COERCIVE, STEP, INDEPENDENT, START, ISOLATED),
    tex="",
    uses=("theorem-4.2/b", "remark-4.1/scheme"),
    reading="of all runs drawn, as in theorem-4.2/high-probability, which is of Theorems 4.1 and 4.2 a",
)
corollary_41 = section("Corollary 4.1", LONG, *_ASSUMED, CONVEX)
COROLLARY_41 = (
    corollary_41(
        "a",
        _long(vanishing=_OPTIMAL),
        "convex f: values converge to f*",
        kind="limit",
        tex=r"\lim_{k\to\infty}\mathcal{L}^k=\lim_{k\to\infty}F(W^k)=\lim_{k\to\infty}f(\mathbf{w}^{\tau_k})=f^*",
        uses=("theorem-4.1/a", "theorem-4.1/b", "theorem-4.1/c/server"),
        follows=(_THEOREM_B, _SERVER),
    ),
    corollary_41(
        "b",
        _long(vanishing=(*_STATIONARY, ABOVE)),
        "convex f: accumulation points are optimal",
        kind="limit",
        tex=r"(\mathbf{w}^\infty,W^\infty,\Pi^\infty)",
        uses=("theorem-4.2/a", "definition-4.1"),
        reading="a limit w with f(w) = f* is optimal, and W, Pi with the residuals of (19) zero go with it",
        follows=("theorem-4.2/a", "corollary-4.1/a"),
    ),
    corollary_41(
        "c",
        _long(vanishing=_TO_OPTIMUM),
        "strongly convex f: the sequence converges",
        kind="limit",
        requires=(SMOOTH, STEP, SCHEME, START, STRONG),
        tex=r"(\mathbf{w}^*,W^*,\Pi^*)",
        uses=("corollary-4.1/a", "lemma-C.1/b", "lemma-C.2/c", "definition-4.1"),
        reading="strong convexity, of any modulus, implies Assumption 4.2",
        follows=("corollary-4.1/b",),
    ),
)
# Lines of the proof of Theorem 4.1

EQ_54 = section("eq. (54)", LONG, *_ASSUMED)(
    "",
    _long(vanishing=(L_MINUS_F, COUPLINGS)),
    "the equality from (12), and its limit",
    kind="limit",
    tex=r"\mathcal{L}^{k+1}-F(W^{k+1})=\sum_i(\langle\triangle\overline{\mathbf{w}}_i^{k+1},\boldsymbol{\pi}_i^{k+1}"
    r"\rangle+\frac{\sigma_i}{2}\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2)\to 0",
    uses=("lemma-C.2/c", "theorem-4.1/a"),
    reading="both sides of the equality, which is theorem-4.1/b/couplings",
    follows=(_THEOREM_A, *(claim.id for claim in PARTS_B)),
)
EQ_56 = section("eq. (56)", LONG, *_ASSUMED)(
    "",
    _long(vanishing=(_root("|sum_i(pi_i^k)|", MULTIPLIERS_SQUARED),)),
    "the sum of the pi_i tends to 0",
    kind="limit",
    tex=r"\sum_i\boldsymbol{\pi}_i^{k+1}\to 0",
    uses=("lemma-C.1/a", "lemma-C.1/b", "lemma-C.2/c", "eq-55/tolerances"),
    follows=("lemma-C.2/c", *(claim.id for claim in PARTS_C)),
)

__all__ = [
    "COROLLARY_41",
    "EQ_54",
    "EQ_56",
    "HIGH_PROBABILITY",
    "HIGH_PROBABILITY_B",
    "THEOREM_41",
    "THEOREM_42",
    "THEOREM_43_LIMIT",
]
