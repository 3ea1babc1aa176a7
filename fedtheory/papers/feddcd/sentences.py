"""FedDCD, what sentences beside its theorems say of them: which bound is better, what is returned, on what rates
depend, and what inexact gradients cost."""

from __future__ import annotations

import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.claims import Claim
from fedtheory.kinds.bound import bound
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.order import Order
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.numbers.symbols import T
from fedtheory.papers.feddcd import inexact, memory, rounds
from fedtheory.papers.feddcd.dual import (
    CONSTANTS,
    CONVEX,
    DISTANCE,
    DISTANCE_T,
    NORM_Y,
    PARTICIPATION,
    SETTING,
    ZETA,
    N,
    alpha,
    beta,
    rate,
    section,
    tau,
    zeta,
)
from fedtheory.papers.feddcd.exact import THEOREM
from fedtheory.papers.feddcd.rounds import CITED, epsilon, n
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, support_of
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

# Eq. (5) against eq. (4), and line 14 of Algorithm 1

_EQ_4, _EQ_5 = NORM_Y / (N * alpha**2), ZETA / alpha**2
_BETTER, _OUTPUT = "theorem-4.1/eq-5/better", "algorithm-1/output"


def _held(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """E|w - w*|^2 over the client and I_T: those of I_T compute w_i at y_i^T, and the others hold what they had."""
    return memory.of_clients(problem, params.tau, problem.f.conjugate_gradient(state.y), state.w)


def _of_participants(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """E|w_i - w*|^2 for i uniform on the participants, w_i = grad f_i^*(y_i)."""
    masks, chances = support_of(algorithm_1.draws(problem, params, state), is_exact(params.Lambda))
    w = problem.f.conjugate_gradient(state.y) - problem.x_star[..., None, :]
    of_set = (masks * (w**2).sum(axis=-1)[..., None, :]).sum(axis=-1) / params.tau
    return expectation(of_set, chances)


def _returned(name: str, gist: str, left: Quantity) -> Claim:
    statement = bound(algorithm_1.algorithm, E(left) <= 1 / (N * alpha**2) * rate**T * NORM_Y)
    return section("Algorithm 1, line 14", SETTING, *THEOREM, id="")(
        f"{_OUTPUT}#{name}", statement, gist, kind="property", origin=""
    )


_HELD_T = Quantity(sympy.Symbol("|w^T-w*|^2"), _held, after=True)
after_eq_5 = section("Section 4.1, sentence after (5)", SETTING, CONVEX, id=_BETTER)
line_14 = section("Algorithm 1, line 14", SETTING, id=_OUTPUT)
SECTION_4 = (
    after_eq_5(
        "",
        _EQ_5 <= _EQ_4,
        "that (5) is a better rate on the primal variables than what (4) gives",
        kind="order",
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{1}{\alpha^2}\left(1-\frac{\tau-1}{N-1}\frac{\alpha}{"
        r"\beta}\right)^T\zeta^2",
        reading="the right sides of (5) and (4) over the factor to the power T, which is the same in both; zeta is the "
        "smallest constant that Assumption 3.3 admits. Better is read as no larger",
        flaw="Eq. (5) is drawn from eq. (4) by |y*|^2 <= N zeta^2, as zeta is the largest of the |y_i*| and |y*|^2/N "
        "the mean of their squares; the factor stays what it was.",
    ),
    after_eq_5(
        "repaired",
        _EQ_4 <= _EQ_5,
        "(5) is never smaller than (4), from which it follows",
        kind="order",
        reading="with the smallest zeta, and so with any; they are equal where all |y_i*| are",
        repairs=_BETTER,
    ),
    line_14(
        "",
        Readings(
            "w_i^(T) of a client that is not in I_T is computed nowhere",
            (
                _returned("fresh", "eq. (4), where all clients compute w_i at y_i^(T)", DISTANCE_T),
                _returned("held", "eq. (4), where the others return what they computed last", _HELD_T),
            ),
        ),
        "the returned w_i^(T) of clients that did not take part in the last round",
        kind="property",
        tex="w^{(T)}=w_i^{(T)}",
        reading="distinguished by eq. (4), which is about what is returned; a client that never took part is taken to "
        "hold grad f_i^*(0)",
        flaw="Line 5 computes w_i^(T) for the clients of I_T, and line 14 draws i from all of them.",
    ),
    line_14(
        "repaired",
        identity(Quantity("E|w_i-w*|^2, i in I", _of_participants), DISTANCE),
        "with i uniform on I_T in place of [N] what is returned is known, and as near to w* in the mean",
        kind="property",
        requires=(PARTICIPATION,),
        reading="at any y, as I_T is drawn after y^(T) is known: so eqs. (4) and (5) hold of it",
        repairs=_OUTPUT,
    ),
)

# Table 1, and the sentence after Theorem 5.2

_INDEPENDENT = "table-1/independent-of-n"
#: With ell for log(1/epsilon), which is positive for small epsilon.
_ROW = CITED["mb-sgd"].subs(sympy.log(1 / epsilon), sympy.Symbol("ell", positive=True))
_SOME = Hypothesis("2 <= tau <= n", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, n)))
text_on_table_1 = section("Section 4.1, text on Table 1", rounds.ROUNDS, _SOME, id=_INDEPENDENT)
TABLE_1 = (
    text_on_table_1(
        "",
        identity(_ROW, _ROW.subs(n, n + 1)),
        "that the rates of MB-SGD and FedAvg do not depend on the number of clients",
        kind="order",
        tex=r"\mathcal{O}\left(\frac{\sigma^2}{\tau\alpha\epsilon}+\left(1-\frac{\tau}{n}\right)\frac{\zeta^2}{\tau"
        r"\alpha\epsilon}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)",
        reading="ell is log(1/epsilon); of the row of MB-SGD as printed, in which n stands in 1 - tau/n; in that of "
        "FedAvg neither n nor N does. That the rates do not grow with the number of clients is -/repaired",
        literal_of=f"{_INDEPENDENT}/repaired",
        flaw="The row of MB-SGD has 1 - tau/n before zeta^2/(tau alpha epsilon): it is 0 where all n clients take "
        "part, and near 1 where n is large.",
    ),
    text_on_table_1(
        "repaired",
        Inequality(_ROW, _ROW.subs(tau / n, 0)),
        "MB-SGD's rate is at most the same with 1 for 1 - tau/n, in which no number of clients stands",
        kind="order",
        repairs=_INDEPENDENT,
    ),
)

_CONSTANT, _AFTER = "feddcd/theorem-5.2/constant-only", "after Theorem 5.2"
_accuracy = sympy.log(sympy.Rational(20, 3) * zeta**2 / (alpha**2 * epsilon))
_ORDERED = Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False))
after_theorem_52 = section("after Theorem 5.2", rounds.ROUNDS, PARTICIPATION, _ORDERED, id="theorem-5.2/constant-only")
SECTION_5 = (
    after_theorem_52(
        "",
        Order(
            _accuracy / -sympy.log(1 - inexact.kappa),
            (N - 1) * beta / ((tau - 1) * alpha) * sympy.log(zeta / epsilon),
            small=epsilon,
        ),
        "that inexactness costs only a constant",
        kind="order",
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{20}{3\alpha^2}(1-\kappa)^T\zeta^2",
        uses=("theorem-5.2/zeta", "table-1/feddcd"),
        reading="of the rounds until the bounds of Theorem 5.2 on E|w - w*|^2 are epsilon, against the order that "
        "Table 1 has for exact gradients, as epsilon tends to 0 with the others fixed: 32 times as many. Bounds alone "
        "are compared, whether they hold or not. Of the factors it is -/literal",
    ),
    after_theorem_52(
        "literal",
        Inequality(1 - inexact.kappa, rate),
        "the bounds of Theorem 5.2 are at most a constant times those of Theorem 4.1 after any number of rounds",
        kind="order",
        setting=CONSTANTS,
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{20}{3\alpha^2}(1-\kappa)^T\zeta^2",
        uses=("theorem-5.2/zeta", "theorem-4.1/eq-5"),
        reading="a constant C with (20/3) (1 - kappa)^T <= C (1 - 32 kappa)^T for every T exists only where 1 - kappa "
        "is at most 1 - 32 kappa, the factor of Theorem 4.1",
        literal_of=_CONSTANT,
        flaw="The constant is one of the exponent: kappa is a 32nd of what Theorem 4.1 has, so that the ratio of the "
        "bounds grows with every round.",
    ),
)
