"""FedDCD, the display between eqs. (30) and (31): how far the gradient of h moves in an inexact step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd import appendix_b, descent, dual, inexact
from fedtheory.papers.feddcd.appendix_b import L_max, L_min, r
from fedtheory.papers.feddcd.descent import ERROR, ESTIMATED, OFF, SLOPE, TRUE, Params, State, eta
from fedtheory.papers.feddcd.dual import section
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import E, Quantity

# A step along any estimate of the gradient, of which the last point is kept


def _step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    return descent.estimated.step(problem, params, state, draw)._replace(last=state.x)


_keeping = replace(descent.estimated, name="rbcd with estimates, which keeps its last point", step=_step)
KEEPING = replace(ESTIMATED, algorithm=_keeping)


def _turn(problem: Problem, state: State) -> Array:
    """grad h(x_next) - grad h(x)."""
    return problem.f.gradient(state.x) - problem.f.gradient(state.last)


def _move(problem: Problem, state: State) -> Array:
    """x_next - x, which is -eta G_I ~grad h(x)."""
    return state.x - state.last


def _square(of: Callable[[Problem, State], Array], weighted: bool) -> Any:
    """|of(problem, state)|^2, or |of(problem, state)|_L^2."""

    def value(problem: Problem, params: Params, state: State) -> Array:
        squares = of(problem, state) ** 2
        return ((params.L[:, None] * squares) if weighted else squares).sum(axis=(-1, -2))

    return value


TURN, TURN_L, MOVE_L = (
    Quantity(sympy.Symbol(name), _square(of, weighted), after=True)
    for name, of, weighted in (
        ("|grad h(x_next)-grad h(x)|^2", _turn, False),
        ("|grad h(x_next)-grad h(x)|_L^2", _turn, True),
        ("|eta G_I ~grad h|_L^2", _move, True),
    )
)
_scale = r * L_max**2 * eta**2 / L_min
_ID = "appendix-C/before-31"
_MET = (appendix_b.STRUCTURE, appendix_b.SIZE)
_OVER = "over alpha; for estimates that do not depend on I"


def _line(number: int, gist: str, statement: Any, tex: str) -> Claim:
    """The statement that line ``number`` is at most the next."""
    place = section("display between (30) and (31)", KEEPING, *_MET, id=_ID)
    return place(f"line-{number}", statement, gist, kind="inequality", tex=tex, reading=_OVER)


between_30_and_31 = section(
    "display between (30) and (31)", inexact.COLD_IN_PROOF, *inexact.THEOREM, inexact.DELTA, id=_ID
)
BEFORE_31 = (
    between_30_and_31(
        "",
        Bound(
            inexact.tracked,
            descent.MOVE.expression,
            sympy.S.One,
            sympy.S.One,
            (descent.MOVE, descent.SPREAD, descent.DRIFT),
            override=2 * dual.r * eta**2 * (descent.SPREAD.expression + descent.DRIFT.expression),
        ),
        "six lines, each a claim on its own where they differ",
        kind="inequality",
        tex=r"\mathbb{E}\left[\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]\leq\frac{2\alpha rL_{\max}^2"
        r"\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}\nabla h(x^{(t)})\|_L^2\right]+\frac{2\alpha r\eta^2L_{"
        r"\max}^3}{L_{\min}^3}\mathbb{E}\left[\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-\nabla "
        r"h(x^{(j+1)})\|^2\right]",
        uses=("lemma-C.2", "lemma-B.3/eq-20", "lemma-B.4/eq-22"),
        reading="its two ends over alpha, along FedDCD, where L_min = L_max = 1/alpha and eta = 1/4, in expectation "
        "over the rounds; every client calls its oracle in every round. Of its lines the last alone, which is Lemma "
        "C.2, does not follow: the others are -/line-1 to -/line-4",
    ),
    between_30_and_31(
        "repaired",
        one_step(_keeping, E(TURN) <= 2 * _scale * TRUE + 2 * _scale * L_max / L_min**2 * ERROR),
        "with |~grad h - grad h|^2 for the sum by which Lemma C.2 bounds it: the first line and the fifth",
        kind="inequality",
        setting=KEEPING,
        requires=_MET,
        reading=f"{_OVER}. Where the first guess is exact the sum is as large in the mean (lemma-C.2/repaired)",
        follows=tuple(f"{_ID}/line-{number}" for number in (1, 2, 3, 4)),
        repairs=_ID,
    ),
    _line(
        1,
        "|grad h(x_next) - grad h(x)|^2 by its L-norm",
        one_step(_keeping, E(TURN - TURN_L / L_min) <= 0),
        tex=r"\mathbb{E}\left[\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]\leq\mathbb{E}\left[\frac{"
        r"\alpha}{L_{\min}}\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|_L^2\right]",
    ),
    _line(
        2,
        "the gradient moves by L_max times the step at most, in the L-norm",
        one_step(_keeping, E(TURN_L - L_max**2 * MOVE_L) <= 0),
        tex=r"\mathbb{E}\left[\frac{\alpha}{L_{\min}}\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|_L^2\right]\leq"
        r"\mathbb{E}\left[\frac{\alpha L_{\max}^2}{L_{\min}}\|\eta G_{I_t}\widetilde{\nabla}h(x^{(t)})\|_L^2"
        r"\right]",
    ),
    _line(
        3,
        "by eq. (20) the mean over I",
        one_step(_keeping, E(MOVE_L) <= r * eta**2 * SLOPE),
        tex=r"\mathbb{E}\left[\frac{\alpha L_{\max}^2}{L_{\min}}\|\eta G_{I_t}\widetilde{\nabla}h(x^{(t)})\|_L^2"
        r"\right]\leq\frac{\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}\widetilde{"
        r"\nabla}h(x^{(t)})\|_L^2\right]",
    ),
    _line(
        4,
        "the estimate is the gradient and its error, the error in the L-norm by that in the plain one",
        Inequality(
            SLOPE.expression,
            2 * TRUE.expression + 2 * L_max / L_min**2 * ERROR.expression,
            (SLOPE, TRUE, OFF, ERROR),
            middle=2 * TRUE.expression + 2 * OFF.expression,
        ),
        tex=r"\frac{\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}\widetilde{\nabla}h(x^{(t)})\|_L^2"
        r"\right]\leq\frac{2\alpha rL_{\max}^2\eta^2}{L_{\min}}\mathbb{E}\left[\|G_{[n]}\nabla h(x^{(t)})\|_L^2"
        r"\right]+\frac{2\alpha r\eta^2L_{\max}^3}{L_{\min}^3}\mathbb{E}\left[\|\widetilde{\nabla}h(x^{(t)})-"
        r"\nabla h(x^{(t)})\|^2\right]",
    ),
)
