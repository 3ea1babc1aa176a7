"""FedADMM, displays of proofs of which no lemma speaks: eqs. (14), (34), (46)-(50), (57) and (60).

Those of Appendix B are in :mod:`~fedtheory.papers.fedadmm.appendix_b`, those of Appendix C.5 in
:mod:`~fedtheory.papers.fedadmm.appendix_c`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms.fedadmm import State
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import iterates, transition
from fedtheory.papers.fedadmm.descent import LYAPUNOV, LYAPUNOV_NEXT, OF_ANY
from fedtheory.papers.fedadmm.iterates import steepest
from fedtheory.papers.fedadmm.letters import BLOCKS, alpha_i, m, parts, r_i, section, sigma_bar, sigma_i
from fedtheory.papers.fedadmm.sequences import sum_of_gradients, sum_of_multipliers
from fedtheory.papers.fedadmm.transition import STATE, TRANSITION, IterationView
from fedtheory.problems.base import Problem
from fedtheory.settings.quantities import Square, Total
from fedtheory.settings.relations import Comparison

_Q = sympy.Rational


def equal(left: sympy.Expr, right: sympy.Expr) -> tuple[Comparison, Comparison]:
    """left = right, among inequalities."""
    return Comparison(left, "<=", right), Comparison(right, "<=", left)


# The point of eq. (6)


def _residual(v: IterationView) -> Array:
    """alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w), at any w_i, pi_i and w."""
    return v.phi() + v.params.sigma[:, None] * v.gap()


def _local(v: IterationView, W: Array) -> Array:
    """L(w, w_i, pi_i) of eq. (12), at other w_i."""
    gap = W - v.state.w[..., None, :]
    found: Array = v.params.alpha * v.problem.f.value(W) + (gap * v.state.Pi).sum(axis=-1)
    return found + v.params.sigma * square(gap) / 2


def _gained(v: IterationView) -> Array:
    """The decrease of L(w, w_i, pi_i) in one step (15) from w_i."""
    size = (v.params.alpha * v.params.r + v.params.sigma)[:, None]
    return _local(v, v.state.W) - _local(v, v.state.W - _residual(v) / size)


_res, _fall = parts("|alpha_i*grad_f_i(v)+pi_i+sigma_i(v-w)|^2 L(w,v,pi_i)-L(w,v^+,pi_i)")

_ANY_POINT = replace(STATE, text="any w, pi_i and v; f_i with r_i-Lipschitz gradients, convex or not, and any sigma_i")
EQ_14 = section("eq. (14)", _ANY_POINT, transition.SMOOTH)(
    "",
    Inequality(
        _res,
        2 * (alpha_i * r_i + sigma_i) * _fall,
        (
            transition.of_client(_res.name, lambda v: square(_residual(v))),
            transition.of_client(_fall.name, _gained),
        ),
    ),
    "a point that meets (6) exists: a step (15) gains as much as the residual of (14) asks for",
    kind="property",
    tex=r"\alpha_i\nabla f_i(\mathbf{v}_i^*)+\boldsymbol{\pi}_i^k+\sigma_i(\mathbf{v}_i^*-\mathbf{w}^{\tau_{k+1}})=0",
    reading="v^+ is the step (15) from v. At a minimiser v* it gains nothing, so that the residual vanishes, which is "
    "(14). That there is a minimiser, and with it a point that meets (6), follows as f_i is bounded from below, by "
    "Section 2.3: L(w, ., pi_i) is then coercive; and the steps (15) come to residuals as small as one likes, whatever "
    "sigma_i > 0 is, as all they gain is finite",
)

# The proof of Lemma 4.1


def _moved_on(v: IterationView) -> Array:
    """w^{tau_{k+1}} - w^{tau_k}."""
    return transition.server(v.params, v.state) - v.state.w


def from_next(v: IterationView) -> Array:
    """w_i^k - w^{tau_{k+1}}."""
    return v.state.W - transition.server(v.params, v.state)[..., None, :]


def _whole(v: IterationView, w: Array, W: Array) -> Array:
    """The augmented Lagrangian at w, W and Pi^k."""
    found = iterates.lagrangian(v.problem, v.params, transition.before(v.problem, v.params, v.state)._replace(w=w, W=W))
    return found


_near, _along, _D, _p_1, _p_2 = parts(
    "sigma_i/2(|w_i^k-w^{tau_{k+1}}|^2-|w_i^k-w^{tau_k}|^2) <Dw^{tau_{k+1}},-sigma_i(w_i^k-w^{tau_{k+1}})> "
    "|Dw^{tau_{k+1}}|^2 p_1^k p_2^k"
)

_far, _along_own, _own = parts(
    "sigma_i/2(|Dbar_i^{k+1}|^2-|w_i^k-w^{tau_{k+1}}|^2) <Dw_i^{k+1},sigma_i*Dbar_i^{k+1}> |Dw_i^{k+1}|^2"
)

moved, server = (quantity.expression for quantity in OF_ANY[-2:])

_E, _E_next = (OF_ANY[j].expression for j in (2, 3))

_P_1 = transition.quantity(
    _p_1.name,
    lambda v: _whole(v, transition.server(v.params, v.state), v.state.W) - _whole(v, v.state.w, v.state.W),
)

_P_2 = transition.quantity(
    _p_2.name,
    lambda v: _whole(v, v.after.w, v.after.W) - _whole(v, transition.server(v.params, v.state), v.state.W),
)


def _eq_46(v: IterationView) -> Array:
    return v.params.sigma * (square(from_next(v)) - square(v.gap())) / 2


def _eq_49(v: IterationView) -> Array:
    return v.params.sigma * (v.away() - square(from_next(v))) / 2


def inner_product(left: Array, right: Array) -> Array:
    """The inner products of vectors along the last axis."""
    return (left * right).sum(axis=-1)


eq_47 = section("eq. (47)", TRANSITION, transition.BEGINS)
PROOF_OF_LEMMA_41 = (
    section("eq. (46)", TRANSITION)(
        "",
        Identity(
            _near,
            _along - sigma_i / 2 * _D,
            (
                transition.of_client(_near.name, _eq_46),
                transition.of_client(
                    _along.name,
                    lambda v: inner_product(_moved_on(v)[..., None, :], -v.params.sigma[:, None] * from_next(v)),
                ),
                transition.quantity(_D.name, lambda v: square(_moved_on(v))),
            ),
        ),
        "the penalty of client i at the server's new model less that at the old one",
        tex=r"\frac{\sigma_i}{2}\|\mathbf{w}_i^k-\mathbf{w}^{\tau_{k+1}}\|^2-\frac{\sigma_i}{2}\|\triangle\overline{"
        r"\mathbf{w}}_i^k\|^2=\langle\triangle\mathbf{w}^{\tau_{k+1}},-\sigma_i(\mathbf{w}_i^k-\mathbf{w}^{"
        r"\tau_{k+1}})\rangle-\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    ),
    eq_47(
        "",
        Inequality(server / 10, -_p_1, (_P_1, OF_ANY[-1])),
        "the server's move makes the Lagrangian fall: p_1^k is at most -sum_i sigma_i/10 |Dw^{tau_{k+1}}|^2",
        tex=r"p_1^k=-\sum_i\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2\leq-\sum_i\frac{\sigma_i}{10}\|"
        r"\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
        uses=("eq-46", "lemma-C.1/a"),
        reading="its two ends; that p_1^k is -sum_i sigma_i/2 |Dw^{tau_{k+1}}|^2, the sharp constant, is "
        "eq-47/equality",
    ),
    eq_47(
        "equality",
        Identity(_p_1, -server / 2, (_P_1, OF_ANY[-1])),
        "p_1^k is -sum_i sigma_i/2 |Dw^{tau_{k+1}}|^2",
        tex=r"p_1^k=-\sum_i\frac{\sigma_i}{2}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    ),
    section("eq. (48)", TRANSITION, transition.CONTINUES)(
        "",
        Identity(_p_1, -server / 10, (_P_1, OF_ANY[-1]), also=(Comparison(_p_1, "==", sympy.S.Zero),)),
        "p_1^k = 0 between exchanges, where the server's model does not move",
        tex=r"p_1^k=0=-\sum_i\frac{\sigma_i}{10}\|\triangle\mathbf{w}^{\tau_{k+1}}\|^2",
    ),
    section("eq. (49)", TRANSITION)(
        "",
        Identity(
            _far,
            _along_own - sigma_i / 2 * _own,
            (
                transition.of_client(_far.name, _eq_49),
                transition.of_client(
                    _along_own.name,
                    lambda v: inner_product(
                        v.after.W - v.state.W, v.params.sigma[:, None] * (v.after.W - v.after.w[..., None, :])
                    ),
                ),
                transition.of_client(_own.name, lambda v: v.move()),
            ),
        ),
        "the penalty of client i after its move less that before",
        tex=r"\frac{\sigma_i}{2}\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2-\frac{\sigma_i}{2}\|\mathbf{w}_i^k-"
        r"\mathbf{w}^{\tau_{k+1}}\|^2=\langle\triangle\mathbf{w}_i^{k+1},\sigma_i\triangle\overline{"
        r"\mathbf{w}}_i^{k+1}\rangle-\frac{\sigma_i}{2}\|\triangle\mathbf{w}_i^{k+1}\|^2",
        reading="it holds of the idle too; (33), which it cites, is not needed",
    ),
    section("eq. (50)", TRANSITION, transition.SMOOTH, transition.STEP)(
        "",
        Inequality(_p_2, -_Q(7, 30) * moved - 5 * (_E_next - _E), (_P_2, *OF_ANY[2:5])),
        "the clients' moves make the Lagrangian fall, up to the change of the tolerances",
        tex=r"p_2^k=\sum_iu_i^k\le\sum_i(-\frac{7\sigma_i}{30}\|\triangle\mathbf{w}_i^{k+1}\|^2-\frac{5\triangle"
        r"\epsilon_i^{k+1}}{(1-\nu_i)\sigma_i})",
        uses=("eq-49", "eq-31", "eq-33", "eq-45/use", "lemma-C.1/b"),
    ),
)

# Definitions and their first use


def _change(printed: bool) -> Any:
    """Dpi_i^{k+1}: pi_i^{k+1} - w_i^k as printed, or pi_i^{k+1} - pi_i^k."""
    return lambda v: v.after.Pi - (v.state.W if printed else v.state.Pi)


def _of_34(printed: bool) -> Identity:
    product, own = parts("<Dbar_i^{k+1},Dpi_i^{k+1}> |Dpi_i^{k+1}|^2")
    change = _change(printed)
    quantities = (
        transition.of_client(product.name, lambda v: inner_product(v.after.W - v.after.w[..., None, :], change(v))),
        transition.of_client(own.name, lambda v: square(change(v))),
    )
    return Identity(product, own / sigma_i, quantities)


_OF_34 = "a definition: what is compared is its first use, the first line of v_i^k, <Dbar_i, Dpi_i> = |Dpi_i|^2/sigma_i"

eq_34 = section("eq. (34)", TRANSITION, transition.SELECTED)
EQ_34 = (
    eq_34(
        "",
        _of_34(True),
        "the change of pi_i, as printed with w_i^k for pi_i^k",
        tex=r"\triangle\boldsymbol{\pi}_i^{k+1}:=\boldsymbol{\pi}_i^{k+1}-\mathbf{w}_i^k",
        reading=f"{_OF_34}, with Dpi_i^{{k+1}} = pi_i^{{k+1}} - w_i^k, as the text at hand prints it",
        literal_of="eq-34/repaired",
        flaw="w_i^k is printed for pi_i^k: eq. (7) and Lemma C.1 c use the change of the multipliers.",
    ),
    eq_34(
        "repaired",
        _of_34(False),
        "Dpi_i^{k+1} = pi_i^{k+1} - pi_i^k",
        kind="identity",
        reading=_OF_34,
        repairs="eq-34",
    ),
)


def _blocks(problem: Problem, params: transition.Params, at: State) -> Array:
    """sum_i |g_i|^2: the squared gradient of F as eq. (11) defines it, of m blocks g_i = alpha_i grad f_i(w_i)."""
    return square(steepest(problem, params, at.W)).sum(axis=-1)


def _sum_of_g(problem: Problem, params: transition.Params, at: State) -> Array:
    """|sum_i g_i|^2, g_i = alpha_i grad f_i(w_i)."""
    return square(sum_of_gradients(problem, params, at))


def _from_multipliers(problem: Problem, params: transition.Params, at: State) -> Array:
    """sum_i |g_i + pi_i|^2: how far the gradient of F is from -Pi, block by block."""
    return square(steepest(problem, params, at.W) - at.Pi).sum(axis=-1)


_grad_F, _g_all, _apart, _pi_all, _eps_all = parts(
    "|grad_F(W^{k+1})|^2 |sum_i(g_i^{k+1})|^2 |grad_F(W^{k+1})+Pi^{k+1}|^2 |sum_i(pi_i^{k+1})|^2 sum_i(eps_i^{k+1})"
)

_G_ALL = transition.at(_g_all.name, _sum_of_g, later=True)

eq_57 = section("eq. (57)", TRANSITION)
EQ_57 = (
    eq_57(
        "",
        Identity(_grad_F, _g_all, (transition.at(_grad_F.name, _blocks, later=True), _G_ALL)),
        "the gradient of F at W^{k+1} is the sum of the g_i, as printed",
        tex=r"\nabla F(W^{k+1})=\sum_i\boldsymbol{g}_i^{k+1}",
        uses=("eq-56", "lemma-C.1/b", "lemma-C.1/d"),
        reading="its first equality, with the F of (11), a function of m blocks: the gradient has the blocks g_i. The "
        "limits of the other lines are theorem-4.1/c",
        literal_of="eq-57/repaired",
        flaw="Eq. (11) makes F a function of m blocks, whose gradient is (g_1, ..., g_m) and not their sum.",
        root=BLOCKS,
    ),
    eq_57(
        "repaired",
        Inequality(
            _apart,
            _eps_all,
            (
                transition.at(_apart.name, _from_multipliers, later=True),
                transition.at(_eps_all.name, Total(iterates.accuracy), later=True),
                _G_ALL,
                transition.at(_pi_all.name, Square(sum_of_multipliers), later=True),
            ),
            also=(Comparison(_g_all, "<=", 2 * _pi_all + 2 * m * _eps_all),),
        ),
        "by (37) the m blocks of grad F tend to those of -Pi, and the sum of the g_i to 0 with that of the pi_i",
        kind="inequality",
        reading="of the F of (11); the right sides tend to 0 by (39) and (56)",
        repairs="eq-57",
    ),
)

# Appendix C.6


_all_server, _all_own = parts("sum_i|sigma_i*Dw^{tau_{k+1}}|^2 sum_i|sigma_i*Dw_i^{k+1}|^2")

_decrease = LYAPUNOV - LYAPUNOV_NEXT

EQ_60 = section("eq. (60)", transition.WITH_LARGEST, transition.SMOOTH, transition.STEP)(
    "",
    Inequality(
        _all_server,
        10 * sigma_bar * _decrease,
        (
            *OF_ANY[:4],
            transition.quantity(_all_server.name, lambda v: (v.params.sigma**2).sum() * square(_moved_on(v))),
            transition.quantity(_all_own.name, lambda v: (v.params.sigma**2 * v.move()).sum(axis=-1)),
        ),
        also=(Comparison(_all_own, "<=", 10 * sigma_bar * _decrease),),
    ),
    "the moves of the server and the clients are at most 10 sigma_bar times the decrease of the Lyapunov function",
    tex=r"\max\{\sum_i\|\sigma_i\triangle\mathbf{w}^{\tau_{k+1}}\|^2,\sum_i\|\sigma_i\triangle"
    r"\mathbf{w}_i^{k+1}\|^2\}\leq 10\overline{\sigma}(\widetilde{\mathcal{L}}^k-\widetilde{\mathcal{L}}^{k+1})",
    uses=("lemma-4.1/with-step-condition",),
    reading="the maximum of two numbers is below a third where both are; between them is Lemma 4.1. The line before "
    "it, which recalls Lemma 4.1, "
    "lacks the factor sigma_i in the text at hand",
)

__all__ = ["EQ_14", "EQ_34", "EQ_57", "EQ_60", "PROOF_OF_LEMMA_41"]
