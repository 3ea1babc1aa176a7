"""FedDCD, Section 3: that (D) is the dual of (P), for every convex and smooth f_i, by Fenchel and Young; eq. (1).

A dual point is y_i = grad f_i(v_i) for some v_i, where f_i^*(y_i) is <v_i, y_i> - f_i(v_i), so that G is known from
values and gradients of the f_i.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import sympy

from fedtheory.classes import SmoothConvex, SmoothStronglyConvex
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd.dual import CONVEX, N, Nothing, alpha, beta, section
from fedtheory.problems.base import Problem, everywhere
from fedtheory.settings import Setting, points
from fedtheory.settings.relations import Quantity


class At(NamedTuple):
    """``w (..., d)``: a primal point; ``v (..., N, d)``: where the f_i have the gradients y_i."""

    w: Array
    v: Array


def _centre(problem: Problem, params: object) -> At:
    return At(problem.x_star, problem.x_star + 0 * problem.y_star)


def _G(problem: Problem, v: Array) -> Array:
    """G(y) for y_i = grad f_i(v_i)."""
    return ((v * problem.f.gradient(v)).sum(axis=-1) - problem.f.value(v)).sum(axis=-1)


def _G_of(of: str) -> Any:
    """G at y, at (grad f_i(w)) or at (grad f_i(w*))."""

    def value(problem: Problem, params: object, state: At) -> Array:
        at = {"v": state.v, "w": everywhere(problem, state.w), "w*": problem.x_star + 0 * state.v}
        return _G(problem, at[of])

    return value


def _F(problem: Problem, params: object, state: At) -> Array:
    """F(w)."""
    return problem.f.value(everywhere(problem, state.w)).sum(axis=-1)


def _residual(of: str) -> Any:
    """<w, sum_i y_i> for the y of the state, or y_i = grad f_i(w); 0 where y is feasible."""

    def value(problem: Problem, params: object, state: At) -> Array:
        at = state.v if of == "v" else everywhere(problem, state.w)
        return (state.w * problem.f.gradient(at).sum(axis=-2)).sum(axis=-1)

    return value


def _residual_at_optimum(problem: Problem, params: object, state: At) -> Array:
    """<w*, sum_i y_i>."""
    return (problem.x_star * problem.f.gradient(state.v).sum(axis=-2)).sum(axis=-1)


def _from_gradients(problem: Problem, params: object, state: At) -> Array:
    """sum_i |y_i - grad f_i(w*)|^2."""
    return ((problem.f.gradient(state.v) - problem.y_star) ** 2).sum(axis=(-1, -2))


ANY = Setting(
    "f_1, ..., f_N convex and beta-smooth; any w, and any y at which the conjugates have slopes",
    letters={beta: "L", N: "n"},
    algorithm=points(At, Nothing, _centre),
    functions=SmoothConvex(beta),
)
GUESSES = replace(
    ANY,
    text="f_1, ..., f_N as in the paper; any guess w at every client, and any y",
    letters={alpha: "mu", beta: "L", N: "n"},
    functions=SmoothStronglyConvex(alpha, beta),
)

_g, _g_w, _f, _r, _r_w = (
    sympy.Symbol(name) for name in ("G(y)", "G(y^w)", "F(w)", "<w, sum_i(y_i)>", "<w, sum_i(grad f_i(w))>")
)
_G_y, _G_star = Quantity(_g, _G_of("v")), Quantity(sympy.Symbol("G(grad f_i(w*))"), _G_of("w*"))

SECTION_3 = (
    section("Section 3", ANY, id="")(
        "duality",
        Inequality(
            sympy.S.Zero,
            _g - _g_w + _r_w - _r,
            (
                _G_y,
                Quantity(_g_w, _G_of("w")),
                Quantity(_f, _F),
                Quantity(_r, _residual("v")),
                Quantity(_r_w, _residual("w")),
            ),
            middle=_g + _f - _r,
        ),
        "y* of (D) and w* of (P) correspond: y_i* = grad f_i(w*), optimal values are opposite",
        kind="identity",
        tex=r"w^*\in\bigcap_{i=1}^{N}\partial f_i^*(y_i^*)",
        reading="G(y) >= -F(w) + <w, sum_i y_i> for all y and w, and with equality at y_i^w = grad f_i(w): of feasible "
        "y the last term is 0, and so it is of y^w at w*, which is therefore y*, with G(y*) = -F(w*)",
    ),
    section("Assumption 3.3", ANY, id="")(
        "heterogeneity",
        Quantity("sum_i(|y_i-grad f_i(w*)|^2)", _from_gradients)
        <= 2 * beta * (_G_y - _G_star - Quantity("<w*, sum_i(y_i)>", _residual_at_optimum)),
        "norm(grad f_i(w*)) <= zeta gives norm(y_i*) <= zeta",
        tex=r"\|y_i^*\|\leq\zeta \quad \forall i\in[N]",
        reading="the y_i* are the gradients themselves, so that their norms are the same: G(y) - G(y^*) >= sum_i |y_i "
        "- grad f_i(w*)|^2/(2 beta) for all feasible y, where <w*, sum_i y_i> is 0; so only (grad f_i(w*)) solves (D)",
    ),
)

# The blocks of G, and eq. (1)


class Gradients(NamedTuple):
    """``v``, ``u``, ``w (..., N, d)``: where the f_i have the gradients y_i, and others z_i; where f_i - <., y_i> is
    looked at."""

    v: Array
    u: Array
    w: Array


def _same(problem: Problem, params: object) -> Gradients:
    return Gradients(*(problem.x_star + 0 * problem.y_star,) * 3)


def _excess(problem: Problem, params: object, state: Gradients) -> Array:
    """sum_i of f_i(w_i) - <w_i, y_i> less the same at v_i."""
    f, (v, _, w) = problem.f, state
    return (f.value(w) - f.value(v) - ((w - v) * f.gradient(v)).sum(axis=-1)).sum(axis=-1)


def _above_tangent(problem: Problem, params: object, state: Gradients) -> Array:
    """sum_i f_i^*(z_i) - f_i^*(y_i) - <v_i, z_i - y_i>."""
    y, z = problem.f.gradient(state.v), problem.f.gradient(state.u)
    return _G(problem, state.u) - _G(problem, state.v) - (state.v * (z - y)).sum(axis=(-1, -2))


def _from_v(problem: Problem, params: object, state: Gradients) -> Array:
    """sum_i |w_i - v_i|^2."""
    return ((state.w - state.v) ** 2).sum(axis=(-1, -2))


def _from_y(problem: Problem, params: object, state: Gradients) -> Array:
    """sum_i |z_i - y_i|^2."""
    return ((problem.f.gradient(state.u) - problem.f.gradient(state.v)) ** 2).sum(axis=(-1, -2))


_above, _tangent, _w_v, _z_y = (
    sympy.Symbol(name)
    for name in (
        "sum_i(f_i(w_i)-<w_i, y_i>-f_i(v_i)+<v_i, y_i>)",
        "sum_i(f_i^*(z_i)-f_i^*(y_i)-<v_i, z_i-y_i>)",
        "sum_i(|w_i-v_i|^2)",
        "sum_i(|z_i-y_i|^2)",
    )
)
_TWO = replace(
    GUESSES,
    text="f_1, ..., f_N as in the paper; any y_i = grad f_i(v_i), z_i = grad f_i(u_i) and w_i",
    algorithm=points(Gradients, Nothing, _same),
)
_TANGENT, _Z_Y = Quantity(_tangent, _above_tangent), Quantity(_z_y, _from_y)
BLOCK_SMOOTHNESS = section("Assumptions 3.1-3.2", _TWO, CONVEX, id="")(
    "block-smoothness",
    Inequality(_z_y / (2 * beta), _z_y / (2 * alpha), (_TANGENT, _Z_Y), middle=_tangent),
    "f_i alpha-strongly convex and beta-smooth makes G block-wise 1/alpha-smooth and 1/beta-strongly convex",
    tex="",
    reading="of what the f_i say of their conjugates, f_i^*(y_i) = <v_i, y_i> - f_i(v_i) with the gradient v_i (eq-1); "
    "of each block, as the f_i are any",
)
EQ_1 = section("Section 4", _TWO, CONVEX, id="")(
    "eq-1",
    Inequality(
        alpha * _w_v / 2,
        beta * _w_v / 2 + _z_y / (2 * alpha),
        (
            Quantity(_above, _excess),
            _TANGENT,
            Quantity(_w_v, _from_v),
            _Z_Y,
        ),
        middle=_above + _tangent,
    ),
    "grad f_i*(y) is the minimiser of f_i(w) - <w,y>",
    kind="identity",
    tex=r"w_i^{(t)}=\nabla f_i^*(y_i^{(t)})=\operatorname{argmin}_{w\in\mathbb{R}^d}\left\{f_i(w)-\langle w,y_i^{(t)}"
    r"\rangle\right\}",
    reading="with z_i = y_i: v_i alone minimises f_i - <., y_i>, so that f_i^*(y_i) = <v_i, y_i> - f_i(v_i); with "
    "w_i = v_i: f_i^* is above its tangent <v_i, .> at y_i, by |z_i - y_i|^2/(2 alpha) at most, so that its gradient "
    "is v_i. Every y_i is such a gradient, as f_i is strongly convex",
)

# Section 4.1, where all f_i are the same


def _from_optimum(problem: Problem, params: object, state: At) -> Array:
    """sum_i |v_i - w*|^2."""
    return ((state.v - everywhere(problem, problem.x_star)) ** 2).sum(axis=(-1, -2))


IDENTICAL = section("Section 4.1", GUESSES, CONVEX, id="")(
    "identical-clients",
    alpha**2 * Quantity("sum_i(|v_i-w*|^2)", _from_optimum)
    <= Quantity("sum_i(|grad f_i(v_i)-grad f_i(w*)|^2)", _from_gradients),
    "identical clients: optimal at the first iteration, as the w_i that it computes at y^0 = 0 are w*",
    kind="property",
    tex=r"f_i=f_j \quad \forall i,j\in[N]",
    reading="of all f_i and v_i. The first iteration computes v_i = argmin f_i from y^0 = 0, where grad f_i(v_i) = 0. "
    "Where the f_i are the same grad f_i(w*) = 0, so that y* = 0 = y^0 and all v_i are w*; that they stay there is "
    "eq. (4)",
)

# Local steps, Section 5


def _after_step(problem: Problem, params: object, state: At) -> Array:
    """sum_i |w - (1/beta)(grad f_i(w) - y_i) - v_i|^2, where v_i is grad f_i^*(y_i)."""
    f, w = problem.f, everywhere(problem, state.w)
    after = w - (f.gradient(w) - f.gradient(state.v)) / problem.L
    return ((after - state.v) ** 2).sum(axis=(-1, -2))


def _before_step(problem: Problem, params: object, state: At) -> Array:
    """sum_i |w - grad f_i^*(y_i)|^2."""
    return ((everywhere(problem, state.w) - state.v) ** 2).sum(axis=(-1, -2))


GRADIENT_STEP = inequality(
    Quantity("sum_i(|w_next-grad f_i^*(y_i)|^2)", _after_step)
    <= (1 - alpha / beta) ** 2 * Quantity("sum_i(|w-grad f_i^*(y_i)|^2)", _before_step)
)
