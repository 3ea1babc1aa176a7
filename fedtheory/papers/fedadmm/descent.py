"""FedADMM, Lemmas 4.1, C.1 and C.2 with the lines of their proofs: the descent of the augmented Lagrangian."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import along, iterates, transition
from fedtheory.papers.fedadmm.letters import alpha_i, k, nu_i, parts, q, r_i, sigma_i
from fedtheory.papers.fedadmm.runs import (
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    RunView,
    of_client,
    quantity,
)
from fedtheory.papers.fedadmm.transition import TRANSITION
from fedtheory.problems.base import Problem
from fedtheory.settings import Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.quantities import Square
from fedtheory.settings.relations import Comparison, Quantity

_FRACTION = sympy.Rational

# The quantities of Lemma 4.1

_L, _L_next = parts("L^k L^{k+1}")
_E, _E_next = parts("sum_i(eps_i^k/((1-nu_i)sigma_i)) sum_i(eps_i^{k+1}/((1-nu_i)sigma_i))")
_moved, _server = parts("sum_i(sigma_i|w_i^{k+1}-w_i^k|^2) sum_i(sigma_i|w^{tau_{k+1}}-w^{tau_k}|^2)")
LYAPUNOV, LYAPUNOV_NEXT = _L + 29 * _E, _L_next + 29 * _E_next
#: The quantities of Lemma 4.1 in iteration k of a run, and in one iteration from any state.
QUANTITIES = (
    quantity(_L.name, lambda v, k: v.lagrangian(k)),
    quantity(_L_next.name, lambda v, k: v.lagrangian(k + 1)),
    quantity(_E.name, lambda v, k: v.tolerances(k)),
    quantity(_E_next.name, lambda v, k: v.tolerances(k + 1)),
    quantity(_moved.name, lambda v, k: (v.fed.sigma * v.move(k)).sum(axis=-1)),
    quantity(_server.name, lambda v, k: v.fed.sigma.sum() * v.server(k)),
)
OF_ANY = (
    transition.at(_L.name, iterates.lagrangian),
    transition.at(_L_next.name, iterates.lagrangian, later=True),
    transition.at(_E.name, iterates.tolerances),
    transition.at(_E_next.name, iterates.tolerances, later=True),
    transition.quantity(_moved.name, lambda v: (v.params.sigma * v.move()).sum(axis=-1)),
    transition.quantity(_server.name, lambda v: v.params.sigma.sum() * square(v.after.w - v.state.w)),
)
MOVED, SERVER = OF_ANY[-2:]


def _descent(quantities: tuple[Quantity, ...]) -> Inequality:
    return Inequality((_moved + _server) / 10, LYAPUNOV - LYAPUNOV_NEXT, quantities)


DESCENT_OF_ANY = _descent(OF_ANY)

LEMMA_41 = (
    Claim(
        id="fedadmm/lemma-4.1",
        where="Lemma 4.1",
        kind="one-step",
        gist="descent of the augmented Lagrangian, under Assumption 4.1 alone as printed",
        setting=RUN,
        statement=_descent(QUANTITIES),
        requires=(SMOOTH, START),
        reading="w^{tau_0} is any; any points w_i^{k+1} that meet (6). The theorems that use the "
        "lemma, and the first line of its proof, have sigma_i >= 3 alpha_i r_i",
        literal_of="fedadmm/lemma-4.1/with-step-condition",
    ),
    Claim(
        id="fedadmm/lemma-4.1/repaired",
        where="Lemma 4.1",
        kind="one-step",
        gist="the same descent under sigma_i >= alpha_i r_i/0.381; the largest share for all nu_i < 1 is "
        "(sqrt(5365) - 29)/116, 0.3814",
        setting=TRANSITION,
        statement=DESCENT_OF_ANY,
        requires=(transition.SMOOTH, transition.step_condition(_FRACTION(1000, 381))),
        repairs="fedadmm/lemma-4.1",
    ),
    Claim(
        id="fedadmm/lemma-4.1/with-step-condition",
        where="Lemma 4.1",
        kind="one-step",
        gist="the same descent under sigma_i >= 3 alpha_i r_i",
        setting=TRANSITION,
        statement=DESCENT_OF_ANY,
        requires=(transition.SMOOTH, transition.STEP),
    ),
)

# Lemma C.1

DUAL = transition.of_client("|Dpi_i^{k+1}|^2", lambda v: square(v.after.Pi - v.state.Pi))
LOCAL = transition.of_client("|Dw_i^{k+1}|^2", lambda v: v.move())
ACCURACY, ACCURACY_NEXT = (
    transition.at("eps_i^k", iterates.accuracy, each=True),
    transition.at("eps_i^{k+1}", iterates.accuracy, later=True, each=True),
)


def _balance(v: transition.IterationView) -> Array:
    """sum_i (sigma_i (w_i^k - w^{tau_{k+1}}) + pi_i^k)."""
    sigma, w = v.params.sigma[:, None], v.after.w[..., None, :]
    total: Array = (sigma * (v.state.W - w) + v.state.Pi).sum(axis=-2)
    return total


def _intermediate(v: transition.IterationView, scaled: bool) -> Array:
    """sum_i sigma_i (z_i^k - w^{tau_{k+1}}) as printed, or sum_i (z_i^k - sigma_i w^{tau_{k+1}})."""
    sigma, w = v.params.sigma[:, None], v.after.w[..., None, :]
    Z = transition.before(v.problem, v.params, v.state).Z
    total: Array = (sigma * (Z - w) if scaled else Z - sigma * w).sum(axis=-2)
    return total


_BALANCE = transition.quantity("sum_i(sigma_i(w_i^k-w^{tau_{k+1}})+pi_i^k)", _balance)
_NOTHING = transition.quantity("0", lambda v: 0 * v.state.w)
_PRINTED = transition.quantity("sum_i(sigma_i(z_i^k-w^{tau_{k+1}}))", lambda v: _intermediate(v, True))
_SCALED = transition.quantity("sum_i(z_i^k-sigma_i*w^{tau_{k+1}})", lambda v: _intermediate(v, False))


class Models(NamedTuple):
    """``W (..., m, d)``: the w_i^0."""

    W: Array


def _first_residual(problem: Problem, params: transition.Params, state: Models) -> Array:
    """phi_i^0 of all clients, where Algorithm 1 starts: ``(..., m, d)``."""
    start = fedadmm.init(problem, params.fed, state.W)
    found: Array = start.Pi - iterates.steepest(problem, params, start.W)
    return found


LEMMA_C1 = (
    Claim(
        id="fedadmm/lemma-C.1/a",
        where="Lemma C.1 and eq. (36)",
        gist="optimality of the average",
        setting=TRANSITION,
        statement=identity(_BALANCE, _NOTHING),
        requires=(transition.BEGINS,),
        reading="k is in K, as the lemma says; by (8), z_i^k = sigma_i w_i^k + pi_i^k for all i (section-3.5)",
    ),
    Claim(
        id="fedadmm/lemma-C.1/a/intermediate",
        where="proof of Lemma C.1",
        gist="the intermediate expression sigma_i (z_i - w), as printed",
        setting=TRANSITION,
        statement=identity(_BALANCE, _PRINTED),
        requires=(transition.BEGINS,),
        reading="as the text at hand prints it: one factor too many",
        literal_of="fedadmm/lemma-C.1/a/intermediate/repaired",
    ),
    Claim(
        id="fedadmm/lemma-C.1/a/intermediate/repaired",
        where="proof of Lemma C.1",
        gist="the intermediate expression is sum_i (z_i - sigma_i w)",
        setting=TRANSITION,
        statement=identity(_BALANCE, _SCALED),
        requires=(transition.BEGINS,),
        repairs="fedadmm/lemma-C.1/a/intermediate",
    ),
    Claim(
        id="fedadmm/lemma-C.1/b",
        where="Lemma C.1 and eq. (37)",
        kind="invariant",
        gist="residual phi_i below epsilon_i, from k = 0",
        setting=along.RUNS,
        statement=inequality(
            along.then("|phi_i^k|^2", Square(iterates.residual), k, each=True)
            <= along.then("eps_i^k", iterates.accuracy, k, each=True)
        ),
        requires=(START,),
        reading="at every k >= 0, and so at every k + 1. At the start phi_i^0 = 0 (lemma-C.1/b/start), and what an "
        "iteration keeps, of the selected by (6) and of the idle by (9), the next one begins with",
        follows=("fedadmm/theorem-4.2/a/residual",),
    ),
    Claim(
        id="fedadmm/lemma-C.1/b/start",
        where="Lemma C.1 and eq. (37)",
        kind="identity",
        gist="phi_i^0 = 0, so that (37) holds at k = 0 whatever epsilon_i^0 is",
        setting=Setting(
            "f_i with r_i-Lipschitz gradients, convex or not; the start of Algorithm 1 at any W^0",
            letters=TRANSITION.letters,
            algorithm=points(
                Models, transition.Params, lambda problem, params: Models(np.zeros((problem.n, problem.d), dtype=int))
            ),
            functions=transition.FUNCTIONS,
            drawing=TRANSITION.drawing,
        ),
        statement=identity(
            Quantity(q("phi_i^0"), _first_residual), Quantity(q("0"), lambda problem, params, state: 0 * state.W)
        ),
        reading="of clients that are never selected (37) asks for it",
    ),
    Claim(
        id="fedadmm/lemma-C.1/c",
        where="Lemma C.1 and eq. (38)",
        gist="change of pi_i",
        setting=TRANSITION,
        statement=Inequality(
            DUAL.expression,
            6 * alpha_i**2 * r_i**2 / 5 * LOCAL.expression
            - 24 / (1 - nu_i) * (ACCURACY_NEXT.expression - ACCURACY.expression),
            (DUAL, LOCAL, ACCURACY, ACCURACY_NEXT),
        ),
        requires=(transition.SMOOTH,),
        reading="(34) prints Dpi_i^{k+1} = pi_i^{k+1} - w_i^k, for pi_i^{k+1} - pi_i^k; Deps_i^{k+1} is written out",
    ),
)

# The constants of the proof of Lemma 4.1

_share = sympy.Symbol("theta", positive=True)
_LINKS = tuple(
    sympy.Le(*sides, evaluate=False)
    for sides in (
        (_FRACTION(1, 3), _share),
        ((_share - 1) / 2, -_FRACTION(1, 3)),
        (6 * _share**2 / 5, _FRACTION(4, 30)),
        (3 * _share**2, _FRACTION(1, 3)),
        (6 * _share**2 / 5, _FRACTION(2, 15)),
        (_share / 2, _FRACTION(1, 6)),
    )
)
_EQ_45 = (
    "alpha_i r_i <= theta sigma_i follows from sigma_i >= 3 alpha_i r_i for theta >= 1/3, the first relation; the "
    "others are the later uses of (45), with theta in its place: u_i, v_i, (59), (61), Lemma C.2 b"
)

EQ_45 = (
    Claim(
        id="fedadmm/eq-45",
        where="eq. (45)",
        kind="parameter-rule",
        gist="sigma_i >= 3 alpha_i r_i > 0 gives 0 < alpha_i r_i <= sigma_i/2",
        setting=Setting("all alpha_i, r_i, sigma_i > 0", letters=(alpha_i, r_i, sigma_i)),
        statement=Inequality(alpha_i * r_i, sigma_i / 2),
        requires=(Hypothesis("sigma_i >= 3 alpha_i r_i", sympy.Ge(sigma_i, 3 * alpha_i * r_i, evaluate=False)),),
    ),
    Claim(
        id="fedadmm/eq-45/use",
        where="eq. (45)",
        gist="the constants that later lines take from eq. (45) follow from it",
        setting=Setting("no letters", letters=()),
        statement=ParameterRule({_share: _FRACTION(1, 2)}, _LINKS),
        reading=f"{_EQ_45}. (45) has theta = 1/2, as the text at hand prints it; the later lines, of Appendices C.2 "
        "to C.6, cite "
        "it for what theta = 1/3 gives",
    ),
    Claim(
        id="fedadmm/eq-45/use/repaired",
        where="eq. (45)",
        gist="alpha_i r_i <= sigma_i/3 follows, and is what the later constants need",
        setting=Setting("no letters", letters=()),
        statement=ParameterRule({_share: _FRACTION(1, 3)}, _LINKS),
        reading=_EQ_45,
        repairs="fedadmm/eq-45/use",
    ),
)

_change = 29 * (_E_next - _E)
EQ_51 = (
    Claim(
        id="fedadmm/eq-51/display",
        where="display after eq. (51)",
        gist="the combined bound on L^{k+1} - L^k, as printed",
        setting=RUN,
        statement=Inequality(_L_next - _L, -((_moved + _server) / 10 - _change), QUANTITIES),
        requires=(SMOOTH, START, STEP),
        reading="as the text at hand prints it: one sign",
        literal_of="fedadmm/eq-51/display/repaired",
    ),
    Claim(
        id="fedadmm/eq-51/display/repaired",
        where="display after eq. (51)",
        gist="the bounds (47), (50) and (51) added up: the change of the tolerances with the other sign",
        setting=TRANSITION,
        statement=Inequality(_L_next - _L, -((_moved + _server) / 10 + _change), OF_ANY),
        requires=(transition.SMOOTH, transition.STEP),
        repairs="fedadmm/eq-51/display",
    ),
)

# Lemma C.2

OBJECTIVE = transition.at("f(w^{tau_k})", iterates.objective)
_drop, _along, _along_sum, _Bar = parts(
    "alpha_i(f_i(w^{tau_{k+1}})-f_i(w_i^{k+1})) <Dbar_i,g_i> <Dbar_i,pi_i+phi_i> |Dbar_i|^2"
)
_along_other = q("<Dbar_i,pi_i-phi_i>")


def _dropped(v: RunView, k: int) -> Array:
    at = v.state(k + 1)
    shared = at.w[..., None, :] + 0 * at.W
    drop: Array = v.fed.alpha * (v.problem.f.value(shared) - v.problem.f.value(at.W))
    return drop


def _inner(sign: int | None) -> Any:
    """<w_i - w, g_i>, or <w_i - w, pi_i + sign * phi_i> at k + 1."""

    def of(v: RunView, k: int) -> Array:
        at = v.state(k + 1)
        other = v.g(k + 1) if sign is None else at.Pi + sign * v.phi(k + 1)
        product: Array = ((at.W - at.w[..., None, :]) * other).sum(axis=-1)
        return product

    return of


_SIGNS = (
    of_client(_drop.name, _dropped),
    of_client(_along.name, _inner(None)),
    of_client(_along_sum.name, _inner(1)),
    of_client(_Bar.name, lambda v, k: v.away(k + 1)),
)
_SIGNS_OF_STATE = (
    transition.of_client(_drop.name, lambda v: v.drop()),
    transition.of_client(_along.name, lambda v: v.along(v.g())),
    transition.of_client(_along_other.name, lambda v: v.along(v.state.Pi - v.phi())),
    transition.of_client(_Bar.name, lambda v: square(v.gap())),
)

LEMMA_C2 = (
    Claim(
        id="fedadmm/lemma-C.2/a",
        where="Lemma C.2",
        kind="one-step",
        gist="the Lyapunov sequence does not increase",
        setting=TRANSITION,
        statement=Inequality(LYAPUNOV_NEXT, LYAPUNOV, OF_ANY),
        requires=(transition.SMOOTH, transition.STEP),
        reading="Scheme 4.1 and coerciveness are not needed",
    ),
    Claim(
        id="fedadmm/lemma-C.2/b",
        where="Lemma C.2",
        gist="the Lyapunov value is at least f(w)",
        setting=transition.STATE,
        statement=Inequality(OBJECTIVE.expression, LYAPUNOV, (*OF_ANY, OBJECTIVE)),
        requires=(transition.SMOOTH, transition.STEP),
        reading="f* <= f(w) is what f* means; Scheme 4.1 and coerciveness are not needed",
    ),
    Claim(
        id="fedadmm/lemma-C.2/b/signs",
        where="proof of Lemma C.2",
        gist="the first and third lines of the proof, as printed",
        setting=RUN,
        statement=Inequality(
            _drop,
            _along + alpha_i * r_i / 2 * _Bar,
            _SIGNS,
            also=(Comparison(_along, "<=", _along_sum), Comparison(_along_sum, "<=", _along)),
        ),
        requires=(SMOOTH, START, STEP, SCHEME),
        reading="at k + 1 >= 1; Dbar_i = w_i^{k+1} - w^{tau_{k+1}}; as the text at hand prints the two lines",
        literal_of="fedadmm/lemma-C.2/b/signs/repaired",
    ),
    Claim(
        id="fedadmm/lemma-C.2/b/signs/repaired",
        where="proof of Lemma C.2",
        gist="the two lines with -<Dbar_i, g_i> = <Dbar_i, pi_i - phi_i> in them",
        setting=transition.STATE,
        statement=Inequality(
            _drop,
            -_along + alpha_i * r_i / 2 * _Bar,
            _SIGNS_OF_STATE,
            also=(
                Comparison(_Bar - _along, "<=", _Bar + _along_other),
                Comparison(_Bar + _along_other, "<=", _Bar - _along),
            ),
        ),
        requires=(transition.SMOOTH,),
        repairs="fedadmm/lemma-C.2/b/signs",
    ),
)

__all__ = ["DESCENT_OF_ANY", "EQ_45", "EQ_51", "LEMMA_41", "LEMMA_C1", "LEMMA_C2"]
