"""FedADMM, Lemma C.2 c: all differences of eq. (52) vanish, as a corollary of what is known of each iteration."""

from __future__ import annotations

from fedtheory.algorithms import fedadmm
from fedtheory.claims import Claim
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import square
from fedtheory.papers.fedadmm import iterates, transition
from fedtheory.papers.fedadmm.descent import (
    ACCURACY,
    ACCURACY_NEXT,
    DUAL,
    LOCAL,
    LYAPUNOV,
    MOVED,
    OBJECTIVE,
    OF_ANY,
    SERVER,
)
from fedtheory.papers.fedadmm.letters import nu_i, q, section, sigma_i
from fedtheory.papers.fedadmm.limits import ASSUMED, LONG, SCHEME, START
from fedtheory.papers.fedadmm.transition import IDLE, ITERATION, SELECTED, SMOOTH, STEP, TRANSITION
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import Root
from fedtheory.settings.relations import Comparison, Quantity

_away, _away_next = (
    transition.at(name, iterates.disagreement, later, each=True)
    for name, later in (("|w_i^k-w^{tau_k}|^2", False), ("|Dbar_i^{k+1}|^2", True))
)


def _at_most(left: object, right: object, *quantities: Quantity) -> Inequality:
    return Inequality(left, right, quantities)


def _part(name: str, gist: str, statement: Inequality, *requires: Hypothesis) -> Claim:
    """Return a step of the derivation of Lemma C.2 c, which its proof takes for granted."""
    return section("Lemma C.2 and eq. (52)", TRANSITION, *requires, id="lemma-C.2/c")(
        name, statement, gist, origin="implied"
    )


SERVER_MOVE = transition.quantity("|w^{tau_{k+1}}-w^{tau_k}|^2", lambda v: square(v.after.w - v.state.w))
_eps, _eps_next = ACCURACY.expression, ACCURACY_NEXT.expression
_PARTS = (
    _part(
        "below",
        "Lemma C.2 b at every iteration",
        _at_most(OBJECTIVE.expression, LYAPUNOV, *OF_ANY, OBJECTIVE),
        SMOOTH,
        STEP,
    ),
    _part(
        "share",
        "one client's part of the sum of moves",
        _at_most(sigma_i * LOCAL.expression, MOVED.expression, LOCAL, MOVED),
    ),
    _part(
        "share-server",
        "one client's part of the sum of the moves of the server",
        _at_most(sigma_i * SERVER_MOVE.expression, SERVER.expression, SERVER_MOVE, SERVER),
    ),
    _part(
        "accuracy",
        "epsilon_i of the selected shrinks",
        _at_most(_eps_next, nu_i * _eps, ACCURACY, ACCURACY_NEXT),
        SELECTED,
    ),
    _part(
        "accuracy-idle",
        "epsilon_i of the idle stays",
        Inequality(_eps_next, _eps, (ACCURACY, ACCURACY_NEXT), also=(Comparison(_eps, "<=", _eps_next),)),
        IDLE,
    ),
    _part(
        "selected",
        "eq. (7) for the selected",
        _at_most(sigma_i**2 * _away_next.expression, DUAL.expression, _away_next, DUAL),
        SELECTED,
    ),
    _part(
        "idle",
        "the idle stay where they are, and the server moves",
        _at_most(
            sigma_i * _away_next.expression,
            2 * sigma_i * _away.expression + 2 * SERVER.expression,
            _away,
            _away_next,
            SERVER,
        ),
        IDLE,
    ),
)
_VANISHING = (
    ("eps_i^{k+1}", ACCURACY_NEXT.of),
    ("|w^{tau_{k+1}}-w^{tau_k}|", Root(SERVER_MOVE.of)),
    ("|w_i^{k+1}-w^{tau_{k+1}}|", Root(_away_next.of)),
    ("|w_i^{k+1}-w_i^k|", Root(LOCAL.of)),
    ("|pi_i^{k+1}-pi_i^k|", Root(DUAL.of)),
)
LEMMA_C1_D = section("Lemma C.1 and eq. (39)", LONG, SCHEME, START, id="lemma-C.1")(
    "d",
    Eventually(fedadmm.algorithm, vanishing=(Quantity(q("eps_i^{k+1}"), ACCURACY_NEXT.of),), iteration=ITERATION),
    "epsilon_i tends to 0",
    kind="limit",
    tex=r"\epsilon_i^{k+1}\to 0",
    uses=("eq-21",),
    reading="of every iteration, nu_i each its own; (5) as printed, with <=",
    follows=tuple(f"lemma-C.2/c/{name}" for name in ("accuracy", "accuracy-idle")),
)
LEMMA_C2_LIMIT = (
    section("Lemma C.2 and eq. (52)", LONG, *ASSUMED, START, id="lemma-C.2")(
        "c",
        Eventually(
            fedadmm.algorithm,
            vanishing=tuple(Quantity(q(name), of) for name, of in _VANISHING),
            iteration=ITERATION,
        ),
        "all differences vanish",
        kind="limit",
        tex=r"(\epsilon_i^{k+1},\triangle\mathbf{w}^{\tau_{k+1}},\triangle\overline{\mathbf{w}}_i^{k+1},\triangle"
        r"\mathbf{w}_i^{k+1},\triangle\boldsymbol{\pi}_i^{k+1})\to 0",
        uses=("lemma-4.1", "lemma-C.2/a", "lemma-C.2/b", "lemma-C.1/c", "lemma-C.1/d", "eq-21"),
        reading="of every iteration; in runs the largest of a window of rounds is looked at",
        follows=(
            "lemma-4.1/with-step-condition",
            "lemma-C.1/c",
            *(claim.id for claim in _PARTS),
        ),
    ),
    *_PARTS,
)

__all__ = ["LEMMA_C1_D", "LEMMA_C2_LIMIT", "SERVER_MOVE"]
