"""FedADMM, Appendix C.5 on convex f and on multipliers at a limit, and what Theorem 4.3 follows from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.classes import SmoothConvex, SmoothStronglyConvex
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.appendix_a import PAIRS, Pair
from fedtheory.papers.fedadmm.descent import ACCURACY, LYAPUNOV, LYAPUNOV_NEXT, OF_ANY
from fedtheory.papers.fedadmm.displays import equal, from_next, moved, server
from fedtheory.papers.fedadmm.iterates import steepest
from fedtheory.papers.fedadmm.letters import alpha_i, m, nu_i, parts, r_i, s0, section
from fedtheory.papers.fedadmm.transition import STATE, TRANSITION, IterationView
from fedtheory.problems.base import Problem
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity

# Premises of Theorem 4.3

_theta = sympy.Rational(1, 10)

_from, _all_eps, _gradient_next = parts(
    "sum_i(sigma_i^2|w_i^k-w^{tau_{k+1}}|^2) sum_i(eps_i^k) |grad_f(w^{tau_{k+1}})|^2"
)

theorem_43 = section("Theorem 4.3", transition.BEFORE_IT_FALLS, transition.SMOOTH, transition.STEP, transition.BEGINS)
PARTS_43 = (
    theorem_43(
        "gradient",
        Inequality(
            _gradient_next,
            (1 + _theta) * sympy.Rational(16, 9) * m * _from + (1 + 1 / _theta) * m * _all_eps,
            (
                transition.quantity(_gradient_next.name, lambda v: v.slope()),
                transition.quantity(_from.name, lambda v: (v.params.sigma**2 * square(from_next(v))).sum(axis=-1)),
                transition.quantity(_all_eps.name, lambda v: v.state.eps.sum(axis=-1)),
            ),
        ),
        "the gradient at the server's model by the clients' distances to it, where a round begins",
        kind="inequality",
        origin="implied",
        reading="by (36) the gradient is the sum of alpha_i grad f_i(w) - g_i^k + phi_i^k + sigma_i (w_i^k - w), "
        "w = w^{tau_{k+1}}",
    ),
    theorem_43(
        "descent",
        Inequality(moved / 10 + server / 2, LYAPUNOV - LYAPUNOV_NEXT, OF_ANY),
        "Lemma 4.1 with the 1/2 of (47) for the server's move",
        kind="inequality",
        setting=TRANSITION,
        requires=(transition.SMOOTH, transition.STEP),
        origin="implied",
    ),
    theorem_43(
        "constants",
        Inequality(
            (1 + _theta) * sympy.Rational(128, 9) * s0 * (2 * s0 - 1),
            sympy.Rational(940, 9) * s0 * (s0 + 1),
            also=(
                Comparison(
                    (1 + _theta) * sympy.Rational(128, 3) * (1 + nu_i) + (1 + 1 / _theta) * nu_i,
                    "<=",
                    sympy.Integer(169),
                ),
                Comparison(
                    sympy.Rational(88, 15) * (2 * s0 - 1) * (6 * s0 - 4), "<=", sympy.Rational(940, 9) * s0 * (s0 + 1)
                ),
                Comparison((2 * s0 - 1) * (11 + sympy.Rational(176, 5) * (1 + nu_i)), "<=", 169 * s0),
            ),
        ),
        "the constants c_2 of theorem-4.3/sharper, and those of theorem-4.3/iteration, are at most those of c",
        kind="inequality",
        setting=Setting("all s_0 >= 1 and nu_i < 1", letters=(s0, nu_i)),
        requires=(Hypothesis("nu_i < 1", sympy.Lt(nu_i, 1, evaluate=False)),),
        origin="implied",
    ),
)

# Appendix C.5, on f alone: the f_i need not be convex where their mean is

_nu, _r = sympy.symbols("nu r", positive=True)


def _above(problem: Problem, params: object, state: Pair) -> Array:
    """f(x) - f(x*)."""
    value: Array = problem.f.value(state.x[..., None, :])[..., 0]
    return value - problem.f.value(problem.x_star[..., None, :])[..., 0]


def _downhill(at_star: bool) -> Any:
    """<grad f, x - x*>, with the gradient at x or at x*."""

    def of(problem: Problem, params: object, state: Pair) -> Array:
        away = state.x - problem.x_star
        at = problem.x_star + 0 * away if at_star else state.x
        return (problem.f.gradient(at[..., None, :])[..., 0, :] * away).sum(axis=-1)

    return of


_rise, _slope, _slope_star, _apart = parts("f(w)-f(w*) <grad_f(w),w-w*> <grad_f(w*),w-w*> |w-w*|^2")
_RISE = Quantity(_rise, _above)
_CONVEX, _STRONG = SmoothConvex(_r), SmoothStronglyConvex(_nu, _r)
_OF_F = "f with an r-Lipschitz gradient; any w^{tau_k}, and a minimiser w* of f"
OF_CONVEX_F = (
    section(
        "eq. (58)",
        replace(PAIRS, text=f"convex {_OF_F}", letters={_r: "L"}, functions=_CONVEX),
        Hypothesis("f is convex", met=_CONVEX.contains),
    )(
        "",
        Inequality(sympy.S.Zero, _slope, (_RISE, Quantity(_slope, _downhill(False))), middle=_rise),
        "f(w) >= f(w*) >= f(w) + <grad f(w), w* - w> for convex f",
        kind="limit",
        tex=r"f(\mathbf{w}^{\tau_k})\geq f(\mathbf{w}^*)\geq f(\mathbf{w}^{\tau_k})+\langle\nabla f(\mathbf{w}^{"
        r"\tau_k}),\mathbf{w}^*-\mathbf{w}^{\tau_k}\rangle",
        reading="f(w*) taken from each of the three; at any w. That both ends tend to f(w*) along w^{tau_k} is "
        "corollary-4.1/a",
    ),
    section(
        "Appendix C.5, part c",
        replace(PAIRS, text=f"nu-strongly convex {_OF_F}", letters={_nu: "mu", _r: "L"}, functions=_STRONG),
        Hypothesis("f is nu-strongly convex", met=_STRONG.contains),
        id="appendix-C.5",
    )(
        "strong-convexity",
        Inequality(
            _slope_star + _nu / 2 * _apart,
            _rise,
            (
                _RISE,
                Quantity(_slope_star, _downhill(True)),
                Quantity(_apart, lambda problem, params, state: square(state.x - problem.x_star)),
            ),
            also=equal(_slope_star + _nu / 2 * _apart, _nu / 2 * _apart),
        ),
        "the display from strong convexity",
        tex=r"f(\mathbf{w}^{\tau_k})-f(\mathbf{w}^*)\geq\langle\nabla f(\mathbf{w}^*),\mathbf{w}^{\tau_k}-"
        r"\mathbf{w}^*\rangle+\frac{\nu}{2}\|\mathbf{w}^{\tau_k}-\mathbf{w}^*\|^2=\frac{\nu}{2}\|\mathbf{w}^{"
        r"\tau_k}-\mathbf{w}^*\|^2",
        uses=("definition-4.1",),
        reading="at any w; its second line is that grad f(w*) vanishes, by (20)",
    ),
)

# Appendix C.5, on multipliers


def _to_star(v: IterationView) -> Array:
    """|pi_i^k - pi_i*|^2, with the pi_i* of (19)."""
    return square(v.state.Pi - _at_star(v))


def _at_star(v: IterationView) -> Array:
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
        also=equal(_multiplier, middle),
    )


_OF_STAR = "any w* with pi_i* = -alpha_i grad f_i(w*), as (19) has it, be it optimal or not: the w of a state"

_AT_STAR = replace(STATE, text="any w*, W^k and Pi^k with (37); f_i with r_i-Lipschitz gradients, convex or not")

appendix_c5 = section("Appendix C.5", _AT_STAR, transition.SMOOTH)
APPENDIX_C5 = (
    appendix_c5(
        "multipliers",
        _multipliers(_plus, 1),
        "the display of pi_i - pi_i*, as printed",
        tex=r"\|\boldsymbol{\pi}_i^k-\boldsymbol{\pi}_i^*\|^2=\|\boldsymbol{\varphi}_i^k+\boldsymbol{g}_i^k-\alpha_i"
        r"\nabla f_i(\mathbf{w}^*)\|^2\leq 2\alpha_i^2r_i^2\|\mathbf{w}_i^k-\mathbf{w}^*\|^2+2\epsilon_i^k",
        uses=("lemma-C.1/b", "eq-33"),
        reading=f"{_OF_STAR}. Its equality has the wrong sign of g_i - alpha_i grad f_i(w*); the bound is right",
        literal_of="appendix-C.5/multipliers/repaired",
        flaw="pi_i is phi_i - g_i by eq. (37), so that pi_i - pi_i* is phi_i - (g_i - alpha_i grad f_i(w*)), printed "
        "with a plus; the bound that follows is the same for both.",
    ),
    appendix_c5(
        "multipliers/repaired",
        _multipliers(_minus, -1),
        "pi_i - pi_i* = phi_i - (g_i - alpha_i grad f_i(w*)), with the printed bound",
        kind="inequality",
        reading=_OF_STAR,
        repairs="appendix-C.5/multipliers",
    ),
)

__all__ = ["APPENDIX_C5", "OF_CONVEX_F", "PARTS_43"]
