"""FedADMM, Lemmas 4.1, C.1 and C.2 with the lines of their proofs: the descent of the augmented Lagrangian."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import along, iterates, transition
from fedtheory.papers.fedadmm.letters import alpha_i, k, nu_i, parts, q, r_i, section, sigma_i
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

lemma_41 = section("Lemma 4.1", RUN, SMOOTH, START)
LEMMA_41 = (
    lemma_41(
        "",
        _descent(QUANTITIES),
        "descent of the augmented Lagrangian, under Assumption 4.1 alone as printed",
        kind="one-step",
        tex=r"\widetilde{\mathcal{L}}^k-\widetilde{\mathcal{L}}^{k+1}\geq\sum_{i=1}^m\frac{\sigma_i}{10}(\|"
        r"\mathbf{w}^{\tau_{k+1}}-\mathbf{w}^{\tau_k}\|^2+\|\mathbf{w}_i^{k+1}-\mathbf{w}_i^k\|^2)",
        uses=("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display"),
        reading="w^{tau_0} is any; any points w_i^{k+1} that meet (6). The theorems that use the "
        "lemma, and the first line of its proof, have sigma_i >= 3 alpha_i r_i",
        literal_of="lemma-4.1/with-step-condition",
        flaw="The proof begins with sigma_i >= 3 alpha_i r_i, which the lemma does not assume.",
    ),
    lemma_41(
        "repaired",
        DESCENT_OF_ANY,
        "the same descent under sigma_i >= alpha_i r_i/0.381; the largest share for all nu_i < 1 is "
        "(sqrt(5365) - 29)/116, 0.3814",
        kind="one-step",
        setting=TRANSITION,
        requires=(transition.SMOOTH, transition.step_condition(_FRACTION(1000, 381))),
        repairs="lemma-4.1",
    ),
    # Under the sigma_i >= 3 alpha_i r_i of the proof's first line.
    lemma_41(
        "with-step-condition",
        DESCENT_OF_ANY,
        "the same descent under sigma_i >= 3 alpha_i r_i",
        kind="one-step",
        setting=TRANSITION,
        requires=(transition.SMOOTH, transition.STEP),
        tex=r"\widetilde{\mathcal{L}}^k-\widetilde{\mathcal{L}}^{k+1}\geq\sum_{i=1}^m\frac{\sigma_i}{10}(\|"
        r"\mathbf{w}^{\tau_{k+1}}-\mathbf{w}^{\tau_k}\|^2+\|\mathbf{w}_i^{k+1}-\mathbf{w}_i^k\|^2), \quad "
        r"\sigma_i\geq 3\alpha_ir_i",
        uses=("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use", "eq-51/display"),
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
    return (sigma * (v.state.W - w) + v.state.Pi).sum(axis=-2)


def _intermediate(v: transition.IterationView, scaled: bool) -> Array:
    """sum_i sigma_i (z_i^k - w^{tau_{k+1}}) as printed, or sum_i (z_i^k - sigma_i w^{tau_{k+1}})."""
    sigma, w = v.params.sigma[:, None], v.after.w[..., None, :]
    Z = transition.before(v.problem, v.params, v.state).Z
    return (sigma * (Z - w) if scaled else Z - sigma * w).sum(axis=-2)


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
    return start.Pi - iterates.steepest(problem, params, start.W)


proof_of_lemma_c1 = section("proof of Lemma C.1", TRANSITION, transition.BEGINS, id="lemma-C.1/a/intermediate")
lemma_c1_and_eq_37 = section("Lemma C.1 and eq. (37)", along.RUNS, START, id="lemma-C.1/b")
LEMMA_C1 = (
    section("Lemma C.1 and eq. (36)", TRANSITION, transition.BEGINS, id="lemma-C.1")(
        "a",
        identity(_BALANCE, _NOTHING),
        "optimality of the average",
        tex=r"\sum_i(\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}})+\boldsymbol{\pi}_i^k)=0",
        uses=("lemma-C.1/a/intermediate", "section-3.5"),
        reading="k is in K, as the lemma says; by (8), z_i^k = sigma_i w_i^k + pi_i^k for all i (section-3.5)",
    ),
    proof_of_lemma_c1(
        "",
        identity(_BALANCE, _PRINTED),
        "the intermediate expression sigma_i (z_i - w), as printed",
        tex=r"\sum_i(\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}})+\boldsymbol{\pi}_i^k)=\sum_i\sigma_i("
        r"\mathbf{z}_i^k-\mathbf{w}^{\tau_{k+1}})=0",
        reading="as the text at hand prints it: one factor too many",
        literal_of="lemma-C.1/a/intermediate/repaired",
        flaw="z_i is sigma_i w_i + pi_i by eq. (8), so that the sum is one of z_i - sigma_i w. The printed sigma_i "
        "(z_i - w) multiplies z_i by sigma_i once more.",
    ),
    proof_of_lemma_c1(
        "repaired",
        identity(_BALANCE, _SCALED),
        "the intermediate expression is sum_i (z_i - sigma_i w)",
        repairs="lemma-C.1/a/intermediate",
    ),
    lemma_c1_and_eq_37(
        "",
        along.then("|phi_i^k|^2", Square(iterates.residual), k, each=True)
        <= along.then("eps_i^k", iterates.accuracy, k, each=True),
        "residual phi_i below epsilon_i, from k = 0",
        kind="invariant",
        tex=r"\|\varphi_i^{k+1}\|^2\le\epsilon_i^{k+1}, \quad \varphi_i^{k+1}:=g_i^{k+1}+\pi_i^{k+1}",
        reading="at every k >= 0, and so at every k + 1. At the start phi_i^0 = 0 (lemma-C.1/b/start), and what an "
        "iteration keeps, of the selected by (6) and of the idle by (9), the next one begins with",
        follows=("theorem-4.2/a/residual",),
    ),
    lemma_c1_and_eq_37(
        "start",
        identity(Quantity(q("phi_i^0"), _first_residual), Quantity(q("0"), lambda problem, params, state: 0 * state.W)),
        "phi_i^0 = 0, so that (37) holds at k = 0 whatever epsilon_i^0 is",
        kind="identity",
        setting=Setting(
            "f_i with r_i-Lipschitz gradients, convex or not; the start of Algorithm 1 at any W^0",
            letters=TRANSITION.letters,
            algorithm=points(
                Models, transition.Params, lambda problem, params: Models(np.zeros((problem.n, problem.d), dtype=int))
            ),
            functions=transition.FUNCTIONS,
            drawing=TRANSITION.drawing,
        ),
        requires=(),
        origin="implied",
        reading="of clients that are never selected (37) asks for it",
    ),
    section("Lemma C.1 and eq. (38)", TRANSITION, transition.SMOOTH, id="lemma-C.1")(
        "c",
        Inequality(
            DUAL.expression,
            6 * alpha_i**2 * r_i**2 / 5 * LOCAL.expression
            - 24 / (1 - nu_i) * (ACCURACY_NEXT.expression - ACCURACY.expression),
            (DUAL, LOCAL, ACCURACY, ACCURACY_NEXT),
        ),
        "change of pi_i",
        tex=r"\|\Delta\boldsymbol{\pi}_i^{k+1}\|^2\le\frac{6\alpha_i^2r_i^2}{5}\|\Delta\mathbf{w}_i^{k+1}\|^2-"
        r"\frac{24}{1-\nu_i}\Delta\epsilon_i^{k+1}",
        uses=("lemma-C.1/b", "eq-33"),
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

eq_45 = section("eq. (45)", Setting("no letters", letters=()))
EQ_45 = (
    eq_45(
        "",
        Inequality(alpha_i * r_i, sigma_i / 2),
        "sigma_i >= 3 alpha_i r_i > 0 gives 0 < alpha_i r_i <= sigma_i/2",
        kind="parameter-rule",
        setting=Setting("all alpha_i, r_i, sigma_i > 0", letters=(alpha_i, r_i, sigma_i)),
        requires=(Hypothesis("sigma_i >= 3 alpha_i r_i", sympy.Ge(sigma_i, 3 * alpha_i * r_i, evaluate=False)),),
        tex=r"0<\alpha_ir_i\le\frac{\sigma_i}{2}, \quad \forall i\in[m]",
    ),
    eq_45(
        "use",
        ParameterRule({_share: _FRACTION(1, 2)}, _LINKS),
        "the constants that later lines take from eq. (45) follow from it",
        origin="implied",
        uses=("eq-45",),
        reading=f"{_EQ_45}. (45) has theta = 1/2, as the text at hand prints it; the later lines, of Appendices C.2 "
        "to C.6, cite "
        "it for what theta = 1/3 gives",
        flaw="sigma_i/2 is printed where sigma_i/3 follows and is used: with sigma_i/2 the constants -1/3, 4/30, 1/6 "
        "and 1/3, which the later steps take from this line, do not come out.",
    ),
    eq_45(
        "use/repaired",
        ParameterRule({_share: _FRACTION(1, 3)}, _LINKS),
        "alpha_i r_i <= sigma_i/3 follows, and is what the later constants need",
        reading=_EQ_45,
        repairs="eq-45/use",
    ),
)

_change = 29 * (_E_next - _E)
display_after_eq_51 = section("display after eq. (51)", RUN, SMOOTH, START, STEP, id="eq-51/display")
EQ_51 = (
    display_after_eq_51(
        "",
        Inequality(_L_next - _L, -((_moved + _server) / 10 - _change), QUANTITIES),
        "the combined bound on L^{k+1} - L^k, as printed",
        tex=r"\mathcal{L}^{k+1}-\mathcal{L}^k\leq-\sum_i\left(\frac{\sigma_i}{10}(\|\triangle\mathbf{w}^{"
        r"\tau_{k+1}}\|^2+\|\triangle\mathbf{w}_i^{k+1}\|^2)-\frac{29\triangle\epsilon_i^{k+1}}{(1-\nu_i)"
        r"\sigma_i}\right)",
        uses=("lemma-C.1/a", "lemma-C.1/b", "lemma-C.1/c", "eq-31", "eq-33", "eq-45/use"),
        reading="as the text at hand prints it: one sign",
        literal_of="eq-51/display/repaired",
        flaw="In the sum of eqs. (47), (50) and (51) the minus before the change of the tolerances is put behind the "
        "minus of the whole sum, and so becomes a plus.",
    ),
    display_after_eq_51(
        "repaired",
        Inequality(_L_next - _L, -((_moved + _server) / 10 + _change), OF_ANY),
        "the bounds (47), (50) and (51) added up: the change of the tolerances with the other sign",
        setting=TRANSITION,
        requires=(transition.SMOOTH, transition.STEP),
        repairs="eq-51/display",
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
    return v.fed.alpha * (v.problem.f.value(shared) - v.problem.f.value(at.W))


def _inner(sign: int | None) -> Any:
    """<w_i - w, g_i>, or <w_i - w, pi_i + sign * phi_i> at k + 1."""

    def of(v: RunView, k: int) -> Array:
        at = v.state(k + 1)
        other = v.g(k + 1) if sign is None else at.Pi + sign * v.phi(k + 1)
        return ((at.W - at.w[..., None, :]) * other).sum(axis=-1)

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

lemma_c2 = section("Lemma C.2", TRANSITION, transition.SMOOTH, transition.STEP)
proof_of_lemma_c2 = section("proof of Lemma C.2", RUN, SMOOTH, START, STEP, SCHEME, id="lemma-C.2/b/signs")
LEMMA_C2 = (
    lemma_c2(
        "a",
        Inequality(LYAPUNOV_NEXT, LYAPUNOV, OF_ANY),
        "the Lyapunov sequence does not increase",
        kind="one-step",
        tex=r"\{\widetilde{\mathcal{L}}^k\}",
        uses=("lemma-4.1",),
        reading="Scheme 4.1 and coerciveness are not needed",
    ),
    lemma_c2(
        "b",
        Inequality(OBJECTIVE.expression, LYAPUNOV, (*OF_ANY, OBJECTIVE)),
        "the Lyapunov value is at least f(w)",
        setting=transition.STATE,
        tex=r"\widetilde{\mathcal{L}}^k\geq f(\mathbf{w}^{\tau_k})\geq f^*>-\infty",
        uses=("lemma-C.2/b/signs", "lemma-C.1/b", "eq-33", "eq-45/use"),
        reading="f* <= f(w) is what f* means; Scheme 4.1 and coerciveness are not needed",
    ),
    proof_of_lemma_c2(
        "",
        Inequality(
            _drop,
            _along + alpha_i * r_i / 2 * _Bar,
            _SIGNS,
            also=(Comparison(_along, "<=", _along_sum), Comparison(_along_sum, "<=", _along)),
        ),
        "the first and third lines of the proof, as printed",
        tex=r"\alpha_if_i(\mathbf{w}^{\tau_k})-\alpha_if_i(\mathbf{w}^k_i)\leq\langle\triangle\overline{"
        r"\mathbf{w}}_i^k,\boldsymbol{g}_i^k\rangle+\frac{r_i\alpha_i}{2}\|\triangle\overline{"
        r"\mathbf{w}}_i^k\|^2, \quad \langle\triangle\overline{\mathbf{w}}_i^k,\boldsymbol{\pi}_i^k+\varphi_i^k"
        r"\rangle",
        uses=("eq-31",),
        reading="at k + 1 >= 1; Dbar_i = w_i^{k+1} - w^{tau_{k+1}}; as the text at hand prints the two lines",
        literal_of="lemma-C.2/b/signs/repaired",
        flaw="Eq. (31) at w_i has <w - w_i, g_i> = -<Dbar_i, g_i>, printed without the minus; and g_i is phi_i - "
        "pi_i, printed as pi_i + phi_i. In the last line the two errors cancel.",
    ),
    proof_of_lemma_c2(
        "repaired",
        Inequality(
            _drop,
            -_along + alpha_i * r_i / 2 * _Bar,
            _SIGNS_OF_STATE,
            also=(
                Comparison(_Bar - _along, "<=", _Bar + _along_other),
                Comparison(_Bar + _along_other, "<=", _Bar - _along),
            ),
        ),
        "the two lines with -<Dbar_i, g_i> = <Dbar_i, pi_i - phi_i> in them",
        setting=transition.STATE,
        requires=(transition.SMOOTH,),
        repairs="lemma-C.2/b/signs",
    ),
)

__all__ = ["DESCENT_OF_ANY", "EQ_45", "EQ_51", "LEMMA_41", "LEMMA_C1", "LEMMA_C2"]
