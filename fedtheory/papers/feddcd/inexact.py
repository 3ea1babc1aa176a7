"""FedDCD, Section 5: gradients of f_i^* from inexact oracles, for the claims of Appendices C and E too.

Read throughout: every client calls its oracle in every round, as Lemma C.2 assumes; the coordinate methods draw their
sets by the weighted sampling of Appendix B.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import inexact_feddcd
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.parts import zeros
from fedtheory.claims import Claim
from fedtheory.classes import InexactOracles
from fedtheory.instances import Recipe, check_shape, number, numbers, pick
from fedtheory.kinds.bound import Bound, bound
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import T
from fedtheory.papers.feddcd import dual, identities
from fedtheory.papers.feddcd.dual import (
    CONVEX,
    FIRST_ANSWER,
    PARTICIPATION,
    SAMPLED,
    SCALING,
    N,
    alpha,
    beta,
    eta,
    section,
    tau,
)
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import Oracle, worst_case
from fedtheory.settings import Drawing, Hints, Identities, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

delta = sympy.Symbol("delta", positive=True)

#: The constant of Theorem 5.2.
kappa = (tau - 1) * alpha / (32 * (N - 1) * beta)


class TrackedState(NamedTuple):
    """A state of inexact FedDCD with what its lemmas sum up over the rounds so far.

    ``y``, ``w``: as in the algorithm. ``drift``: sum_{j<t} delta^{t-j} |grad G(y^j) - grad G(y^{j+1})|^2.
    ``gaps``: delta^t gap_0 + sum_{1<=j<=t} (delta^{t-j} + delta^{t-j+1}) gap_j.
    """

    y: Array
    w: Array
    drift: Array
    gaps: Array


#: As in the algorithm, where every client calls its oracle.
PARTS = {
    "y": inexact_feddcd.LINES["y"],
    "w": "w_i <- the oracle's answer at the old y_i, with w_i as its guess, for all clients",
    "drift": "drift <- delta (drift + |grad G(y_next) - grad G(y)|^2)",
    "gaps": "gaps <- delta gaps + (1 + delta)(G(y_next) - G*), from G(y) - G*",
}


class TrackedParams(NamedTuple):
    """The fields of the algorithm's parameters, and ``delta``, for which the oracle is delta/2-inexact."""

    tau: int
    Lambda: Array
    eta: Scalar
    oracle: Oracle
    idle: str
    delta: Scalar


def _base(params: TrackedParams) -> inexact_feddcd.Params:
    return inexact_feddcd.Params(*params[:5])


def _start(problem: Problem, params: TrackedParams, y: Array | None = None, w: Array | None = None) -> TrackedState:
    y = zeros(problem.n, problem.d) if y is None else y
    state = inexact_feddcd.State(y, zeros(problem.n, problem.d) if w is None else w)
    gap = dual.dual_gap(problem, params, state)
    return TrackedState(state.y, state.w, 0 * gap, gap)


def _draws(problem: Problem, params: TrackedParams, state: TrackedState) -> Any:
    return inexact_feddcd.draws(problem, _base(params), inexact_feddcd.State(*state[:2]))


def _step(problem: Problem, params: TrackedParams, state: TrackedState, draw: inexact_feddcd.Draws) -> TrackedState:
    after = inexact_feddcd.step(problem, _base(params), inexact_feddcd.State(*state[:2]), draw)
    conjugate_gradient = problem.f.conjugate_gradient
    moved = ((conjugate_gradient(after.y) - conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))
    gap = dual.dual_gap(problem, params, after)
    d = params.delta
    return TrackedState(after.y, after.w, d * (state.drift + moved), d * state.gaps + (1 + d) * gap)


def _fixed_point(problem: Problem, params: TrackedParams) -> TrackedState:
    y = problem.y_star
    return _start(problem, params, y, problem.f.conjugate_gradient(y))


tracked = Algorithm(
    "inexact-feddcd, tracked",
    TrackedParams,
    TrackedState,
    _start,
    _draws,
    _step,
    _fixed_point,
    inexact_feddcd.invariant,  # type: ignore[arg-type]
)


def _warm(problem: Problem, params: TrackedParams, y: Array | None = None, w: Array | None = None) -> TrackedState:
    """As :func:`_start`, but for the first guess, which is exact."""
    y = zeros(problem.n, problem.d) if y is None else y
    return _start(problem, params, y, problem.f.conjugate_gradient(y) if w is None else w)


#: A delta that Theorem 5.2 allows for all constants, twice the (1 - kappa)/4 of its oracle for the largest kappa, 1/32.
ALLOWED = Fraction(31, 64)
#: Contractions that a delta/2-inexact oracle then has: their squares are at most 0.2304.
CONTRACTIONS = tuple(Fraction(v, 25) for v in (-12, 0, 12, 6))


def _with_oracles(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """An oracle at an extreme of Definition 5.1 for each client; now and then for a smaller delta, or as inexact as a
    larger one allows, for which the theorem has no room."""
    wide = pick(rng, (Fraction(1),) * 12 + (Fraction(1, 2),) * 3 + (Fraction(2),))
    clients = tuple({**c, "c": wide * pick(rng, CONTRACTIONS)} for c in recipe["clients"])
    # Else delta is drawn with the other letters, at its bound too.
    given = {"delta": ALLOWED * wide**2} if wide != 1 or rng.random() < 3 / 4 else {}
    return {**recipe, **given, "eta": Fraction(1, 4), "scale": Fraction(1), "clients": clients}


def _as_in_theorem(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """As :func:`_with_oracles`, without a delta: there is one only."""
    return {name: value for name, value in _with_oracles(rng, recipe).items() if name != "delta"}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> TrackedParams:
    n, tau, eta = problem.n, recipe["tau"], recipe["eta"]
    check_shape(recipe["d"], eta, recipe["delta"])
    if not 2 <= tau <= n:
        raise ValueError("FedDCD takes 2 <= tau <= N")
    oracle = worst_case(numbers([c["c"] for c in recipe["clients"]], exact))
    delta = number(recipe["delta"], exact)
    return TrackedParams(tau, dual.Lambda(recipe, problem, exact), number(eta, exact), oracle, "refresh", delta)


def _parameters_in_proof(recipe: Recipe, problem: Problem, exact: bool) -> TrackedParams:
    """As :func:`_parameters`, with the delta of Theorem C.1, (1 - kappa)/2."""
    share = Fraction(recipe["tau"] - 1, max(problem.n - 1, 1)) * recipe["alpha"] / recipe["beta"]
    return _parameters({**recipe, "delta": (1 - share / 32) / 2}, problem, exact)


def _error(problem: Problem, params: object, state: TrackedState) -> Array:
    """sum_i |last estimate_i - gradient_i|^2, from which the next call starts; 0 where the guess is exact."""
    return ((state.w - problem.f.conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))


def answers(problem: Problem, params: TrackedParams, state: TrackedState) -> Array:
    """w^{(t)}: the oracles' answers at y^{(t)}, ``(..., N, d)``."""
    return params.oracle.answer(problem.f, state.y, state.w, None).w


def oracle_error(problem: Problem, params: TrackedParams, state: TrackedState) -> Array:
    """sum_i |w_i^{(T)} - grad f_i^*(y_i^{(T)})|^2, w_i^{(T)} the oracle's answer at y_i^{(T)}, its guess w_i."""
    exact = problem.f.conjugate_gradient(state.y)
    return ((answers(problem, params, state) - exact) ** 2).sum(axis=(-1, -2))


def primal_distance(problem: Problem, params: TrackedParams, state: TrackedState) -> Array:
    """(1/N) sum_i |w_i^{(T)} - w*|^2, w_i^{(T)} the oracle's answer at y_i^{(T)}, with w_i as its guess."""
    return ((answers(problem, params, state) - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


def drift(problem: Problem, params: object, state: TrackedState) -> Array:
    """drift, which is sum_{j<t} delta^{t-j} |grad G(y^j) - grad G(y^{j+1})|^2, at t = T."""
    return state.drift


def sum_of_gaps(problem: Problem, params: object, state: TrackedState) -> Array:
    """gaps, which is delta^t g_0 + sum_{1<=j<=t} (delta^{t-j} + delta^{t-j+1}) g_j, g_j = G(y^j) - G*, at t = T."""
    return state.gaps


_gap_T, _distance_T, _error_T, _drift, _gaps = (
    sympy.Symbol(name) for name in ("G(y^T)-G*", "|w^T-w*|^2", "|w^T-grad|^2", "sum_of_drifts", "sum_of_gaps")
)
GAP_T = Quantity(_gap_T, dual.dual_gap, after=True)
DISTANCE_T = Quantity(_distance_T, primal_distance, after=True)
ERROR_T = Quantity(_error_T, oracle_error, after=True)
DRIFT_T = Quantity(_drift, drift, after=True)
GAPS_T = Quantity(_gaps, sum_of_gaps, after=True)
_WORDS = "f_1, ..., f_N alpha-strongly convex and beta-smooth; oracles at the extremes of Definition 5.1, one a client"
_ORACLES = InexactOracles(lambda problem, params: params.delta / 2)
INEXACT = Hypothesis(
    "the oracles are (1 - kappa)/4-inexact, kappa = alpha (tau - 1)/(32 beta (N - 1))",
    sympy.Le(2 * delta, 1 - kappa, evaluate=False),
)
COLD = Setting(
    _WORDS + "; w^(-1) = 0; 2 <= tau <= N",
    letters={**dual.LETTERS, delta: "delta"},
    algorithm=tracked,
    functions=dual.FUNCTIONS,
    drawing=Drawing(classes_stated=True, draw=_with_oracles, parameters=_parameters),
    adversaries=(_ORACLES,),
    domain=SAMPLED,
    hints=Hints(
        lyapunov=(dual.dual_gap, _error),
        identities=Identities(
            "inexact blocks",
            {"n": N, "tau": tau, "mu": alpha, "L": beta, "delta": delta},
            identities.INEXACT,
            (SCALING, INEXACT),
            {
                "gap": GAP_T,
                "first gap": dual.GAP_0,
                "distance": DISTANCE_T,
                "dual norm": dual.NORM_Y,
                "heterogeneity": dual.ZETA,
                "error": ERROR_T,
                "drift": DRIFT_T,
                "gaps": GAPS_T,
            },
        ),
    ),
    clients=(2, 3, 3, 4),
)
WARM = replace(
    COLD, text=_WORDS + "; w^(-1) = grad f_i^*(y^(0)); 2 <= tau <= N", algorithm=replace(tracked, init=_warm)
)
#: As in the proof of Theorem C.1, in which delta is no longer free.
COLD_IN_PROOF = replace(
    COLD,
    letters={**dual.LETTERS, delta: lambda problem, params: params.delta},
    drawing=replace(COLD.drawing, draw=_as_in_theorem, parameters=_parameters_in_proof),
)
ORACLE = Hypothesis("each oracle is delta/2-inexact", met=_ORACLES.contains)
QUARTER = Hypothesis("eta = 1/4", sympy.Eq(4 * eta, 1, evaluate=False))
#: As Algorithm 3 asks.
BELOW_ONE = Hypothesis("delta < 1", sympy.Lt(delta, 1, evaluate=False))
#: Its value in the proof of Theorem C.1.
DELTA = Hypothesis("delta = (1 - kappa)/2", sympy.Eq(2 * delta, 1 - kappa, evaluate=False))
THEOREM = (CONVEX, PARTICIPATION, SCALING, INEXACT, ORACLE, QUARTER)
_READING = (
    "every client calls its oracle in every round; an extreme oracle returns grad + c_i (guess - grad), c_i^2 up to "
    "what Definition 5.1 allows"
)
FIRST_EXACT = "with the exact gradient as the first guess, so that the first answer has no error"


def _pair(printed: Claim, repairs: str = "", reading: str = "") -> tuple[Claim, Claim]:
    """A claim as printed, and repaired by an exact first guess; ``repairs``: the claim that this repairs, if another;
    ``reading``: of that claim."""
    repairs = repairs or printed.id.removeprefix("feddcd/")
    warm = section(printed.where, WARM, *printed.requires, id="")(
        f"{repairs}/repaired",
        printed.statement,
        FIRST_EXACT,
        kind=printed.kind,
        reading=printed.reading + reading,
        repairs=repairs,
    )
    return printed, warm


def refreshed(name: str, gist: str, constant: Any, initial: Quantity, uses: tuple[str, ...]) -> tuple[Claim, Claim]:
    """A part of Theorem 5.2 where every client calls its oracle in every round: from w^(-1) = 0, from exact guesses."""
    left = GAP_T if name == "eq-8" else DISTANCE_T
    # Lemma C.2 bounds the errors of calls by all clients in all rounds.
    cold = section("Theorem 5.2", COLD, *THEOREM)(
        f"{name}/refreshed",
        bound(tracked, E(left) <= constant * (1 - kappa) ** T * initial),
        f"{gist}; every client calls its oracle in every round, as the proof has it",
        origin="implied",
        uses=uses,
        reading=_READING,
        root=FIRST_ANSWER,
    )
    more = "; this changes the algorithm's start and what idle clients do, not only its analysis"
    return _pair(cold, f"theorem-5.2/{name}", more)


def lemma(
    id: str,
    where: str,
    gist: str,
    left: Quantity,
    right: Any,
    more: Quantity,
    tex: str,
    uses: tuple[str, ...] = (),
    flaw: str = "",
) -> tuple[Claim, Claim]:
    """A lemma as printed, where the first answers may be wrong, and repaired by an exact first guess."""
    of_lemma = section(where, COLD, CONVEX, PARTICIPATION, ORACLE, id="")(
        id,
        Bound(tracked, left.expression, sympy.S.One, sympy.S.One, (left, more), override=right),
        gist,
        reading=_READING + "; tested along FedDCD, where all L_i = 1/alpha and the sets are uniform",
        tex=tex,
        uses=uses,
        flaw=flaw,
        root=FIRST_ANSWER,
    )
    cold, warm = _pair(of_lemma)
    return replace(cold, requires=(*cold.requires, BELOW_ONE)), warm
