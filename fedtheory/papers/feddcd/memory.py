"""FedDCD, Theorem 5.2 for the algorithm as it is printed: only participants call their oracles, and w_i^(-1) = 0.

The client of an idle round keeps the answer that it stored, and its y_i, so that its error stays what it was. The
error of the first guesses, which is not small, is part of the initial value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.algorithms import inexact_feddcd
from fedtheory.claims import Claim
from fedtheory.classes import InexactOracles
from fedtheory.instances import Recipe, check_shape, number, numbers, pick
from fedtheory.kinds.bound import bound
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import T
from fedtheory.papers.feddcd import dual, identities, inexact
from fedtheory.papers.feddcd.dual import CONVEX, PARTICIPATION, SCALING, N, alpha, beta, section
from fedtheory.papers.feddcd.inexact import QUARTER, kappa
from fedtheory.problems.base import Problem
from fedtheory.problems.oracles import worst_case
from fedtheory.settings import Drawing, Hints, Identities, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

#: The weight of the stored errors in the potential, over alpha.
WEIGHT = Fraction(3, 16)


def allowed(problem: Problem, params: inexact_feddcd.Params) -> Scalar:
    """(1 - kappa)/4, the inexactness that Theorem 5.2 allows."""
    return (1 - inexact_feddcd.kappa(problem, params.tau)) / 4


def stored_error(problem: Problem, params: object, state: inexact_feddcd.State) -> Array:
    """sum_i |w_i - grad f_i^*(y_i)|^2 for the answers that the clients hold, from which their next calls start."""
    return ((state.w - problem.f.conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))


def potential(problem: Problem, params: inexact_feddcd.Params, state: inexact_feddcd.State) -> Array:
    """G(y) - G* + (3 alpha/16) sum_i |w_i - grad f_i^*(y_i)|^2 for the answers w_i that the clients hold."""
    return dual.dual_gap(problem, params, state) + WEIGHT * problem.mu * stored_error(problem, params, state)


def primal_distance(problem: Problem, params: inexact_feddcd.Params, state: inexact_feddcd.State) -> Array:
    """E|w^(T) - w*|^2 over the client and I_T: tau of N answer at y_i^(T), w_i as their guess; the others hold w_i."""
    answers = params.oracle.answer(problem.f, state.y, state.w, None).w
    return of_clients(problem, params.tau, answers, state.w)


def of_clients(problem: Problem, tau: int, new: Array, old: Array) -> Array:
    """E|w - w*|^2 over the client and I_T: tau of N return what is in ``new``, the others what is in ``old``."""
    n = problem.n
    fresh, held = (((w - problem.x_star[..., None, :]) ** 2).sum(axis=(-1, -2)) for w in (new, old))
    return (tau * fresh + (n - tau) * held) / n**2


def _with_oracles(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    """An oracle at an extreme of Definition 5.1 for each client; now and then they are less exact than allowed."""
    wide = pick(rng, (1,) * 15 + (2,))
    clients = tuple({**c, "c": wide * pick(rng, inexact.CONTRACTIONS)} for c in recipe["clients"])
    return {**recipe, "eta": Fraction(1, 4), "scale": Fraction(1), "clients": clients}


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> inexact_feddcd.Params:
    check_shape(recipe["d"], recipe["eta"])
    if not 2 <= recipe["tau"] <= problem.n:
        raise ValueError("FedDCD takes 2 <= tau <= N")
    oracle = worst_case(numbers([c["c"] for c in recipe["clients"]], exact))
    eta = number(recipe["eta"], exact)
    return inexact_feddcd.Params(recipe["tau"], dual.Lambda(recipe, problem, exact), eta, oracle, "keep")


_V, _V_0 = sympy.symbols("V V_0")
GAP_T = replace(dual.GAP_T, domain=None)
DISTANCE_T = Quantity(sympy.Symbol("|w^T-w*|^2"), primal_distance, after=True)
V_0 = Quantity(_V_0, potential)
_ORACLES = InexactOracles(allowed)
SETTING = Setting(
    "f_1, ..., f_N alpha-strongly convex and beta-smooth; oracles at the extremes of Definition 5.1, one a client; "
    "only participants call theirs; w^(-1) = 0; 2 <= tau <= N",
    letters=dual.LETTERS,
    algorithm=inexact_feddcd.algorithm,
    functions=dual.FUNCTIONS,
    drawing=Drawing(classes_stated=True, draw=_with_oracles, parameters=_parameters),
    adversaries=(_ORACLES,),
    domain=(*dual.SAMPLED, sympy.Le(alpha, beta)),
    potential=Quantity(_V, potential, True, inexact_feddcd.invariant),
    clients=(2, 3, 3, 4),
    hints=Hints(
        identities=Identities(
            "memory",
            {"n": N, "tau": dual.tau, "mu": alpha, "L": beta},
            identities.MEMORY,
            (SCALING,),
            {
                "gap": GAP_T,
                "first gap": dual.GAP_0,
                "potential": V_0,
                "distance": DISTANCE_T,
                "dual norm": dual.NORM_Y,
                "heterogeneity": dual.ZETA,
            },
        )
    ),
)

INEXACT = Hypothesis(inexact.INEXACT.text, met=_ORACLES.contains)
#: Eight times the kappa of Theorem 5.2.
rate = 1 - 8 * kappa


_MEMORY = (
    "the algorithm is the printed one: an idle client calls no oracle and keeps its w_i, and w_i^(-1) = 0; an extreme "
    "oracle returns grad + c_i (guess - grad), c_i^2 up to what Definition 5.1 allows"
)
_NEW = "; w^(T) are the answers after the calls of round T, of which only those of I_T are new"


def _theorem_52(
    name: str,
    gist: str,
    constant: sympy.Expr,
    initial: Quantity,
    of_potential: sympy.Expr | None = None,
    *,
    tex: str,
    uses: tuple[str, ...],
) -> Iterator[Claim]:
    """A part of Theorem 5.2 as printed, as its proof has it, and with the errors of the first guesses."""
    gap = name == "eq-8"
    left, reading = (GAP_T, _MEMORY) if gap else (DISTANCE_T, _MEMORY + _NEW)
    theorem_52 = section("Theorem 5.2", SETTING, CONVEX, PARTICIPATION, SCALING, INEXACT, QUARTER)
    printed = theorem_52(
        name,
        bound(inexact_feddcd.algorithm, E(left) <= constant * (1 - kappa) ** T * initial),
        gist + ", with w_i^(-1) = 0 as printed" * gap,
        tex=tex,
        uses=uses,
        reading=reading,
        root=dual.FIRST_ANSWER,
    )
    # The same steps, with those of the proof for those of the theorem.
    of_calls = tuple(id + "/refreshed" * id.startswith("theorem-5.2/") for id in uses)
    cold, warm = inexact.refreshed(name, gist, constant, initial, of_calls)
    yield from (printed, warm)
    if of_potential is not None:
        yield theorem_52(
            f"{name}/repaired-memory",
            bound(inexact_feddcd.algorithm, E(left) <= of_potential * rate**T * V_0),
            f"{gist.split(',')[0]} with the memory as printed: idle clients keep their answers; the first guesses "
            "0 are paid for in the initial value, and the rate is 8 kappa",
            reading=reading,
            repairs=printed.id,
        )
    yield cold


SECTION_5 = (
    *_theorem_52(
        "eq-8",
        "dual gap of inexact FedDCD",
        sympy.S.One,
        dual.GAP_0,
        sympy.S.One,
        tex=r"\mathbb{E}\left[G(y^{(T)})-G(y^*)\right]\le(1-\kappa)^T(G(y^{(0)})-G(y^*)), \quad \kappa=\frac{(\tau-1)"
        r"\alpha}{32(N-1)\beta}",
        uses=("theorem-C.1", "block-smoothness"),
    ),
    *_theorem_52(
        "eq-9",
        "primal distance of inexact FedDCD, through norm(y*)",
        sympy.Rational(20, 3) / (N * alpha**2),
        dual.NORM_Y,
        sympy.Rational(32, 3) / (N * alpha),
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{20}{3N\alpha^2}(1-\kappa)^T\|y^*\|^2",
        uses=("lemma-E.1/inexact", "theorem-5.2/eq-8", "lemma-E.2"),
    ),
    *_theorem_52(
        "zeta",
        "primal distance of inexact FedDCD, through zeta",
        sympy.Rational(20, 3) / alpha**2,
        dual.ZETA,
        tex=r"\mathbb{E}\left[\|w^{(T)}-w^*\|^2\right]\le\frac{20}{3\alpha^2}(1-\kappa)^T\zeta^2",
        uses=("theorem-5.2/eq-9", "heterogeneity"),
    ),
)
