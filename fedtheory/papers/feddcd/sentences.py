"""FedDCD, what sentences beside its theorems say of them: which bound is better, what is returned, on what rates
depend, and what inexact gradients cost."""

from __future__ import annotations

import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.claims import Claim
from fedtheory.kinds.bound import bound
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality, inequality
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
_BETTER, _OUTPUT = "feddcd/theorem-4.1/eq-5/better", "feddcd/algorithm-1/output"
_LINE_14 = "Algorithm 1, line 14"


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
    return Claim(
        id=f"{_OUTPUT}#{name}",
        where=_LINE_14,
        kind="property",
        gist=gist,
        setting=SETTING,
        statement=bound(algorithm_1.algorithm, E(left) <= 1 / (N * alpha**2) * rate**T * NORM_Y),
        requires=THEOREM,
    )


_HELD_T = Quantity(sympy.Symbol("|w^T-w*|^2"), _held, after=True)
SECTION_4 = (
    Claim(
        id=_BETTER,
        where="Section 4.1, sentence after (5)",
        kind="order",
        gist="that (5) is a better rate on the primal variables than what (4) gives",
        setting=SETTING,
        statement=inequality(_EQ_5 <= _EQ_4),
        requires=(CONVEX,),
        reading="the right sides of (5) and (4) over the factor to the power T, which is the same in both; zeta is the "
        "smallest constant that Assumption 3.3 admits. Better is read as no larger",
    ),
    Claim(
        id=f"{_BETTER}/repaired",
        where="Section 4.1, sentence after (5)",
        kind="order",
        gist="(5) is never smaller than (4), from which it follows",
        setting=SETTING,
        statement=inequality(_EQ_4 <= _EQ_5),
        requires=(CONVEX,),
        reading="with the smallest zeta, and so with any; they are equal where all |y_i*| are",
        repairs=_BETTER,
    ),
    Claim(
        id=_OUTPUT,
        where=_LINE_14,
        kind="property",
        gist="the returned w_i^(T) of clients that did not take part in the last round",
        setting=SETTING,
        statement=Readings(
            "w_i^(T) of a client that is not in I_T is computed nowhere",
            (
                _returned("fresh", "eq. (4), where all clients compute w_i at y_i^(T)", DISTANCE_T),
                _returned("held", "eq. (4), where the others return what they computed last", _HELD_T),
            ),
        ),
        reading="told apart by eq. (4), which speaks of what is returned; a client that never took part is taken to "
        "hold grad f_i^*(0)",
    ),
    Claim(
        id=f"{_OUTPUT}/repaired",
        where=_LINE_14,
        kind="property",
        gist="with i uniform on I_T in place of [N] what is returned is known, and as near to w* in the mean",
        setting=SETTING,
        statement=identity(Quantity("E|w_i-w*|^2, i in I", _of_participants), DISTANCE),
        requires=(PARTICIPATION,),
        reading="at any y, as I_T is drawn after y^(T) is known: so eqs. (4) and (5) hold of it",
        repairs=_OUTPUT,
    ),
)

# Table 1, and the sentence after Theorem 5.2

_INDEPENDENT, _WHERE = "feddcd/table-1/independent-of-n", "Section 4.1, text on Table 1"
#: With ell for log(1/epsilon), which is positive for small epsilon.
_ROW = CITED["mb-sgd"].subs(sympy.log(1 / epsilon), sympy.Symbol("ell", positive=True))
_SOME = Hypothesis("2 <= tau <= n", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, n)))
TABLE_1 = (
    Claim(
        id=_INDEPENDENT,
        where=_WHERE,
        kind="order",
        gist="that the rates of MB-SGD and FedAvg do not depend on the number of clients",
        setting=rounds.ROUNDS,
        statement=identity(_ROW, _ROW.subs(n, n + 1)),
        requires=(_SOME,),
        reading="ell is log(1/epsilon); of the row of MB-SGD as printed, in which n stands in 1 - tau/n; in that of "
        "FedAvg neither n nor N does. That the rates do not grow with the number of clients is -/repaired",
        literal_of=f"{_INDEPENDENT}/repaired",
    ),
    Claim(
        id=f"{_INDEPENDENT}/repaired",
        where=_WHERE,
        kind="order",
        gist="MB-SGD's rate is at most the same with 1 for 1 - tau/n, in which no number of clients stands",
        setting=rounds.ROUNDS,
        statement=Inequality(_ROW, _ROW.subs(tau / n, 0)),
        requires=(_SOME,),
        repairs=_INDEPENDENT,
    ),
)

_CONSTANT, _AFTER = "feddcd/theorem-5.2/constant-only", "after Theorem 5.2"
_accuracy = sympy.log(sympy.Rational(20, 3) * zeta**2 / (alpha**2 * epsilon))
_ORDERED = Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False))
SECTION_5 = (
    Claim(
        id=_CONSTANT,
        where=_AFTER,
        kind="order",
        gist="that inexactness costs only a constant",
        setting=rounds.ROUNDS,
        statement=Order(
            _accuracy / -sympy.log(1 - inexact.kappa),
            (N - 1) * beta / ((tau - 1) * alpha) * sympy.log(zeta / epsilon),
            small=epsilon,
        ),
        requires=(PARTICIPATION, _ORDERED),
        reading="of the rounds until the bounds of Theorem 5.2 on E|w - w*|^2 are epsilon, against the order that "
        "Table 1 has for exact gradients, as epsilon tends to 0 with the others fixed: 32 times as many. Bounds alone "
        "are compared, whether they hold or not. Of the factors it is -/literal",
    ),
    Claim(
        id=f"{_CONSTANT}/literal",
        where=_AFTER,
        kind="order",
        gist="the bounds of Theorem 5.2 are at most a constant times those of Theorem 4.1 after any number of rounds",
        setting=CONSTANTS,
        statement=Inequality(1 - inexact.kappa, rate),
        requires=(PARTICIPATION, _ORDERED),
        reading="a constant C with (20/3) (1 - kappa)^T <= C (1 - 32 kappa)^T for every T exists only where 1 - kappa "
        "is at most 1 - 32 kappa, the factor of Theorem 4.1",
        literal_of=_CONSTANT,
    ),
)
