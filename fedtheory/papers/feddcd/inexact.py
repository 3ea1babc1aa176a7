"""FedDCD, Section 5 with Appendix C and the inexact part of Lemma E.1: gradients of f_i^* from inexact oracles.

Read throughout: every client calls its oracle in every round, as Lemma C.2 assumes; the coordinate methods draw their
sets by the weighted sampling of Appendix B.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import inexact_feddcd, inexact_rbcd
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.parts import zeros
from fedtheory.claims import Claim
from fedtheory.classes import InexactOracles
from fedtheory.instances import Recipe, check_shape, number, numbers, pick
from fedtheory.kinds.bound import Bound, bound
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import Min, T
from fedtheory.papers.feddcd import appendix_b, dual, identities
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

delta, r = sympy.symbols("delta r", positive=True)
mu, L_min, L_max = appendix_b.mu, appendix_b.L_min, appendix_b.L_max
alpha_C, M, eta_C = sympy.symbols("alpha_C M eta_C", positive=True)

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


def _squares(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """Blocks whose constants are squares, so that eta is rational: L_min/L_max in {1, 1/4} and r in {1, 1/4}."""
    n, tau = pick(rng, ((2, 2), (3, 3), (5, 2)))
    scale = pick(rng, tuple(Fraction(v) for v in (1, "1/3", 100, "1/100")))
    low, d = pick(rng, (1, 4)) if n < 5 else 1, min(recipe["d"], 2) if n < 5 else 1
    bounds = [scale * v for v in ([low] + [pick(rng, (low, 4)) for _ in range(n - 1)])]
    first = recipe["clients"][0]["c"][:1] * d
    clients = tuple(
        {
            "L": v,
            "h": tuple(pick(rng, (v, v, v / 10)) for _ in range(d)),
            "c": tuple(x + pick(rng, (0, 1, -1)) for x in first),
            "slack": pick(rng, CONTRACTIONS),
        }
        for v in bounds
    )
    return {"d": d, "tau": tau, "level": Fraction(0), "clients": clients}


def _block_parameters(idle: str, recipe: Recipe, problem: Problem, exact: bool) -> inexact_rbcd.Params:
    L = numbers([c["L"] for c in recipe["clients"]], exact)
    mu = min(v for c in recipe["clients"] for v in c["h"])
    constants = inexact_rbcd.constants(Fraction(mu), numbers([c["L"] for c in recipe["clients"]], True), recipe["tau"])
    check_shape(problem.n, constants.eta)
    if not isinstance(constants.eta, Fraction):
        raise ValueError("eta must be rational")
    oracle = worst_case(numbers([c["slack"] for c in recipe["clients"]], exact))
    return inexact_rbcd.Params(recipe["tau"], L, number(constants.eta, exact), oracle, idle)


def _warm_blocks(
    problem: Problem, params: inexact_rbcd.Params, x: Array | None = None, slope: Array | None = None
) -> inexact_rbcd.State:
    """As the algorithm's own start, but for the first guess, which is exact."""
    x = zeros(problem.n, problem.d) if x is None else x
    return inexact_rbcd.State(x, problem.f.gradient(x) if slope is None else slope)


def _error(problem: Problem, params: object, state: TrackedState) -> Array:
    """sum_i |last estimate_i - gradient_i|^2, from which the next call starts; 0 where the guess is exact."""
    return ((state.w - problem.f.conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))


def _block_error(problem: Problem, params: object, state: inexact_rbcd.State) -> Array:
    return ((state.slope - problem.f.gradient(state.x)) ** 2).sum(axis=(-1, -2))


def _delta_C(problem: Problem, params: inexact_rbcd.Params) -> Scalar:
    return inexact_rbcd.constants(problem.mu, params.L, params.tau).delta / 2


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
_h_T, _h_0 = sympy.symbols("h(x^T)-h* h(x^0)-h*")
GAP_T = Quantity(_gap_T, dual.dual_gap, after=True)
DISTANCE_T = Quantity(_distance_T, primal_distance, after=True)
ERROR_T = Quantity(_error_T, oracle_error, after=True)
DRIFT_T = Quantity(_drift, drift, after=True)
GAPS_T = Quantity(_gaps, sum_of_gaps, after=True)
H_T = Quantity(_h_T, appendix_b.h_gap, after=True)
H_0 = Quantity(_h_0, appendix_b.h_gap)

_WORDS = "f_1, ..., f_N alpha-strongly convex and beta-smooth; oracles at the extremes of Definition 5.1, one a client"
_ORACLES, _ORACLES_C = InexactOracles(lambda problem, params: params.delta / 2), InexactOracles(_delta_C)
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
COLD_C = Setting(
    "h_1, ..., h_n as in Assumption B.1; first guess 0, idle estimates reset to 0; 1 < tau <= n",
    letters=appendix_b.LETTERS,
    algorithm=inexact_rbcd.algorithm,
    functions=appendix_b.BLOCK_FUNCTIONS,
    drawing=Drawing(classes_stated=True, start=("x",), draw=_squares, parameters=partial(_block_parameters, "reset")),
    adversaries=(_ORACLES_C,),
    domain=appendix_b.BLOCKS,
    # As printed, line 46 of Algorithm 3 resets idle estimates to 0.
    hints=Hints(lyapunov=(appendix_b.h_gap, _block_error)),
)
WARM_C = replace(
    COLD_C,
    text="h_1, ..., h_n as in Assumption B.1; first guess exact; 1 < tau <= n",
    algorithm=replace(inexact_rbcd.algorithm, init=_warm_blocks),
    drawing=replace(COLD_C.drawing, parameters=partial(_block_parameters, "refresh")),
)
_ORDERED = tuple(sympy.Le(*pair, evaluate=False) for pair in ((mu, L_min), (L_min, L_max), (r, 1)))
CONSTANTS = Setting("0 < mu <= L_min <= L_max, 0 < r <= 1", domain=_ORDERED)


ORACLE = Hypothesis("each oracle is delta/2-inexact", met=_ORACLES.contains)
QUARTER = Hypothesis("eta = 1/4", sympy.Eq(4 * eta, 1, evaluate=False))
#: As Algorithm 3 asks.
BELOW_ONE = Hypothesis("delta < 1", sympy.Lt(delta, 1, evaluate=False))
#: What it is in the proof of Theorem C.1.
DELTA = Hypothesis("delta = (1 - kappa)/2", sympy.Eq(2 * delta, 1 - kappa, evaluate=False))
THEOREM = (CONVEX, PARTICIPATION, SCALING, INEXACT, ORACLE, QUARTER)
_READING = (
    "every client calls its oracle in every round; an extreme oracle returns grad + c_i (guess - grad), c_i^2 up to "
    "what Definition 5.1 allows"
)
_FIRST_EXACT = "with the exact gradient as the first guess, so that the first answer has no error"


def _pair(printed: Claim, repairs: str = "", reading: str = "") -> tuple[Claim, Claim]:
    """A claim as printed, and repaired by an exact first guess; ``repairs``: the claim that this repairs, if another;
    ``reading``: of that claim."""
    repairs = repairs or printed.id.removeprefix("feddcd/")
    warm = section(printed.where, WARM, *printed.requires, id="")(
        f"{repairs}/repaired",
        printed.statement,
        _FIRST_EXACT,
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


def _lemma(
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


_structure = (appendix_b.STRUCTURE, appendix_b.SIZE)
_r = (appendix_b.tau - 1) / (appendix_b.n - 1)
_eta_printed = Min(sympy.Rational(1, 4), L_min * sympy.sqrt(L_min) / (4 * sympy.sqrt(r) * L_max * sympy.sqrt(L_max)))
_kappa_printed = r * mu / (8 * L_max) * _eta_printed
_M = (r * eta_C / 2 + r * eta_C**2 + 2 * alpha_C * r * eta_C**2 * L_max**2 / L_min) * L_max / L_min**2
_kappa_33 = (r * eta_C / 2 - r * eta_C**2 - 2 * alpha_C * r * L_max**2 * eta_C**2 / L_min) * 2 * mu / L_max
_theorem_C1 = bound(inexact_rbcd.algorithm, E(H_T) <= (1 - _kappa_printed.subs(r, _r)) ** T * H_0)
_C1_MET = (
    Hypothesis("eta as printed", met=lambda problem, params: _as_printed(problem, params)),
    Hypothesis("each oracle is delta/2-inexact, delta as printed", met=_ORACLES_C.contains),
)


def _as_printed(problem: Problem, params: inexact_rbcd.Params) -> bool:
    return bool(params.eta == inexact_rbcd.constants(problem.mu, params.L, params.tau).eta)


_LETTERS = Hypothesis("mu <= L_min <= L_max, r <= 1", sympy.And(*_ORDERED))
theorem_c1 = section("Theorem C.1", COLD_C, *_structure, *_C1_MET)
APPENDIX_C = (
    theorem_c1(
        "",
        _theorem_C1,
        "inexact RBCD, with the printed kappa, delta, eta",
        tex=r"\mathbb{E}\left[h(x^{(T)})\right]-h(x^*)\le(1-\kappa)^T\left[h(x^{(0)})-h(x^*)\right]",
        uses=("lemma-C.2", "lemma-B.4/eq-22", "lemma-B.6/weighted", "lemma-B.3/eq-20", "theorem-C.1/parameters"),
        reading="the guess before the first step, which the paper does not define, is 0 as in Section 5; line 46 sets "
        "the estimates of idle blocks to 0 in every step",
        flaw="Eq. (29) uses Lemma C.2 at t = 0 too, where it says that the first answers of the oracles are exact; "
        "and line 46 of Algorithm 3 sets the estimates of idle blocks to 0, where the proof has them renewed.",
        root=FIRST_ANSWER,
    ),
    theorem_c1(
        "repaired",
        _theorem_C1,
        "the same " + _FIRST_EXACT + ", and with every block calling its oracle in every step",
        setting=WARM_C,
        reading="line 46 is left out: an idle block keeps its estimate and refreshes it, as the proof of Lemma C.2 "
        "assumes",
        repairs="theorem-C.1",
    ),
    section("eqs. (32)-(35)", CONSTANTS, _LETTERS, id="theorem-C.1")(
        "parameters",
        ParameterRule(
            {},
            tuple(
                relation.subs(alpha_C, 2 * (r * eta_C / 2 + r * eta_C**2) * L_max / L_min**2).subs(eta_C, _eta_printed)
                for relation in (
                    sympy.Ge(alpha_C, _M, evaluate=False),
                    sympy.Ge(_kappa_33, _kappa_printed, evaluate=False),
                    sympy.Lt(_kappa_33, 1, evaluate=False),
                    sympy.Lt(0, _kappa_printed, evaluate=False),
                )
            ),
        ),
        "the printed eta and alpha satisfy the two conditions; range of kappa",
        tex=r"\alpha\geq M, \quad \kappa\in(0,1), \quad \frac{r\mu}{8L_{\max}}\min\left\{\frac{1}{4},\frac{L_{\min}^{"
        r"\frac{3}{2}}}{4r^{\frac{1}{2}}L_{\max}^{\frac{3}{2}}}\right\}\le\kappa<1",
    ),
    *_lemma(
        "lemma-C.2",
        "Lemma C.2",
        "error of the inexact oracle, for every t in N",
        ERROR_T,
        _drift,
        DRIFT_T,
        tex=r"\mathbb{E}\left[\|\widetilde{\nabla}h(x^{(t)})-\nabla h(x^{(t)})\|^2\right]\le\sum_{j=0}^{t-1}"
        r"\delta^{t-j}\mathbb{E}\left[\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2\right]",
        flaw="The recursion leads down to the error of the first answer, delta^t |~grad h(x^0) - grad h(x^0)|^2, "
        "which is left out. The first guess is 0, so the first answer may be wrong, and at t = 0 the right side "
        "is 0.",
    ),
)

# The chain in the proof of Theorem 5.2: v is ((1 - kappa)/delta)^T, and each side is over (8/(N alpha)) delta^T gap_0

_v, _kappa = sympy.symbols("v kappa", positive=True)
_gaps_sum = lambda q: 1 + (1 + delta) * q * (_v - 1) / (q - 1)  # noqa: E731
_geometric = lambda q: (1 + delta) * (q * _v - 1) / (q - 1)  # noqa: E731
IN_CHAIN = Setting("0 < kappa < 1, v >= 1", domain=(sympy.Lt(_kappa, 1), sympy.Ge(_v, 1, evaluate=False)))


def _over(quarter: int, *relations: sympy.Basic) -> ParameterRule:
    """Relations with delta = (1 - kappa)/``quarter``, where v is ``quarter``^T."""
    return ParameterRule({delta: (1 - _kappa) / quarter}, relations)


_OVER = "both sides over (8/(N alpha)) delta^T (G(y^0) - G*)"
_LAST = "the last step, to 20/3, is Lemma E.2"
chain = section("Appendix E", IN_CHAIN, id="appendix-E/chain")
CHAIN = (
    chain(
        "",
        _over(
            4,
            sympy.Le(_gaps_sum(4), _geometric(4), evaluate=False),
            sympy.Le(_geometric(4), sympy.Rational(5, 3) * _v, evaluate=False),
        ),
        "the chain from 40/3 to 20/3",
        kind="inequality",
        tex=r"\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}-1}{\left(\frac{1-"
        r"\kappa}{\delta}\right)-1}\left[G(y^{(0)})-G(y^*)\right]\le\frac{40}{3N\alpha}(1-\kappa)^T"
        r"\left[G(y^{(0)})-G(y^*)\right]\le\frac{20}{3N\alpha^2}(1-\kappa)^T\|y^*\|^2",
        uses=("lemma-E.1/inexact", "lemma-E.2"),
        reading=f"{_OVER}, v = 4^T; for delta = (1 - kappa)/4 in Lemma E.1, as printed; {_LAST}",
    ),
    chain(
        "literal",
        _over(4, sympy.Eq(_gaps_sum(4), _geometric(4), evaluate=False)),
        "the third line is equal to the second",
        kind="inequality",
        tex=r"\frac{8\delta^T}{N\alpha}\left\{1+(1+\delta)\sum_{t=1}^T\left(\frac{1-\kappa}{\delta}\right)^t\right\}="
        r"\frac{8(1+\delta)\delta^T}{N\alpha}\frac{\left(\frac{1-\kappa}{\delta}\right)^{T+1}-1}{\left(\frac{1-"
        r"\kappa}{\delta}\right)-1}",
        flaw="1 + (1 + delta) times the sum from 1 to T is (1 + delta) times the sum from 0 to T less delta: the sign "
        "of equality should be <=.",
        reading=f"{_OVER}, v = 4^T; the sum from 1 to T, and 1, against the sum from 0 to T: they differ by delta",
        literal_of="appendix-E/chain",
    ),
    chain(
        "oracles",
        _over(
            2,
            sympy.Le(_gaps_sum(2), _geometric(2), evaluate=False),
            sympy.Le(_geometric(2), sympy.Rational(5, 3) * _v, evaluate=False),
        ),
        "the same with the delta of Lemma E.1 that the oracles of Theorem 5.2 have",
        kind="inequality",
        origin="implied",
        flaw="Lemma E.1 concerns delta/2-inexact oracles, Theorem 5.2 of delta-inexact ones: its delta = (1 - "
        "kappa)/4 is half of that of the lemma.",
        reading=f"{_OVER}, v = 2^T; Lemma E.1 concerns delta/2-inexact oracles, and those of the theorem are (1 - "
        f"kappa)/4-inexact: delta is (1 - kappa)/2; {_LAST}",
    ),
    chain(
        "oracles/repaired",
        _over(
            2,
            sympy.Eq(_gaps_sum(2), (3 - _kappa) * _v - (2 - _kappa), evaluate=False),
            sympy.Le(_gaps_sum(2), _geometric(2), evaluate=False),
            sympy.Le(_geometric(2), (3 - _kappa) * _v, evaluate=False),
        ),
        "the same with 8 (3 - kappa) for 40/3, and 4 (3 - kappa) for 20/3, the least that the second line allows",
        kind="inequality",
        reading=f"{_OVER}, v = 2^T; its second line is (3 - kappa) v - (2 - kappa), and v grows with T without bound. "
        "That 20/3 serves, where the first guess is exact, is theorem-5.2/eq-9/repaired, by another way",
        repairs="appendix-E/chain/oracles",
    ),
)

_LEMMA_E1 = _lemma(
    "lemma-E.1/inexact",
    "Lemma E.1",
    "primal distance through the dual gaps, inexact oracle",
    DISTANCE_T,
    8 / (N * alpha) * _gaps,
    GAPS_T,
    tex=r"\mathbb{E}[\|\hat{w}^{(t)}-w^*\|^2]\leq\frac{8}{N\alpha}\left\{\delta^t\left[G(y^{(0)})-G(y^*)\right]+"
    r"\sum_{j=1}^{t}(\delta^{t-j}+\delta^{t-j+1})\left[G(y^{(j)})-G(y^*)\right]\right\}",
    uses=("lemma-E.1/exact", "lemma-C.2"),
)
APPENDIX_E = (*_LEMMA_E1, *CHAIN)
