"""FedADMM, displays of the proofs in Appendices B and C of which no lemma speaks: eqs. (34), (46)-(50), (57) and (60),
and those on the multipliers in Appendix C.5 and on the inner steps in Appendix B. With eq. (14)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import iterates, transition
from fedtheory.papers.fedadmm.descent import ACCURACY, LYAPUNOV, LYAPUNOV_NEXT, OF_ANY
from fedtheory.papers.fedadmm.inner import CURVED, INNER, PENALTY, inner_step
from fedtheory.papers.fedadmm.iterates import steepest
from fedtheory.papers.fedadmm.letters import alpha_i, m, nu_i, parts, r_i, rho, s0, s_i, sigma_bar, sigma_i
from fedtheory.papers.fedadmm.sequences import sum_of_gradients, sum_of_multipliers
from fedtheory.papers.fedadmm.transition import STATE, TRANSITION, View
from fedtheory.problems.base import Problem
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.quantities import Square, Total
from fedtheory.settings.relations import Comparison, Quantity

_Q = sympy.Rational


def _equal(left: Any, right: Any) -> tuple[Comparison, Comparison]:
    """left = right, among inequalities."""
    return Comparison(left, "<=", right), Comparison(right, "<=", left)


# The point of eq. (6)


def _residual(v: View) -> Array:
    """alpha_i grad f_i(w_i) + pi_i + sigma_i (w_i - w), at any w_i, pi_i and w."""
    found: Array = v.phi() + v.params.sigma[:, None] * v.gap()
    return found


def _local(v: View, W: Array) -> Array:
    """L(w, w_i, pi_i) of eq. (12), at other w_i."""
    gap = W - v.state.w[..., None, :]
    found: Array = v.params.alpha * v.problem.f.value(W) + (gap * v.state.Pi).sum(axis=-1)
    return found + v.params.sigma * square(gap) / 2


def _gained(v: View) -> Array:
    """How far L(w, w_i, pi_i) falls by one step (15) from w_i."""
    size = (v.params.alpha * v.params.r + v.params.sigma)[:, None]
    return _local(v, v.state.W) - _local(v, v.state.W - _residual(v) / size)


_res, _fall = parts("|alpha_i*grad_f_i(v)+pi_i+sigma_i(v-w)|^2 L(w,v,pi_i)-L(w,v^+,pi_i)")
EQ_14 = Claim(
    id="fedadmm/eq-14",
    where="eq. (14)",
    kind="property",
    gist="a point that meets (6) exists",
    setting=replace(STATE, text="any w, pi_i and v; f_i with r_i-Lipschitz gradients, convex or not, and any sigma_i"),
    statement=Inequality(
        _res,
        2 * (alpha_i * r_i + sigma_i) * _fall,
        (
            transition.of_client(_res.name, lambda v: square(_residual(v))),
            transition.of_client(_fall.name, _gained),
        ),
    ),
    requires=(transition.SMOOTH,),
    reading="v^+ is the step (15) from v. At a minimiser v* it gains nothing, so that the residual vanishes, which is "
    "(14). That there is a minimiser, and with it a point that meets (6), follows as f_i is bounded from below, by "
    "Section 2.3: L(w, ., pi_i) is then coercive; and the steps (15) come to residuals as small as one likes, whatever "
    "sigma_i > 0 is, as all they gain is finite",
)

# The proof of Lemma 4.1


def _moved_on(v: View) -> Array:
    """w^{tau_{k+1}} - w^{tau_k}."""
    found: Array = transition.server(v.params, v.state) - v.state.w
    return found


def _from_next(v: View) -> Array:
    """w_i^k - w^{tau_{k+1}}."""
    found: Array = v.state.W - transition.server(v.params, v.state)[..., None, :]
    return found


def _whole(v: View, w: Array, W: Array) -> Array:
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
_moved, _server = (quantity.expression for quantity in OF_ANY[-2:])
_E, _E_next = (OF_ANY[j].expression for j in (2, 3))
_P_1 = transition.quantity(
    _p_1.name,
    lambda v: _whole(v, transition.server(v.params, v.state), v.state.W) - _whole(v, v.state.w, v.state.W),
)
_P_2 = transition.quantity(
    _p_2.name,
    lambda v: _whole(v, v.after.w, v.after.W) - _whole(v, transition.server(v.params, v.state), v.state.W),
)


def _eq_46(v: View) -> Array:
    found: Array = v.params.sigma * (square(_from_next(v)) - square(v.gap())) / 2
    return found


def _eq_49(v: View) -> Array:
    found: Array = v.params.sigma * (v.away() - square(_from_next(v))) / 2
    return found


def _product(left: Array, right: Array) -> Array:
    found: Array = (left * right).sum(axis=-1)
    return found


PROOF_OF_LEMMA_41 = (
    Claim(
        id="fedadmm/eq-46",
        where="eq. (46)",
        gist="the penalty of client i at the server's new model less that at the old one",
        setting=TRANSITION,
        statement=Identity(
            _near,
            _along - sigma_i / 2 * _D,
            (
                transition.of_client(_near.name, _eq_46),
                transition.of_client(
                    _along.name,
                    lambda v: _product(_moved_on(v)[..., None, :], -v.params.sigma[:, None] * _from_next(v)),
                ),
                transition.quantity(_D.name, lambda v: square(_moved_on(v))),
            ),
        ),
    ),
    Claim(
        id="fedadmm/eq-47",
        where="eq. (47)",
        gist="the server's move makes the Lagrangian fall: p_1^k is at most -sum_i sigma_i/10 |Dw^{tau_{k+1}}|^2",
        setting=TRANSITION,
        statement=Inequality(_server / 10, -_p_1, (_P_1, OF_ANY[-1])),
        requires=(transition.BEGINS,),
        reading="its two ends; that p_1^k is -sum_i sigma_i/2 |Dw^{tau_{k+1}}|^2, the sharp constant, is "
        "eq-47/equality",
    ),
    Claim(
        id="fedadmm/eq-47/equality",
        where="eq. (47)",
        gist="p_1^k is -sum_i sigma_i/2 |Dw^{tau_{k+1}}|^2",
        setting=TRANSITION,
        statement=Identity(_p_1, -_server / 2, (_P_1, OF_ANY[-1])),
        requires=(transition.BEGINS,),
    ),
    Claim(
        id="fedadmm/eq-48",
        where="eq. (48)",
        gist="p_1^k = 0 between exchanges, where the server's model does not move",
        setting=TRANSITION,
        statement=Identity(_p_1, -_server / 10, (_P_1, OF_ANY[-1]), also=(Comparison(_p_1, "==", sympy.S.Zero),)),
        requires=(transition.CONTINUES,),
    ),
    Claim(
        id="fedadmm/eq-49",
        where="eq. (49)",
        gist="the penalty of client i after its move less that before",
        setting=TRANSITION,
        statement=Identity(
            _far,
            _along_own - sigma_i / 2 * _own,
            (
                transition.of_client(_far.name, _eq_49),
                transition.of_client(
                    _along_own.name,
                    lambda v: _product(
                        v.after.W - v.state.W, v.params.sigma[:, None] * (v.after.W - v.after.w[..., None, :])
                    ),
                ),
                transition.of_client(_own.name, lambda v: v.move()),
            ),
        ),
        reading="it holds of the idle too; (33), which it cites, is not needed",
    ),
    Claim(
        id="fedadmm/eq-50",
        where="eq. (50)",
        gist="the clients' moves make the Lagrangian fall, up to the change of the tolerances",
        setting=TRANSITION,
        statement=Inequality(_p_2, -_Q(7, 30) * _moved - 5 * (_E_next - _E), (_P_2, *OF_ANY[2:5])),
        requires=(transition.SMOOTH, transition.STEP),
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
        transition.of_client(product.name, lambda v: _product(v.after.W - v.after.w[..., None, :], change(v))),
        transition.of_client(own.name, lambda v: square(change(v))),
    )
    return Identity(product, own / sigma_i, quantities)


_OF_34 = "a definition: what is compared is its first use, the first line of v_i^k, <Dbar_i, Dpi_i> = |Dpi_i|^2/sigma_i"
EQ_34 = (
    Claim(
        id="fedadmm/eq-34",
        where="eq. (34)",
        gist="the change of pi_i, as printed with w_i^k for pi_i^k",
        setting=TRANSITION,
        statement=_of_34(True),
        requires=(transition.SELECTED,),
        reading=f"{_OF_34}, with Dpi_i^{{k+1}} = pi_i^{{k+1}} - w_i^k, as the text at hand prints it",
        literal_of="fedadmm/eq-34/repaired",
    ),
    Claim(
        id="fedadmm/eq-34/repaired",
        where="eq. (34)",
        kind="identity",
        gist="Dpi_i^{k+1} = pi_i^{k+1} - pi_i^k",
        setting=TRANSITION,
        statement=_of_34(False),
        requires=(transition.SELECTED,),
        reading=_OF_34,
        repairs="fedadmm/eq-34",
    ),
)


def _blocks(problem: Problem, params: Any, at: Any) -> Array:
    """sum_i |g_i|^2: the squared gradient of F as eq. (11) defines it, a function of m blocks."""
    total: Array = square(steepest(problem, params, at.W)).sum(axis=-1)
    return total


def _sum_of_g(problem: Problem, params: Any, at: Any) -> Array:
    return square(sum_of_gradients(problem, params, at))


def _from_multipliers(problem: Problem, params: Any, at: Any) -> Array:
    """sum_i |g_i + pi_i|^2: how far the gradient of F is from -Pi, block by block."""
    apart: Array = square(steepest(problem, params, at.W) - at.Pi).sum(axis=-1)
    return apart


_grad_F, _g_all, _apart, _pi_all, _eps_all = parts(
    "|grad_F(W^{k+1})|^2 |sum_i(g_i^{k+1})|^2 |grad_F(W^{k+1})+Pi^{k+1}|^2 |sum_i(pi_i^{k+1})|^2 sum_i(eps_i^{k+1})"
)
_G_ALL = transition.at(_g_all.name, _sum_of_g, later=True)
EQ_57 = (
    Claim(
        id="fedadmm/eq-57",
        where="eq. (57)",
        gist="the gradient of F at W^{k+1} is the sum of the g_i, as printed",
        setting=TRANSITION,
        statement=Identity(_grad_F, _g_all, (transition.at(_grad_F.name, _blocks, later=True), _G_ALL)),
        reading="its first equality, with the F of (11), a function of m blocks: the gradient has the blocks g_i. The "
        "limits of the other lines are theorem-4.1/c",
        literal_of="fedadmm/eq-57/repaired",
    ),
    Claim(
        id="fedadmm/eq-57/repaired",
        where="eq. (57)",
        kind="inequality",
        gist="by (37) the m blocks of grad F tend to those of -Pi, and the sum of the g_i to 0 with that of the pi_i",
        setting=TRANSITION,
        statement=Inequality(
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
        reading="of the F of (11); the right sides tend to 0 by (39) and (56)",
        repairs="fedadmm/eq-57",
    ),
)

# Appendix C.6


_all_server, _all_own = parts("sum_i|sigma_i*Dw^{tau_{k+1}}|^2 sum_i|sigma_i*Dw_i^{k+1}|^2")
_decrease = LYAPUNOV - LYAPUNOV_NEXT
EQ_60 = Claim(
    id="fedadmm/eq-60",
    where="eq. (60)",
    gist="the moves of the server and the clients are at most 10 sigma_bar times the decrease of the Lyapunov function",
    setting=transition.WITH_LARGEST,
    statement=Inequality(
        _all_server,
        10 * sigma_bar * _decrease,
        (
            *OF_ANY[:4],
            transition.quantity(_all_server.name, lambda v: (v.params.sigma**2).sum() * square(_moved_on(v))),
            transition.quantity(_all_own.name, lambda v: (v.params.sigma**2 * v.move()).sum(axis=-1)),
        ),
        also=(Comparison(_all_own, "<=", 10 * sigma_bar * _decrease),),
    ),
    requires=(transition.SMOOTH, transition.STEP),
    reading="the maximum of two numbers is below a third where both are; between them is Lemma 4.1. The line before "
    "it, which recalls Lemma 4.1, "
    "lacks the factor sigma_i in the text at hand",
)

# What Theorem 4.3 follows from

_theta = _Q(1, 10)
_from, _all_eps, _gradient_next = parts(
    "sum_i(sigma_i^2|w_i^k-w^{tau_{k+1}}|^2) sum_i(eps_i^k) |grad_f(w^{tau_{k+1}})|^2"
)
PARTS_43 = (
    Claim(
        id="fedadmm/theorem-4.3/gradient",
        where="Theorem 4.3",
        kind="inequality",
        gist="the gradient at the server's model by the clients' distances to it, where a round begins",
        setting=transition.BEFORE_IT_FALLS,
        statement=Inequality(
            _gradient_next,
            (1 + _theta) * _Q(16, 9) * m * _from + (1 + 1 / _theta) * m * _all_eps,
            (
                transition.quantity(_gradient_next.name, lambda v: v.slope()),
                transition.quantity(_from.name, lambda v: (v.params.sigma**2 * square(_from_next(v))).sum(axis=-1)),
                transition.quantity(_all_eps.name, lambda v: v.state.eps.sum(axis=-1)),
            ),
        ),
        requires=(transition.SMOOTH, transition.STEP, transition.BEGINS),
        reading="by (36) the gradient is the sum of alpha_i grad f_i(w) - g_i^k + phi_i^k + sigma_i (w_i^k - w), "
        "w = w^{tau_{k+1}}",
    ),
    Claim(
        id="fedadmm/theorem-4.3/descent",
        where="Theorem 4.3",
        kind="inequality",
        gist="Lemma 4.1 with the 1/2 of (47) for the server's move",
        setting=TRANSITION,
        statement=Inequality(_moved / 10 + _server / 2, LYAPUNOV - LYAPUNOV_NEXT, OF_ANY),
        requires=(transition.SMOOTH, transition.STEP),
    ),
    Claim(
        id="fedadmm/theorem-4.3/constants",
        where="Theorem 4.3",
        kind="inequality",
        gist="the constants c_2 of theorem-4.3/sharper, and those of theorem-4.3/iteration, are at most those of c",
        setting=Setting("all s_0 >= 1 and nu_i < 1", letters=(s0, nu_i)),
        statement=Inequality(
            (1 + _theta) * _Q(128, 9) * s0 * (2 * s0 - 1),
            _Q(940, 9) * s0 * (s0 + 1),
            also=(
                Comparison((1 + _theta) * _Q(128, 3) * (1 + nu_i) + (1 + 1 / _theta) * nu_i, "<=", sympy.Integer(169)),
                Comparison(_Q(88, 15) * (2 * s0 - 1) * (6 * s0 - 4), "<=", _Q(940, 9) * s0 * (s0 + 1)),
                Comparison((2 * s0 - 1) * (11 + _Q(176, 5) * (1 + nu_i)), "<=", 169 * s0),
            ),
        ),
        requires=(Hypothesis("nu_i < 1", sympy.Lt(nu_i, 1, evaluate=False)),),
    ),
)

# Appendix C.5


def _to_star(v: View) -> Array:
    """|pi_i^k - pi_i*|^2, with the pi_i* of (19)."""
    return square(v.state.Pi - _at_star(v))


def _at_star(v: View) -> Array:
    """pi_i* = -alpha_i grad f_i(w*), for any point w* of the server."""
    return steepest(v.problem, v.params, v.state.w[..., None, :] + 0 * v.state.W)


def _split(sign: int) -> Any:
    """|phi_i^k + sign (g_i^k - alpha_i grad f_i(w*))|^2."""
    return lambda v: square(v.phi() + sign * (v.g() + _at_star(v)))


_multiplier, _plus, _minus, _model = parts(
    "|pi_i^k-pi_i*|^2 |phi_i^k+g_i^k-alpha_i*grad_f_i(w*)|^2 |phi_i^k-(g_i^k-alpha_i*grad_f_i(w*))|^2 |w_i^k-w*|^2"
)


def _multipliers(middle: sympy.Symbol, sign: int) -> Inequality:
    return Inequality(
        _multiplier,
        2 * alpha_i**2 * r_i**2 * _model + 2 * ACCURACY.expression,
        (
            transition.of_client(_multiplier.name, _to_star),
            transition.of_client(middle.name, _split(sign)),
            transition.of_client(_model.name, lambda v: square(v.gap())),
            transition.of_client(ACCURACY.expression.name, lambda v: v.state.eps),
        ),
        also=_equal(_multiplier, middle),
    )


_OF_STAR = "any w* with pi_i* = -alpha_i grad f_i(w*), as (19) has it, be it optimal or not"
_AT_STAR = replace(STATE, text="any w*, W^k and Pi^k with (37); f_i with r_i-Lipschitz gradients, convex or not")
APPENDIX_C5 = (
    Claim(
        id="fedadmm/appendix-C.5/multipliers",
        where="Appendix C.5",
        gist="the display of pi_i - pi_i*, as printed",
        setting=_AT_STAR,
        statement=_multipliers(_plus, 1),
        requires=(transition.SMOOTH,),
        reading=f"{_OF_STAR}. Its equality has the wrong sign of g_i - alpha_i grad f_i(w*); the bound is right",
        literal_of="fedadmm/appendix-C.5/multipliers/repaired",
    ),
    Claim(
        id="fedadmm/appendix-C.5/multipliers/repaired",
        where="Appendix C.5",
        kind="inequality",
        gist="pi_i - pi_i* = phi_i - (g_i - alpha_i grad f_i(w*)), with the printed bound",
        setting=_AT_STAR,
        statement=_multipliers(_minus, -1),
        requires=(transition.SMOOTH,),
        reading=_OF_STAR,
        repairs="fedadmm/appendix-C.5/multipliers",
    ),
)

# Appendix B


def _next(problem: Problem, params: Any, state: Any) -> Array:
    """v^{l+1}."""
    found: Array = inner_step(problem, params, state, None)["v"]
    return found


def _slope(problem: Problem, params: Any, at: Array) -> Array:
    """alpha_i grad f_i at a point ``(..., d)``."""
    found: Array = params.alpha * problem.f.gradient(at[..., None, :])[..., 0, :]
    return found


def _against(of: Any) -> Any:
    """<v^{l+1} - v*, of(problem, params, v^l, v^{l+1})>."""

    def value(problem: Problem, params: Any, state: Any) -> Array:
        after = _next(problem, params, state)
        return _product(after - problem.x_star, of(problem, params, state.v, after))

    return value


def _fresh(problem: Problem, params: Any, v: Array, after: Array) -> Array:
    return _slope(problem, params, after) - _slope(problem, params, problem.x_star + 0 * v)


def _turned(problem: Problem, params: Any, v: Array, after: Array) -> Array:
    return _slope(problem, params, after) - _slope(problem, params, v)


def _third_line(printed: bool) -> Any:
    """The first inner product of the third line: of grad f(v^{l+1}) - grad f(v^{l+1} - v^l), or as it should be."""

    def of(problem: Problem, params: Any, v: Array, after: Array) -> Array:
        if printed:
            return _slope(problem, params, after) - _slope(problem, params, after - v)
        return _slope(problem, params, v) - _slope(problem, params, problem.x_star + 0 * v)

    return _against(of)


_e, _e_next, _step = parts("|v^l-v*|^2 |v^{l+1}-v*|^2 |v^{l+1}-v^l|^2")
_mixed, _first, _odd, _even, _second = parts(
    "<v^{l+1}-v*,v*-v^l> <v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v*))> "
    "<v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v^{l+1}-v^l))> <v^{l+1}-v*,alpha_i(grad_f(v^l)-grad_f(v*))> "
    "<v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v^l))>"
)


_low = -alpha_i * s_i * _e_next
_QUANTITIES = {
    _e: lambda problem, params, state: square(state.v - problem.x_star),
    _e_next: lambda problem, params, state: square(_next(problem, params, state) - problem.x_star),
    _step: lambda problem, params, state: square(_next(problem, params, state) - state.v),
    _mixed: _against(lambda problem, params, v, after: problem.x_star - v),
    _first: _against(_fresh),
    _odd: _third_line(True),
    _even: _third_line(False),
    _second: _against(_turned),
}


def _of_lines(*symbols: sympy.Symbol) -> tuple[Quantity, ...]:
    return tuple(Quantity(symbol, _QUANTITIES[symbol]) for symbol in symbols)


def _lines(step: sympy.Symbol, sign: int) -> tuple[Any, Any, Any]:
    """The last three lines, with what Young's inequality leaves and the sign of the last term."""
    young = alpha_i * r_i / 2 * (_e_next + step)
    fourth = -(sigma_i + alpha_i * r_i) * _e_next - alpha_i * r_i * _mixed + young
    rest = sign * alpha_i * r_i / 2 * _e
    return fourth, -sigma_i * _e_next + rest, -(alpha_i * s_i + rho * alpha_i * r_i / 2) * _e_next + rest


def _printed_proof() -> Inequality:
    """The chain as printed: each line, and its ends."""
    fourth, fifth, last = _lines(_e_next, -1)
    links = (
        Comparison(_low, "<=", _first),
        *_equal(_first, _odd + _second),
        Comparison(_odd + _second, "<=", fourth),
        *_equal(fourth, fifth),
        Comparison(fifth, "<=", last),
    )
    return Inequality(_low, last, _of_lines(_e, _e_next, _mixed, _first, _odd, _second), also=links)


def _proof() -> tuple[Inequality, Identity]:
    """The inequalities of the chain, as differences that are not negative, and its equalities."""
    fourth, fifth, last = _lines(_step, 1)
    links = ((_low, _first), (_even + _second, fourth), (fifth, last))
    also = tuple(Comparison(sympy.S.Zero, "<=", high - low) for low, high in links)
    quantities = _of_lines(_e, _e_next, _step, _mixed, _first, _even, _second)
    below = Inequality(sympy.S.Zero, last - _low, quantities, also=also)
    return below, Identity(_first, _even + _second, quantities, also=(Comparison(fourth, "==", fifth),))


_BELOW, _EQUALITIES = _proof()

APPENDIX_B = (
    Claim(
        id="fedadmm/theorem-3.1/proof",
        where="proof of Theorem 3.1",
        kind="inequality",
        gist="the display that leads to (16), as printed (its signs and indices)",
        setting=INNER,
        statement=_printed_proof(),
        requires=(CURVED, PENALTY),
        reading="the chain that is to give (35), each of its lines, as the text at hand prints them. With the minus "
        "before alpha_i r_i/2 |v^l - v*|^2 it would say that v^l = v*; below it, w^{k+1} = v^{k+1} stands for "
        "v^{kappa+1}",
        literal_of="fedadmm/theorem-3.1/proof/repaired",
    ),
    Claim(
        id="fedadmm/theorem-3.1/proof/repaired",
        where="proof of Theorem 3.1",
        kind="inequality",
        gist="the chain with grad f(v^l) - grad f(v*) in its third line, |v^{l+1} - v^l|^2 after Young's inequality, "
        "and "
        "a plus before alpha_i r_i/2 |v^l - v*|^2",
        setting=INNER,
        statement=_BELOW,
        requires=(CURVED, PENALTY),
        repairs="fedadmm/theorem-3.1/proof",
    ),
    Claim(
        id="fedadmm/theorem-3.1/proof/repaired-equalities",
        where="proof of Theorem 3.1",
        gist="the equalities of that chain",
        setting=INNER,
        statement=_EQUALITIES,
        requires=(CURVED,),
        repairs="fedadmm/theorem-3.1/proof",
    ),
)

__all__ = ["APPENDIX_B", "APPENDIX_C5", "EQ_14", "EQ_34", "EQ_57", "EQ_60", "PARTS_43", "PROOF_OF_LEMMA_41"]
