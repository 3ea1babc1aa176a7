"""FedDCD, Appendix C: the displays of the proof of Theorem C.1, from (28) to (36)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import inexact_feddcd, rbcd
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.next_round import NextRound
from fedtheory.algorithms.parts import zeros
from fedtheory.claims import Claim
from fedtheory.instances import Recipe, check_shape, number, numbers
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.feddcd import appendix_b, dual, inexact
from fedtheory.papers.feddcd.dual import alpha, beta, section
from fedtheory.problems.base import Problem
from fedtheory.randomness import WeightedSubset
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

eta = dual.eta

# (28): a step along any estimate of the gradient


class Params(NamedTuple):
    """``tau``: blocks a step; ``L (n,)``: smoothness constants; ``eta``: step length."""

    tau: int
    L: Array
    eta: Scalar


class State(NamedTuple):
    """``x``: all blocks; ``slope``: an estimate of grad h(x); ``last``: grad h where the last step began;
    ``(..., n, d)`` each."""

    x: Array
    slope: Array
    last: Array


def _init(
    problem: Problem,
    params: Params,
    x: Array | None = None,
    slope: Array | None = None,
    last: Array | None = None,
) -> State:
    origin = zeros(problem.n, problem.d)
    return State(*(origin if part is None else part for part in (x, slope, last)))


def _draws(problem: Problem, params: Params, state: State) -> WeightedSubset:
    return WeightedSubset(1 / params.L, params.tau)


def _step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """A step; the new estimate is irrelevant here."""
    after = state.x - params.eta * rbcd.G(params.L, draw, state.slope)
    return State(after, state.slope, problem.f.gradient(state.x))


def _origin(problem: Problem, params: Params) -> State:
    return State(*(zeros(problem.n, problem.d),) * 3)


def _optimum(problem: Problem, params: Params) -> State:
    x = rbcd.constrained_minimiser(problem)
    return State(x, problem.f.gradient(x), problem.f.gradient(x))


estimated = Algorithm("rbcd with estimates", Params, State, _init, _draws, _step, _origin)
feasible = replace(estimated, fixed_point=_optimum, invariant=rbcd.invariant)  # type: ignore[arg-type]


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    check_shape(recipe["d"], recipe["eta"], *(c["L"] for c in recipe["clients"]))
    L = numbers([c["L"] for c in recipe["clients"]], exact)
    return Params(recipe["tau"], L, number(recipe["eta"], exact))


ESTIMATED = replace(
    appendix_b.ANYWHERE,
    text=f"{appendix_b.ANYWHERE.text}, and any estimate of grad h(x); eta > 0",
    letters={**appendix_b.LETTERS, eta: "eta"},
    algorithm=estimated,
    drawing=replace(appendix_b.ANYWHERE.drawing, parameters=_parameters, sweep={}),
    clients=(2, 3, 3),
)


FEASIBLE = replace(
    ESTIMATED,
    text=f"{appendix_b.SETTING.text}, and any estimate of grad h(x); eta > 0",
    algorithm=feasible,
    functions=appendix_b.BLOCK_FUNCTIONS,
)


def _in_L_norm(of: Callable[[Problem, State], Array]) -> Any:
    """|G_[n] of(problem, state)|_L^2."""

    def value(problem: Problem, params: Params, state: State) -> Array:
        image = rbcd.G(params.L, np.ones(problem.n, dtype=bool), of(problem, state))
        return (params.L[:, None] * image**2).sum(axis=(-1, -2))

    return value


def _slope_product(problem: Problem, params: Params, state: State) -> Array:
    """<grad h(x), G_[n] of the estimate>."""
    image = rbcd.G(params.L, np.ones(problem.n, dtype=bool), state.slope)
    return (problem.f.gradient(state.x) * image).sum(axis=(-1, -2))


def _gradient(problem: Problem, state: State) -> Array:
    return problem.f.gradient(state.x)


def _error(problem: Problem, state: State) -> Array:
    return state.slope - problem.f.gradient(state.x)


_h_next, _h, _product, _slope, _true, _off = (
    sympy.Symbol(name)
    for name in (
        "h(x_next)",
        "h(x)",
        "<grad h, G ~grad h>",
        "|G ~grad h|_L^2",
        "|G grad h|_L^2",
        "|G(~grad h-grad h)|_L^2",
    )
)
_H_NEXT, _H = Quantity(_h_next, appendix_b.h, after=True), Quantity(_h, appendix_b.h)
_PRODUCT = Quantity(_product, _slope_product)
SLOPE = Quantity(_slope, _in_L_norm(lambda problem, state: state.slope))
TRUE = Quantity(_true, _in_L_norm(_gradient))
OFF = Quantity(_off, _in_L_norm(_error))
_H_GAP = Quantity(sympy.Symbol("h(x)-h*"), appendix_b.h_gap)
_H_GAP_NEXT = Quantity(sympy.Symbol("h(x_next)-h*"), appendix_b.h_gap, after=True)


def _squared_error(problem: Problem, params: Params, state: State) -> Array:
    """|~grad h(x) - grad h(x)|^2."""
    return (_error(problem, state) ** 2).sum(axis=(-1, -2))


def _change(problem: Problem, params: Params, state: State) -> Array:
    """|grad h(x_next) - grad h(x)|^2."""
    return ((problem.f.gradient(state.x) - state.last) ** 2).sum(axis=(-1, -2))


ERROR = Quantity(sympy.Symbol("|~grad h-grad h|^2"), _squared_error)
_CHANGE = Quantity(sympy.Symbol("|grad h(x_next)-grad h(x)|^2"), _change, after=True)
_r = appendix_b.r
_low, _high, _mu = appendix_b.L_min, appendix_b.L_max, appendix_b.mu
#: alpha of eq. (34), M of eq. (32) and kappa of eq. (33).
_alpha_34 = 2 * (_r * eta / 2 + _r * eta**2) * _high / _low**2
_M_32 = (_r * eta / 2 + _r * eta**2 + 2 * _alpha_34 * _r * eta**2 * _high**2 / _low) * _high / _low**2
_kappa_33 = (_r * eta / 2 - _r * eta**2 - 2 * _alpha_34 * _r * _high**2 * eta**2 / _low) * 2 * _mu / _high
SHORT = Hypothesis(
    "eta is at most that of eq. (34)",
    sympy.And(sympy.Le(4 * eta, 1, evaluate=False), sympy.Le(16 * _r * _high**3 * eta**2, _low**3, evaluate=False)),
)
_first = _h - _r * eta * _product + _r * eta**2 / 2 * _slope
_third = _h - _r * eta * _true + _r * eta * (_true / 2 + _off / 2) + _r * eta**2 / 2 * _slope
_last = _h - _r * eta * _true + _r * eta * (_true / 2 + _off / 2) + _r * eta**2 * (_off + _true)

# (29) to (36), along FedDCD, where L_min = L_max = 1/alpha and mu = 1/beta; sums over rounds so far are in the state


def _next(
    problem: Problem, params: inexact.TrackedParams, state: inexact.TrackedState, draw: inexact_feddcd.Draws
) -> inexact_feddcd.State:
    """y and w after a round, without what lemmas sum up."""
    base = inexact_feddcd.Params(*params[:5])
    return inexact_feddcd.step(problem, base, inexact_feddcd.State(*state[:2]), draw)


def _gap_after(problem: Problem, params: inexact.TrackedParams, state: object, after: inexact_feddcd.State) -> Array:
    """G(y_next) - G*."""
    return dual.dual_gap(problem, params, after)


def _moved(problem: Problem, params: object, state: inexact.TrackedState, after: inexact_feddcd.State) -> Array:
    """|grad G(y) - grad G(y_next)|^2."""
    gradient = problem.f.conjugate_gradient
    return ((gradient(state.y) - gradient(after.y)) ** 2).sum(axis=(-1, -2))


def _projected(problem: Problem, params: object, state: inexact.TrackedState) -> Array:
    """sum_i |w_i - w_bar|^2 for w_i = grad f_i^*(y_i), w_bar their mean: 1/alpha times |G_[N] grad G(y)|_L^2."""
    w = problem.f.conjugate_gradient(state.y)
    return ((w - w.sum(axis=-2, keepdims=True) / problem.n) ** 2).sum(axis=(-1, -2))


_gap_next, _move, _gap, _spread, _drift = (
    sympy.Symbol(name)
    for name in (
        "G(y^(t+1))-G*",
        "|grad G(y^t)-grad G(y^(t+1))|^2",
        "G(y^t)-G*",
        "sum_i|w_i-w_bar|^2",
        "sum_of_drifts",
    )
)
_GAP_NEXT = Quantity(_gap_next, NextRound(inexact.tracked.draws, _next, _gap_after, "drift"), after=True)
MOVE = Quantity(_move, NextRound(inexact.tracked.draws, _next, _moved, "drift"), after=True)
_GAP = Quantity(_gap, dual.dual_gap, after=True)
SPREAD = Quantity(_spread, _projected, after=True)
DRIFT = Quantity(_drift, inexact.drift, after=True)
_share = dual.r
#: alpha of eq. (34), over L_max/L_min^2 = alpha, M of eq. (32) over the same, and kappa of eq. (33).
_half, _square = _share * eta / 2, _share * eta**2
_weight = 2 * (_half + _square)
_M = _half + _square + 2 * _weight * _square
_dual_kappa_33 = (_half - _square - 2 * _weight * _square) * 2 * alpha / beta


_HINTS, _IDENTITIES = inexact.COLD_IN_PROOF.hints, inexact.COLD_IN_PROOF.hints.identities
assert _IDENTITIES is not None
#: As in the proof, for statements about the round that follows T rounds.
DISPLAYED = replace(
    inexact.COLD_IN_PROOF,
    hints=replace(
        _HINTS,
        identities=replace(
            _IDENTITIES,
            model="one round",
            quantities={"next gap": _GAP_NEXT, "move": MOVE, "gap": _GAP, "spread": SPREAD, "drift": DRIFT},
        ),
    ),
)


_GISTS = {
    "29": "expected decrease of h, with the errors of earlier rounds for that of the oracle",
    "30": "eq. (29), with the last move added and subtracted",
    "31": "expected decrease of h by a share of h - h*, with the errors of earlier rounds, less the last move",
    "36": "expected decrease of h by a share kappa of h - h*, and the A_t",
}


def _displayed(
    number: str,
    left: Any,
    right: Any,
    quantities: tuple[Quantity, ...],
    reading: str,
    of: Setting,
    step: Any,
    tex: str,
    uses: tuple[str, ...],
    flaw: str = "",
) -> tuple[Claim, Claim]:
    """A display of the proof after t rounds, for every t; and ``step``, the same with the error for its bound."""
    display = section(f"eq. ({number})", DISPLAYED, *inexact.THEOREM, inexact.DELTA)
    printed = display(
        "",
        Bound(inexact.tracked, left, sympy.S.One, sympy.S.One, quantities, override=right),
        f"{_GISTS[number]}, as printed",
        kind="inequality",
        tex=tex,
        uses=uses,
        flaw=flaw,
        root=dual.FIRST_ANSWER,
        reading="along FedDCD, where L_min = L_max = 1/alpha, mu = 1/beta and eta = 1/4, in expectation over the "
        f"rounds; every client calls its oracle in every round; {reading}",
    )
    repaired = display(
        "repaired",
        step,
        "a step with |~grad h - grad h|^2 for the sum by which Lemma C.2 bounds it",
        kind="inequality",
        setting=of,
        requires=(appendix_b.STRUCTURE, appendix_b.SIZE, *((SHORT,) if of is FEASIBLE else ())),
        reading=f"for any estimate that does not depend on I; where the first guess is exact the sum is as large in "
        f"the mean (lemma-C.2/repaired), so that the display holds; {reading}",
        repairs=printed.id,
    )
    return printed, repaired


_ERRORS = (_r * eta / 2 + _r * eta**2) * _high / _low**2
_STEP_29 = one_step(estimated, E(_H_NEXT) <= _H - (_r * eta / 2 - _r * eta**2) * TRUE + _ERRORS * ERROR)
eq_28 = section("eq. (28)", ESTIMATED, appendix_b.STRUCTURE, appendix_b.SIZE)
APPENDIX_C = (
    eq_28(
        "",
        one_step(estimated, E(_H_NEXT) <= _H - _r * eta * _PRODUCT + _r * eta**2 / 2 * SLOPE),
        "expected decrease of h in one inexact step",
        kind="inequality",
        tex=r"\mathbb{E}\left[h(x^{(t+1)})\mid x^{(t)}\right]\leq h(x^{(t)})-\langle\nabla h(x^{(t)}),r\eta G_{[n]}"
        r"\widetilde{\nabla}h(x^{(t)})\rangle+\frac{r\eta^2}{2}\|G_{[n]}\widetilde{\nabla}h(x^{(t)})\|_{"
        r"\mathbf{L}}^2",
        reading="its first line, from which the others follow (eq-28/lines); for estimates that do not depend on I",
    ),
    eq_28(
        "lines",
        Inequality(_first, _last, (_H, _PRODUCT, SLOPE, TRUE, OFF), middle=_third),
        "its first line is at most the third, and that the last",
        kind="inequality",
        tex="",
        reading="the second line is the first with ~grad h = grad h + (~grad h - grad h)",
    ),
    *_displayed(
        "29",
        _gap_next,
        _gap - (_half - _square) * alpha * _spread + (_half + _square) * alpha * _drift,
        (_GAP_NEXT, _GAP, SPREAD, DRIFT),
        "its second line",
        ESTIMATED,
        _STEP_29,
        tex=r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2"
        r"\right)\|G_{[n]}\nabla h(x^{(t)})\|_L^2+\left(\frac{r\eta}{2}+r\eta^2\right)\frac{L_{\max}}{L_{\min}^2}"
        r"\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2\right]",
        uses=("lemma-C.2", "eq-28"),
        flaw="The error of the estimate is bounded by the sum of Lemma C.2, at t = 0 too, where that sum is empty and "
        "the first answer of the oracle may be wrong.",
    ),
    *_displayed(
        "30",
        _gap_next,
        _gap - (_half - _square) * alpha * _spread + (_half + _square) * alpha * _drift,
        (_GAP_NEXT, _GAP, SPREAD, DRIFT),
        "what it adds to eq. (29) and subtracts again is the same, so that it says the same",
        ESTIMATED,
        _STEP_29,
        tex=r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2"
        r"\right)\|G_{[n]}\nabla h(x^{(t)})\|_L^2+\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2+\left(\frac{r"
        r"\eta}{2}+r\eta^2\right)\frac{L_{\max}}{L_{\min}^2}\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-"
        r"\nabla h(x^{(j+1)})\|^2-\alpha\|\nabla h(x^{(t)})-\nabla h(x^{(t+1)})\|^2\right]",
        uses=("eq-29",),
    ),
    *_displayed(
        "31",
        _gap_next + _weight * alpha * _move,
        (1 - _dual_kappa_33) * _gap + _M * alpha * _drift,
        (_GAP_NEXT, MOVE, _GAP, DRIFT),
        "its last line, with alpha of eq. (34). That the sums in it are at most (1 - kappa) A_t - A_(t+1) is M <= "
        "alpha, theorem-C.1/parameters, which holds",
        FEASIBLE,
        one_step(feasible, E(_H_GAP_NEXT + _alpha_34 * _CHANGE) <= (1 - _kappa_33) * _H_GAP + _M_32 * ERROR),
        tex=r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\left(\frac{r\eta}{2}-r\eta^2-\frac{2"
        r"\alpha rL_{\max}^2\eta^2}{L_{\min}}\right)\frac{2\mu}{L_{\max}}(h(x^{(t)})-h(x^*))+\left(\frac{r"
        r"\eta}{2}+r\eta^2+\frac{2\alpha r\eta^2L_{\max}^2}{L_{\min}}\right)\frac{L_{\max}}{L_{\min}^2}"
        r"\sum_{j=0}^{t-1}\delta^{t-j}\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2-\alpha\|\nabla h(x^{(t)})-"
        r"\nabla h(x^{(t+1)})\|^2\right]",
        uses=("eq-30", "appendix-C/before-31", "lemma-B.6/weighted"),
    ),
    *_displayed(
        "36",
        _gap_next + _M * alpha * _move,
        (1 - inexact.kappa) * _gap + _M * alpha * _drift,
        (_GAP_NEXT, MOVE, _GAP, DRIFT),
        "(1 - kappa) A_t - A_(t+1) = M (sum_of_drifts - |grad G(y^t) - grad G(y^(t+1))|^2), as delta = (1 - kappa)/2, "
        "with kappa of the theorem",
        FEASIBLE,
        one_step(feasible, E(_H_GAP_NEXT + _M_32 * _CHANGE) <= (1 - _kappa_33) * _H_GAP + _M_32 * ERROR),
        tex=r"\mathbb{E}\left[h(x^{(t+1)})\right]\leq\mathbb{E}\left[h(x^{(t)})-\kappa(h(x^{(t)})-h(x^*))+(1-"
        r"\kappa)A_t-A_{t+1}\right]",
        uses=("eq-30", "eq-31"),
    ),
)
