"""FedADMM, Theorems 4.1 and 4.2 and Corollary 4.1: limits, derived from what holds of each iteration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import fedadmm
from fedtheory.claims import Claim
from fedtheory.classes import SmoothStronglyConvex
from fedtheory.instances import Recipe, numbers
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.limit import Limit
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
from fedtheory.papers.fedadmm.letters import q
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
from fedtheory.problems.subproblems import Exact
from fedtheory.randomness.selections import Fixed
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Root
from fedtheory.settings.quantities import Away, Square, Value
from fedtheory.settings.relations import Quantity

# The theorems

_THEOREM_A, _THEOREM_B, _THEOREM_C, _SERVER = (f"fedadmm/theorem-4.1/{part}" for part in ("a", "b", "c", "c/server"))


def _root(name: str, quantity: Quantity) -> Quantity:
    return Quantity(q(name), Root(quantity.of))


def _long(**said: tuple[Quantity, ...]) -> Eventually:
    return Eventually(fedadmm.algorithm, iteration=ITERATION, **said)  # type: ignore[arg-type]


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
    total: Array = (steepest(problem, params, state.W) ** 2).sum(axis=(-1, -2))
    return total


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
THEOREM_41 = (
    Claim(
        id=_THEOREM_A,
        where="Theorem 4.1",
        kind="property",
        gist="bounded sequences",
        setting=LONG,
        statement=_long(bounded=_STATE),
        requires=_ASSUMED,
        follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_A)),
    ),
    Claim(
        id=_THEOREM_B,
        where="Theorem 4.1",
        kind="limit",
        gist="three sequences share a limit",
        setting=LONG,
        statement=_long(vanishing=(L_MINUS_F, F_MINUS_f), converging=(OBJECTIVE,)),
        requires=_ASSUMED,
        follows=(_THEOREM_A, *(claim.id for claim in PARTS_B)),
    ),
    Claim(
        id=_THEOREM_C,
        where="Theorem 4.1",
        kind="limit",
        gist="gradients vanish",
        setting=LONG,
        statement=_long(vanishing=(_SUM,)),
        requires=_ASSUMED,
        reading="grad F(W^k) is sum_i g_i^k, as eq. (57) writes it; that (11) makes F a function of m blocks, whose "
        "gradient has the m blocks g_i^k, is c/literal",
        follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_C)),
    ),
    Claim(
        id=_SERVER,
        where="Theorem 4.1",
        kind="limit",
        gist="gradients vanish: grad f(w^{tau_k}), of the server's model",
        setting=LONG,
        statement=_long(vanishing=(_GRADIENT,)),
        requires=_ASSUMED,
        follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_C)),
    ),
    Claim(
        id=f"{_THEOREM_C}/literal",
        where="Theorem 4.1",
        gist="gradients vanish: all m blocks g_i^k of grad F(W^k)",
        setting=_QUADRATIC,
        statement=Limit(
            fedadmm.algorithm, Quantity(q("|(g_1,...,g_m)|^2"), _squared_blocks), "the m blocks of grad F vanish"
        ),
        reading="by (11) F is a function of the m blocks of W, and so its gradient has m blocks. Looked at on "
        "quadratics with full participation, which the theorem admits",
        literal_of=_THEOREM_C,
    ),
    *PARTS_A,
    *PARTS_B,
    *PARTS_C,
)
THEOREM_42 = (
    Claim(
        id="fedadmm/theorem-4.2/a",
        where="Theorem 4.2",
        kind="limit",
        gist="accumulation points are stationary",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, _GRADIENT)),
        requires=_ASSUMED,
        reading="the residuals of (19) vanish along the whole sequence, and are continuous",
        follows=(_THEOREM_C, _SERVER, "fedadmm/theorem-4.2/a/residual"),
    ),
    Claim(
        id="fedadmm/theorem-4.2/b",
        where="Theorem 4.2",
        kind="limit",
        gist="isolated accumulation point: the whole sequence converges",
        setting=FLAT_TOO,
        statement=_long(converging=_SEQUENCE),
        requires=(*_ASSUMED, ISOLATED),
        reading="w^infinity is isolated: no other accumulation point of w^{tau_k} is near it. In the runs that are "
        "looked at the stationary points of f are isolated, for almost all of these functions",
        follows=("fedadmm/lemma-C.2/c", "fedadmm/theorem-4.2/a/residual"),
    ),
)
BELOW = Hypothesis("eq. (3): f is bounded below", met=lambda problem, params: True, says=(BoundedBelow(objective),))
THEOREM_43_LIMIT = Claim(
    id="fedadmm/theorem-4.3/limit",
    where="Theorem 4.3",
    kind="limit",
    gist="the gradient vanishes under Assumption 4.1 alone, of an f that is bounded below",
    setting=LONG,
    statement=_long(vanishing=(_GRADIENT,)),
    requires=(SMOOTH, BELOW, STEP, SCHEME, START),
    reading="what Theorem 4.3 says without its rate: the least |grad f(w^{tau_{s+1}})|^2 tends to 0, without "
    "Assumption 4.2, and all of them do",
    follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_C)),
)
HIGH_PROBABILITY = Claim(
    id="fedadmm/theorem-4.2/high-probability",
    where="after Theorem 4.2",
    kind="property",
    gist="Theorems 4.1 and 4.2 hold with high probability under random participation",
    setting=RANDOM,
    statement=_long(bounded=_STATE, vanishing=(*_STATIONARY, _GRADIENT, L_MINUS_F, F_MINUS_f), converging=(OBJECTIVE,)),
    requires=(SMOOTH, COERCIVE, STEP, INDEPENDENT, START),
    reading="of all runs drawn; Theorem 4.2 b is -/isolated. Scheme 4.1 is met in all windows with probability 0 "
    "(remark-4.1/scheme), so that it is not by it that the theorems hold; what their proof needs is that all clients "
    "are selected again and again, which has probability 1",
)
HIGH_PROBABILITY_B = Claim(
    id="fedadmm/theorem-4.2/high-probability/isolated",
    where="after Theorem 4.2",
    kind="property",
    gist="Theorem 4.2 b holds with high probability under random participation: the whole sequence converges",
    setting=RANDOM_FLAT_TOO,
    statement=_long(converging=_SEQUENCE),
    requires=(SMOOTH, COERCIVE, STEP, INDEPENDENT, START, ISOLATED),
    reading="of all runs drawn, as in theorem-4.2/high-probability, which is of Theorems 4.1 and 4.2 a",
)
COROLLARY_41 = (
    Claim(
        id="fedadmm/corollary-4.1/a",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: values converge to f*",
        setting=LONG,
        statement=_long(vanishing=_OPTIMAL),
        requires=(*_ASSUMED, CONVEX),
        follows=(_THEOREM_B, _SERVER),
    ),
    Claim(
        id="fedadmm/corollary-4.1/b",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: accumulation points are optimal",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, ABOVE)),
        requires=(*_ASSUMED, CONVEX),
        reading="a limit w with f(w) = f* is optimal, and W, Pi with the residuals of (19) zero go with it",
        follows=("fedadmm/theorem-4.2/a", "fedadmm/corollary-4.1/a"),
    ),
    Claim(
        id="fedadmm/corollary-4.1/c",
        where="Corollary 4.1",
        kind="limit",
        gist="strongly convex f: the sequence converges",
        setting=LONG,
        statement=_long(vanishing=_TO_OPTIMUM),
        requires=(SMOOTH, STEP, SCHEME, START, STRONG),
        reading="strong convexity, of any modulus, implies Assumption 4.2",
        follows=("fedadmm/corollary-4.1/b",),
    ),
)
# Lines of the proof of Theorem 4.1

EQ_54 = Claim(
    id="fedadmm/eq-54",
    where="eq. (54)",
    kind="limit",
    gist="the equality from (12), and its limit",
    setting=LONG,
    statement=_long(vanishing=(L_MINUS_F, COUPLINGS)),
    requires=_ASSUMED,
    reading="both sides of the equality, which is theorem-4.1/b/couplings",
    follows=(_THEOREM_A, *(claim.id for claim in PARTS_B)),
)
EQ_56 = Claim(
    id="fedadmm/eq-56",
    where="eq. (56)",
    kind="limit",
    gist="the sum of the pi_i tends to 0",
    setting=LONG,
    statement=_long(vanishing=(_root("|sum_i(pi_i^k)|", MULTIPLIERS_SQUARED),)),
    requires=_ASSUMED,
    follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_C)),
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
