"""FedADMM, the display of multipliers after the first iteration of a round and after a later one, between eq. (55) and
eq. (56)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.instances import Instances, Recipe, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.iterates import steepest
from fedtheory.papers.fedadmm.letters import alpha_i, parts, r_i, section
from fedtheory.papers.fedadmm.runs import RUN, SCHEME, SMOOTH, START, STEP, RunView, build, of_client, recipes, shorter
from fedtheory.papers.fedadmm.transition import STATE, IterationView
from fedtheory.problems.base import Problem

_turn, _eps_l, _eps_k, _away_l, _away_k = parts(
    "|pi_i^{k+1}-pi_i^{l+1}|^2 eps_i^{l+1} eps_i^{k+1} |Dbar_i^{l+1}|^2 |Dbar_i^{k+1}|^2"
)


def _right(eps: Any) -> Any:
    return 6 * eps + 6 * alpha_i**2 * r_i**2 * (_away_k + _away_l)


def _long_rounds(rng: np.random.Generator) -> Iterator[Recipe]:
    """Runs of which the last iteration of a round is looked at, now and then with penalties far above what is asked."""
    for recipe in recipes(rng, k0s=(1, 2, 3, 3)):
        k0, factor = recipe["k0"], pick(rng, (None, Fraction(20)))
        clients = tuple({**c, "factor": factor or c["factor"]} for c in recipe["clients"])
        yield {**recipe, "k": recipe["k"] // k0 * k0 + k0 - 1, "clients": clients}


LONG_ROUNDS = replace(RUN, drawing=replace(RUN.drawing, special=Instances(_long_rounds, build, shorter)))


def _first(v: RunView) -> int:
    """l + 1, of the first iteration l of the round of k."""
    return (v.run.round - 1) * v.fed.k0 + 1


# Two models of the clients in one round: w_i^{l+1} is the W of the state, w_i^{k+1} is W + D


def _init(
    problem: Problem, params: transition.Params, w: Array, W: Array, Phi: Array, D: Array, E: Array, F: Array
) -> transition.State:
    """phi_i^{l+1} and phi_i^{k+1} are Phi and F; eps_i^{l+1} = |E_i|^2, or as much as (37) asks of both."""
    Pi = Phi - params.alpha[:, None] * problem.f.gradient(W)
    eps = transition.largest(square(E), square(Phi), square(F))
    return transition.State(w, W, Phi, D, E, F, Pi, eps, square(F))


def _known(problem: Problem, params: object, state: transition.State) -> Array:
    """Eq. (37) of both, with eps_i^{k+1} <= eps_i^{l+1}."""
    now, then = square(transition.residuals(problem, params, state)), square(state.F)
    return np.stack([now - state.eps, then - state.eps], axis=-2)


def _later_model(v: IterationView) -> Array:
    """w_i^{k+1}."""
    return v.state.W + v.state.D


def _turned(v: IterationView) -> Array:
    """pi_i^{k+1} - pi_i^{l+1}, where pi_i^{k+1} is phi_i^{k+1} - g_i^{k+1}."""
    return v.state.F + steepest(v.problem, v.params, _later_model(v)) - v.state.Pi


TWO = replace(
    STATE,
    text="any w^{tau_{k+1}}, and any w_i and pi_i with (37) after two iterations l <= k of one round; f_i with "
    "r_i-Lipschitz gradients, convex or not",
    algorithm=replace(transition.algorithm, name="fedadmm, two iterations of a round", init=_init),
    hints=replace(STATE.hints, known=_known),
)

_ID = "appendix-C.5/multipliers-of-two-iterations"
_READ = (
    "l = (tau_{k+1} - 1) k_0 is the first iteration of the round of k; the display stands in Appendix C.3, before (56)"
)
display_before_58 = section(
    "Appendix C.5, display before (58)",
    LONG_ROUNDS,
    SMOOTH,
    START,
    STEP,
    SCHEME,
    id=_ID,
)
TWO_ITERATIONS = (
    display_before_58(
        "",
        Inequality(
            _turn,
            _right(_eps_k),
            (
                of_client(_turn.name, lambda v, k: square(v.history.Pi[k + 1] - v.history.Pi[_first(v)])),
                of_client(_eps_k.name, lambda v, k: v.history.eps[k + 1]),
                of_client(_away_k.name, lambda v, k: v.away(k + 1)),
                of_client(_away_l.name, lambda v, k: v.away(_first(v))),
            ),
        ),
        "|pi^{k+1} - pi^{l+1}|^2 at most 6 eps^{k+1} + ...",
        tex=r"\|\boldsymbol{\pi}_i^{k+1}-\boldsymbol{\pi}_i^{\ell+1}\|^2\leq 6\epsilon_i^{k+1}+6\alpha_i^2r_i^2(\|"
        r"\triangle\overline{\mathbf{w}}_i^{k+1}\|^2+\|\triangle\overline{\mathbf{w}}_i^{\ell+1}\|^2)",
        uses=("eq-55/tolerances", "lemma-C.1/b", "eq-33"),
        reading=f"its two ends; {_READ}. That they tend to 0, which is drawn from it, does not depend on the error",
        literal_of=f"{_ID}/repaired",
    ),
    display_before_58(
        "repaired",
        Inequality(
            _turn,
            _right(_eps_l),
            (
                transition.of_client(_turn.name, lambda v: square(_turned(v))),
                transition.of_client(_eps_l.name, lambda v: v.state.eps),
                transition.of_client(_away_k.name, lambda v: square(_later_model(v) - v.state.w[..., None, :])),
                transition.of_client(_away_l.name, lambda v: square(v.gap())),
            ),
        ),
        "with 6 eps_i^{l+1} in place of 6 eps_i^{k+1}",
        setting=TWO,
        requires=(transition.SMOOTH,),
        reading="of any two models and multipliers of client i with (37), as eps_i^{k+1} is at most eps_i^{l+1} "
        "(eq-55/tolerances/repaired), and the same w in both iterations",
        repairs=_ID,
    ),
)

__all__ = ["TWO_ITERATIONS"]
