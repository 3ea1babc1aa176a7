"""FedDCD, Sections 3 to 5: what the analysis should cover besides, constants and participants of each client, and
the local steps of a round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms import feddcd as algorithm_1
from fedtheory.algorithms import rbcd
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.papers.feddcd import appendix_b, dual, duality, rounds
from fedtheory.papers.feddcd.dual import FAR_NEWTON, GAP, N, rate, section, tau
from fedtheory.papers.feddcd.exact import THEOREM
from fedtheory.problems.base import Problem
from fedtheory.randomness import UniformSubset, expectation, support_of
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

GAP_NEXT = Quantity(sympy.Symbol("G(y_next)-G*"), dual.dual_gap, after=True)

#: Algorithm 1 on h_i = f_i^*, with Lambda_i = L_i = 1/alpha_i and the participants of Assumption 3.4.
uniform = replace(
    rbcd.algorithm,
    name="FedDCD with own constants",
    draws=lambda problem, params, state: UniformSubset(problem.n, params.tau),
)
OWN = replace(
    appendix_b.SETTING,
    text="h_i = f_i^*, each 1/beta_i-strongly convex and 1/alpha_i-smooth; Lambda = diag(1/alpha_i); 2 <= tau <= N of "
    "N clients, drawn uniformly; y dual feasible",
    algorithm=uniform,
)

_READING = "when delta is fixed: a number of local steps that no round and no epsilon changes"

SECTION_3 = (
    section("Section 3", OWN, appendix_b.STRUCTURE, appendix_b.SIZE, id="")(
        "clientwise-constants",
        one_step(
            uniform,
            E(Quantity(sympy.Symbol("h(y)-h*"), appendix_b.h_gap, after=True))
            <= (1 - appendix_b.r * appendix_b.mu / appendix_b.L_max) * appendix_b.GAP,
        ),
        "alpha_i and beta_i of each client",
        kind="property",
        tex="",
        uses=("theorem-4.1/eq-3",),
        reading="eq. (3), a round from any dual feasible y, with Lambda_i = 1/alpha_i, L_max = 1/min_i alpha_i and mu "
        "= 1/max_i beta_i: the rate is 1 - (tau-1)/(N-1) min_i alpha_i/max_i beta_i. The analysis of Appendix B draws "
        "sets by weights; here they are drawn uniformly, as Assumption 3.4 has it",
    ),
)
MORE = replace(
    dual.SETTING,
    text="f_1, ..., f_N as in the paper; a round with tau participants, or with one more, from any dual feasible y",
    domain=(sympy.Ge(tau, 2), sympy.Lt(tau, N)),
    potential=None,
    drawing=replace(dual.SETTING.drawing, sweep={}),
    clients=(3, 3, 4),
)


def _after_a_round(more: int) -> Any:
    """E[G(y_next) - G*] of a round with tau + ``more`` participants."""

    def value(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
        changed = params._replace(tau=params.tau + more)
        masks, chances = support_of(algorithm_1.draws(problem, changed, state), is_exact(params.Lambda))
        before = algorithm_1.State(state.y[..., None, :, :], state.w[..., None, :, :])
        after = algorithm_1.step(problem, changed, before, masks)
        return expectation(dual.dual_gap(problem, changed, after), chances)

    return value


section_41 = section("Section 4.1", MORE, *THEOREM, Hypothesis("tau < N", sympy.Lt(tau, N)), id="")
SECTION_4_1 = (
    section_41(
        "participation",
        Quantity("E_(tau+1)[G(y_next)-G*]", _after_a_round(1)) <= Quantity("E_tau[G(y_next)-G*]", _after_a_round(0)),
        "the rate improves with tau",
        kind="property",
        tex="",
        uses=("theorem-4.1/eq-3",),
        reading="of the gap itself: with one more participant it is at most as large after a round, in the mean and "
        "from any dual feasible y. That of the bound is participation/bound",
    ),
    section_41(
        "participation/bound",
        Inequality(rate.subs(tau, tau + 1), rate, strict=True),
        "the rate of Theorem 4.1 improves with tau",
        kind="property",
        setting=dual.CONSTANTS,
        requires=(Hypothesis("N >= 2", sympy.Ge(N, 2)),),
        tex="",
    ),
    section_41(
        "varying-participation",
        one_step(algorithm_1.algorithm, E(GAP_NEXT) <= rate * GAP),
        "numbers of participants that vary with the round",
        kind="property",
        setting=dual.SETTING,
        requires=THEOREM,
        tex="",
        uses=("theorem-4.1/eq-3",),
        reading="a round with tau participants contracts the dual gap by the rate of that tau from any dual feasible "
        "y, so that the gap after rounds with tau_1, tau_2, ... is at most the product of their rates, whatever "
        "decides tau_t before round t",
    ),
)
section_5 = section("Section 5", rounds.NEWTON, id="local-steps-and-accuracy")
SECTION_5 = (
    section_5(
        "",
        rounds.AFTER_STEPS,
        "local steps that do not depend on eps",
        kind="property",
        tex=r"\mathcal{O}\left(\log\left(\frac{1}{\delta}\right)\right)",
        uses=("oracle/gradient-descent", "oracle/variance-reduced", "oracle/newton"),
        reading=f"{_READING}, for all the methods above, of which Newton's is one: for that no number is enough from "
        "every warm start",
        flaw="Newton's method is one of the methods above: from a warm start that is far from the solution no number "
        "of its steps is enough.",
        root=FAR_NEWTON,
    ),
    section_5(
        "repaired",
        duality.GRADIENT_STEP,
        "a step of gradient descent leaves (1 - alpha/beta)^2 of the squared error, from any warm start",
        kind="property",
        setting=duality.GUESSES,
        reading=f"{_READING}: K steps with (1 - alpha/beta)^(2K) <= delta do; for the variance-reduced methods a "
        "number as of oracle/variance-reduced does, in the mean",
        repairs="local-steps-and-accuracy",
    ),
)
