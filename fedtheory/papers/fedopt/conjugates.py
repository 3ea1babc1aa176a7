"""Federated Optimization, Appendix A.3: the dual of regularised losses, for every convex phi_i, by Fenchel and Young.

Of a dual variable only -alpha_i x_i matters, the slope at some point v_i of the loss phi_i(x_i'w), and
phi_i^*(-alpha_i) is <v_i, slope> less the loss at v_i. So D is known from values and gradients of the losses, and
nothing else of their form is used: what holds of all convex losses of w holds of the phi_i(x_i'w).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import sympy

from fedtheory.classes import SmoothConvex
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.predictors import lamda, n, section
from fedtheory.problems.base import Problem, everywhere
from fedtheory.settings import Setting, points
from fedtheory.settings.relations import Quantity


class Regulariser(NamedTuple):
    """``lamda``: lambda."""

    lamda: Scalar


class At(NamedTuple):
    """``w (..., d)``: a model; ``v (..., n, d)``: where the losses have the slopes of the dual variables."""

    w: Array
    v: Array


class Two(NamedTuple):
    """``v``, ``u (..., n, d)``: where the losses have the slopes of two vectors of dual variables."""

    v: Array
    u: Array


def _dual(n: int, lam: Scalar, at: Array, value: Array, slope: Array) -> Array:
    """D(alpha), eq. (13), of losses with ``value (..., n)`` and ``slope (..., n, d)`` at the points ``at``."""
    conjugates = ((at * slope).sum(axis=-1) - value).sum(axis=-1)
    return -square(slope.sum(axis=-2)) / (2 * lam * n**2) - conjugates / n


# Of losses of w, and at the model w itself


def _dual_at(problem: Problem, lam: Scalar, v: Array) -> Array:
    return _dual(problem.n, lam, v, problem.f.value(v), problem.f.gradient(v))


def _of_duals(problem: Problem, params: Regulariser, state: At) -> Array:
    """D(alpha)."""
    return _dual_at(problem, params.lamda, state.v)


def _of_model(problem: Problem, params: Regulariser, state: At) -> Array:
    """D(alpha^w), alpha_i^w = -phi_i'(x_i'w)."""
    return _dual_at(problem, params.lamda, everywhere(problem, state.w))


def _objective(problem: Problem, params: Regulariser, state: At) -> Array:
    """f(w)."""
    losses = problem.f.value(everywhere(problem, state.w)).sum(axis=-1) / problem.n
    return losses + params.lamda * square(state.w) / 2


def _slope(problem: Problem, params: Regulariser, state: At) -> Array:
    """grad f(w)."""
    losses = problem.f.gradient(everywhere(problem, state.w)).sum(axis=-2) / problem.n
    return losses + params.lamda * state.w


def _stationarity(problem: Problem, params: Regulariser, state: At) -> Array:
    """|grad f(w)|^2."""
    return square(_slope(problem, params, state))


def _off(problem: Problem, params: Regulariser, state: At) -> Array:
    """|w - X alpha^w/(lambda n)|^2."""
    image = -problem.f.gradient(everywhere(problem, state.w)).sum(axis=-2) / (params.lamda * problem.n)
    return square(state.w - image)


# At two vectors of dual variables


def _half(which: str) -> Any:
    def value(problem: Problem, params: Regulariser, state: Two) -> Array:
        at = getattr(state, which)
        return _dual(problem.n, params.lamda, at, problem.f.value(at), problem.f.gradient(at))

    value.__doc__ = f"D at the dual variables of {which}"
    return value


def _moves(problem: Problem, state: Two) -> Array:
    """-(beta_i - alpha_i) x_i, for alpha of v and beta of u."""
    return problem.f.gradient(state.u) - problem.f.gradient(state.v)


def _linear(problem: Problem, params: Regulariser, state: Two) -> Array:
    """<grad D(alpha), beta - alpha>."""
    slopes, moves = problem.f.gradient(state.v), _moves(problem, state)
    coupled = (slopes.sum(axis=-2) * moves.sum(axis=-2)).sum(axis=-1) / (params.lamda * problem.n)
    return -(coupled + (state.v * moves).sum(axis=(-1, -2))) / problem.n


def _distance(problem: Problem, params: Regulariser, state: Two) -> Array:
    """sum_i |x_i|^2 (beta_i - alpha_i)^2."""
    return square(_moves(problem, state)).sum(axis=-1)


_smooth = sympy.Symbol("beta", positive=True)
_LETTERS = {_smooth: "L", n: "n", lamda: "lamda"}
_ANY = "phi_i convex and beta-smooth along x_i, beta = |x_i|^2/gamma; lambda > 0; "
ANY_PHI = Setting(
    _ANY + "any w, and any dual variables at which the conjugates have slopes",
    letters=_LETTERS,
    algorithm=points(At, Regulariser, lambda problem, params: At(problem.x_star, everywhere(problem, problem.x_star))),
    functions=SmoothConvex(_smooth),
)
TWO_DUALS = replace(
    ANY_PHI,
    text=_ANY + "any two vectors of dual variables at which the conjugates have slopes",
    algorithm=points(Two, Regulariser, lambda problem, params: Two(*(everywhere(problem, problem.x_star),) * 2)),
)
_READING = (
    "for every convex and smooth phi_i. Dual variables at which phi_i^* is infinite are no matter, nor ends of its "
    "domain, where it is a limit"
)
_D, _D_w, _f, _slope_w = sympy.symbols("D(alpha) D(alpha^w) f(w) |grad_f(w)|^2")
_D_u, _D_v, _lin, _far = (
    sympy.Symbol(name)
    for name in ("D(beta)", "D(alpha)", "<grad D(alpha), beta-alpha>", "sum_i(|x_i|^2 (beta_i-alpha_i)^2)")
)

DUALITY = (
    section("eq. (13)", ANY_PHI)(
        "",
        Inequality(
            sympy.S.Zero,
            _D_w - _D + _slope_w / (2 * lamda),
            (
                Quantity(_D, _of_duals),
                Quantity(_f, _objective),
                Quantity(_D_w, _of_model),
                Quantity(_slope_w, _stationarity),
            ),
            middle=_f - _D,
        ),
        "dual of L2-regularised ERM",
        kind="identity",
        tex=r"D(\alpha)=-\frac{1}{2\lambda n^2}\left\|X\alpha\right\|^2-\frac{1}{n}\sum_{i=1}^n\phi_i^*(-\alpha_i)",
        reading="max D = min f: D(alpha) <= f(w) for all alpha and w, and f(w) <= D(alpha^w) + |grad f(w)|^2/(2 "
        f"lambda) for alpha_i^w = -phi_i'(x_i'w), where the gradient is 0 at w*; {_READING}",
    ),
    section("eq. (14)", ANY_PHI)(
        "",
        Quantity("|w-(1/(lambda n)) X alpha^w|^2", _off) <= Quantity(_slope_w, _stationarity) / lamda**2,
        "dual to primal map at the optimum",
        kind="identity",
        tex=r"w^t=\frac{1}{\lambda n}X\alpha^t",
        reading="at w = w* the right side is 0, and alpha^w, alpha_i^w = -phi_i'(x_i'w), maximises D by eq. (13), "
        "which nothing else does where D is strongly concave; for every convex and smooth phi_i",
    ),
)

CONCAVITY = section("Appendix A.3", TWO_DUALS, id="dual")(
    "strongly-concave",
    Inequality(
        _D_u,
        _D_v + _lin - _far / (2 * n * _smooth),
        (
            Quantity(_D_u, _half("u")),
            Quantity(_D_v, _half("v")),
            Quantity(_lin, _linear),
            Quantity(_far, _distance),
        ),
    ),
    "D is strongly concave",
    kind="property",
    tex="",
    uses=("eq-13",),
    reading=f"D(beta) <= D(alpha) + <grad D(alpha), beta - alpha> - (gamma/(2n)) |beta - alpha|^2, {_READING}; where "
    "|x_i|^2 = 1 beta is 1/gamma",
)
