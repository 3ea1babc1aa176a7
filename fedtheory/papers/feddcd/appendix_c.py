"""FedDCD, Appendix C: random block coordinate descent with inexact oracles, Theorem C.1 and Lemma C.2."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import sympy

from fedtheory.algorithms import inexact_rbcd
from fedtheory.algorithms.parts import zeros
from fedtheory.classes import InexactOracles
from fedtheory.instances import Recipe, check_shape, number, numbers, pick
from fedtheory.kinds.bound import bound
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import Min, T
from fedtheory.papers.feddcd import appendix_b
from fedtheory.papers.feddcd.dual import FIRST_ANSWER, section
from fedtheory.papers.feddcd.inexact import CONTRACTIONS, DRIFT_T, ERROR_T, FIRST_EXACT, lemma
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import worst_case
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

r = sympy.Symbol("r", positive=True)
mu, L_min, L_max = appendix_b.mu, appendix_b.L_min, appendix_b.L_max
alpha_C, eta_C = sympy.symbols("alpha_C eta_C", positive=True)


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


def _block_error(problem: Problem, params: object, state: inexact_rbcd.State) -> Array:
    return ((state.slope - problem.f.gradient(state.x)) ** 2).sum(axis=(-1, -2))


def _delta_C(problem: Problem, params: inexact_rbcd.Params) -> Scalar:
    return inexact_rbcd.constants(problem.mu, params.L, params.tau).delta / 2


_h_T, _h_0 = sympy.symbols("h(x^T)-h* h(x^0)-h*")
H_T = Quantity(_h_T, appendix_b.h_gap, after=True)
H_0 = Quantity(_h_0, appendix_b.h_gap)

_ORACLES = InexactOracles(_delta_C)
COLD_C = Setting(
    "h_1, ..., h_n as in Assumption B.1; first guess 0, idle estimates reset to 0; 1 < tau <= n",
    letters=appendix_b.LETTERS,
    algorithm=inexact_rbcd.algorithm,
    functions=appendix_b.BLOCK_FUNCTIONS,
    drawing=Drawing(classes_stated=True, start=("x",), draw=_squares, parameters=partial(_block_parameters, "reset")),
    adversaries=(_ORACLES,),
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

_structure = (appendix_b.STRUCTURE, appendix_b.SIZE)
_r = (appendix_b.tau - 1) / (appendix_b.n - 1)
_eta_printed = Min(sympy.Rational(1, 4), L_min * sympy.sqrt(L_min) / (4 * sympy.sqrt(r) * L_max * sympy.sqrt(L_max)))
_kappa_printed = r * mu / (8 * L_max) * _eta_printed
_M = (r * eta_C / 2 + r * eta_C**2 + 2 * alpha_C * r * eta_C**2 * L_max**2 / L_min) * L_max / L_min**2
_kappa_33 = (r * eta_C / 2 - r * eta_C**2 - 2 * alpha_C * r * L_max**2 * eta_C**2 / L_min) * 2 * mu / L_max
_theorem_C1 = bound(inexact_rbcd.algorithm, E(H_T) <= (1 - _kappa_printed.subs(r, _r)) ** T * H_0)
_C1_MET = (
    Hypothesis("eta as printed", met=lambda problem, params: _as_printed(problem, params)),
    Hypothesis("each oracle is delta/2-inexact, delta as printed", met=_ORACLES.contains),
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
        "the same " + FIRST_EXACT + ", and with every block calling its oracle in every step",
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
    *lemma(
        "lemma-C.2",
        "Lemma C.2",
        "error of the inexact oracle, for every t in N",
        ERROR_T,
        DRIFT_T.expression,
        DRIFT_T,
        tex=r"\mathbb{E}\left[\|\widetilde{\nabla}h(x^{(t)})-\nabla h(x^{(t)})\|^2\right]\le\sum_{j=0}^{t-1}"
        r"\delta^{t-j}\mathbb{E}\left[\|\nabla h(x^{(j)})-\nabla h(x^{(j+1)})\|^2\right]",
        flaw="The recursion leads down to the error of the first answer, delta^t |~grad h(x^0) - grad h(x^0)|^2, "
        "which is left out. The first guess is 0, so the first answer may be wrong, and at t = 0 the right side "
        "is 0.",
    ),
)
