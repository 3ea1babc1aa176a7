"""FedADMM, Appendix A on functions that need not be convex, and Definition 4.1 of local optima and convex functions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.classes import SmoothConvex, WeaklyConvex
from fedtheory.instances import Recipe, check_shape, number, numbers, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm.inner import CURVED, WEAKLY_CONVEX
from fedtheory.papers.fedadmm.letters import parts, r_i, s_i, section
from fedtheory.papers.fedadmm.method import LEAST, least_alpha
from fedtheory.problems.base import Problem, weighted_gradient, weighted_value
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity

# Appendix A


class Pair(NamedTuple):
    """``x``, ``y (..., d)``."""

    x: Array
    y: Array


class Nothing(NamedTuple):
    """No parameters."""


def _optimum(problem: Problem, params: object) -> Pair:
    return Pair(problem.x_star, problem.x_star)


def _of_one(problem: Problem, x: Array) -> tuple[Array, Array]:
    """f(x) and grad f(x) of the only function."""
    at = x[..., None, :]
    return problem.f.value(at)[..., 0], problem.f.gradient(at)[..., 0, :]


def _difference(at_first: bool) -> Any:
    def of(problem: Problem, params: object, state: Pair) -> Array:
        (f_x, g_x), (f_y, g_y) = _of_one(problem, state.x), _of_one(problem, state.y)
        slope = g_x if at_first else g_y
        return f_x - f_y - (slope * (state.x - state.y)).sum(axis=-1)

    return of


def _monotone(problem: Problem, params: object, state: Pair) -> Array:
    (_, g_x), (_, g_y) = _of_one(problem, state.x), _of_one(problem, state.y)
    return ((g_x - g_y) * (state.x - state.y)).sum(axis=-1)


def _apart(problem: Problem, params: object, state: Pair) -> Array:
    return square(state.x - state.y)


_SMOOTH = WeaklyConvex(s_i, r_i, symmetric=True, optimum="stationary")

PAIRS = Setting(
    "f with an r_i-Lipschitz gradient, convex or not; any w_1 and w_2",
    letters={r_i: "L"},
    algorithm=points(Pair, Nothing, _optimum),
    functions=_SMOOTH,
    drawing=Drawing(classes_stated=True),
    clients=(1,),
)

WEAK_PAIRS = Setting(
    "f with Hessians between -s_i I and r_i I; any w_1 and w_2",
    letters={s_i: lambda problem, params: -problem.mu, r_i: "L"},
    algorithm=points(Pair, Nothing, _optimum),
    functions=WEAKLY_CONVEX,
    drawing=Drawing(classes_stated=True),
    clients=(1,),
)

_first, _second, _square, _product = parts(
    "f(w_1)-f(w_2)-<grad_f(w_1),w_1-w_2> f(w_1)-f(w_2)-<grad_f(w_2),w_1-w_2> |w_1-w_2|^2 "
    "<grad_f(w_1)-grad_f(w_2),w_1-w_2>"
)


class Scale(NamedTuple):
    """``t``: any positive number."""

    t: Scalar


class Vectors(NamedTuple):
    """``first``, ``second (..., d)``, and ``x (..., m, d)``."""

    first: Array
    second: Array
    x: Array


def _no_vectors(problem: Problem, params: Scale) -> Vectors:
    none = np.zeros(problem.d, dtype=int)
    return Vectors(none, none, np.zeros((problem.n, problem.d), dtype=int))


def _of_vectors(of: Any) -> Any:
    return lambda problem, params, state: of(state)


_t = sympy.Symbol("t", positive=True)

_count = sympy.Symbol("m", integer=True, positive=True)

_inner2, _w1, _w2, _both, _total, _squares = parts("2<w_1,w_2> |w_1|^2 |w_2|^2 |w_1+w_2|^2 |sum_i(w_i)|^2 sum_i|w_i|^2")

PRODUCT = Quantity(_product, _monotone)

SQUARE = Quantity(_square, _apart)

appendix_a = section("Appendix A", PAIRS, Hypothesis("grad f is r_i-Lipschitz", met=_SMOOTH.contains), id="")
APPENDIX_A = (
    appendix_a(
        "eq-31",
        Inequality(
            _first,
            r_i / 2 * _square,
            (
                Quantity(_first, _difference(True)),
                Quantity(_second, _difference(False)),
                Quantity(_square, _apart),
            ),
            also=(Comparison(_second, "<=", r_i / 2 * _square),),
        ),
        "descent inequality from a Lipschitz gradient",
        tex=r"f(\mathbf{w}_1)-f(\mathbf{w}_2)-\langle\nabla f(\mathbf{w}_i),\mathbf{w}_1-\mathbf{w}_2\rangle\leq"
        r"\frac{r}{2}\|\mathbf{w}_1-\mathbf{w}_2\|^2",
    ),
    appendix_a(
        "eq-32",
        -PRODUCT <= s_i * SQUARE,
        "weak monotonicity from the Hessian bound",
        setting=WEAK_PAIRS,
        requires=(CURVED,),
        tex=r"\langle\nabla f(\mathbf{w}_1)-\nabla f(\mathbf{w}_2),\mathbf{w}_1-\mathbf{w}_2\rangle\geq-s\|"
        r"\mathbf{w}_1-\mathbf{w}_2\|^2",
    ),
    appendix_a(
        "eq-33",
        Inequality(
            _inner2,
            _t * _w1 + _w2 / _t,
            (
                Quantity(_inner2, _of_vectors(lambda v: 2 * (v.first * v.second).sum(axis=-1))),
                Quantity(_w1, _of_vectors(lambda v: square(v.first))),
                Quantity(_w2, _of_vectors(lambda v: square(v.second))),
                Quantity(_both, _of_vectors(lambda v: square(v.first + v.second))),
                Quantity(_total, _of_vectors(lambda v: square(v.x.sum(axis=-2)))),
                Quantity(_squares, _of_vectors(lambda v: square(v.x).sum(axis=-1))),
            ),
            also=(
                Comparison(_both, "<=", (1 + _t) * _w1 + (1 + 1 / _t) * _w2),
                Comparison(_total, "<=", _count * _squares),
            ),
        ),
        "three norm inequalities",
        setting=Setting(
            "any vectors, m of them in the last, and any t > 0",
            letters={_t: "t", _count: "n"},
            algorithm=points(Vectors, Scale, _no_vectors),
            functions=_SMOOTH,
            drawing=Drawing(classes_stated=True),
        ),
        requires=(),
        tex=r"2\langle\mathbf{w}_1,\mathbf{w}_2\rangle\leq t\|\mathbf{w}_1\|^2+(1/t)\|\mathbf{w}_2\|^2, \quad \|"
        r"\mathbf{w}_1+\mathbf{w}_2\|^2\leq(1+t)\|\mathbf{w}_1\|^2+(1+1/t)\|\mathbf{w}_2\|^2, \quad \|"
        r"\sum_{i=1}^m\mathbf{w}_i\|^2\leq m\sum_{i=1}^m\|\mathbf{w}_i\|^2",
    ),
)

# Definition 4.1, of local optima and of convex functions


class Weighted(NamedTuple):
    """``alpha (m,)``: the weights of the f_i, of sum 1; ``t``: a step."""

    alpha: Array
    t: Scalar


def _draw_weighted(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    shares = tuple(int(pick(rng, (1, 1, 2, 7, 40))) for _ in recipe["clients"])
    return {**recipe, "shares": shares, "t": pick(rng, tuple(Fraction(v) for v in (1, "1/3", "1/20", 2)))}


def _weighted(recipe: Recipe, problem: Problem, exact: bool) -> Weighted:
    check_shape(problem.n, *recipe["shares"], recipe["t"])
    if len(recipe["shares"]) != problem.n:
        raise ValueError("every client has a weight")
    shares = numbers(recipe["shares"], exact)
    return Weighted(shares / shares.sum(), number(recipe["t"], exact))


def _fallen(problem: Problem, params: Weighted, state: Pair) -> Array:
    """f(x) - f(x - t grad f(x))."""
    slope = weighted_gradient(problem, params.alpha, state.x)
    found: Array = weighted_value(problem, params.alpha, state.x)
    return found - weighted_value(problem, params.alpha, state.x - params.t * slope)


def _steepness(problem: Problem, params: Weighted, state: Pair) -> Array:
    """|grad f(x)|^2."""
    return square(weighted_gradient(problem, params.alpha, state.x))


def _above(problem: Problem, params: Weighted, state: Pair) -> Array:
    """f(x) - f(y)."""
    found: Array = weighted_value(problem, params.alpha, state.x)
    return found - weighted_value(problem, params.alpha, state.y)


def _towards(problem: Problem, params: Weighted, state: Pair) -> Array:
    """<grad f(x), x - y>."""
    return (weighted_gradient(problem, params.alpha, state.x) * (state.x - state.y)).sum(axis=-1)


_step_size, _all_alpha = sympy.symbols("t sum_i(alpha_i)", positive=True)

_CONVEX = SmoothConvex(r_i)

_WEIGHTED = replace(
    PAIRS,
    text="f = sum_i alpha_i f_i, of any weights; f_i with r_i-Lipschitz gradients, convex or not; any w and t > 0",
    letters={
        r_i: "L",
        _step_size: "t",
        least_alpha: LEAST[least_alpha],
        _all_alpha: lambda problem, params: params.alpha.sum(),
    },
    algorithm=points(Pair, Weighted, _optimum),
    drawing=Drawing(classes_stated=True, draw=_draw_weighted, parameters=_weighted),
    clients=(1, 2, 3),
)

definition_41 = section(
    "Definition 4.1 and eq. (20)",
    _WEIGHTED,
    Hypothesis("grad f_i is r_i-Lipschitz", met=_SMOOTH.contains),
    id="definition-4.1",
)
OPTIMA = (
    definition_41(
        "local",
        sympy.S.Zero
        <= Quantity("f(w)-f(w-t grad f(w))", _fallen)
        - _step_size * (1 - _all_alpha * r_i * _step_size / 2) * Quantity("|grad f(w)|^2", _steepness),
        "at a local optimum of (10) the gradient of f vanishes",
        kind="property",
        tex="",
        reading="near w f falls, unless grad f(w) = 0: then pi_i = -alpha_i grad f_i(w) and w_i = w meet (19). r_i is "
        "one constant of all clients, as the largest is",
    ),
    definition_41(
        "convex",
        sympy.S.Zero <= Quantity("<grad f(w),w-v>", _towards) - Quantity("f(w)-f(v)", _above),
        "for convex f_i, f(w) - f(v) <= <grad f(w), w - v>: what meets (19) is optimal",
        kind="property",
        setting=replace(
            _WEIGHTED,
            text="f = sum_i alpha_i f_i, of any weights; convex f_i with r_i-Lipschitz gradients; any w and v",
            functions=_CONVEX,
        ),
        requires=(Hypothesis("the f_i are convex", met=_CONVEX.contains),),
        tex="",
        reading="by (20) grad f(w) = 0 where (19) holds; the other way is definition-4.1/local",
    ),
)

__all__ = ["APPENDIX_A", "OPTIMA"]
