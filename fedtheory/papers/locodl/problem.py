"""LoCoDL: the problem in other words, its optimality conditions (Section 2.1) and the case g = 0 (Section 3.1)."""

from __future__ import annotations

from typing import NamedTuple

import sympy

from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.locodl.setting import CONVEX, FUNCTIONS, L, gamma, mu, n, section
from fedtheory.problems.base import Problem, everywhere
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.relations import Comparison, Quantity

_NEEDS_G = "the optimality conditions are those of a problem with a function g"


class Two(NamedTuple):
    """``x``, ``w (..., d)``: two points."""

    x: Array
    w: Array


class Nothing(NamedTuple):
    """No parameters."""


def _optimum_twice(problem: Problem, params: object) -> Two:
    return Two(problem.x_star, problem.x_star)


PAIRS = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; any x and w",
    letters={mu: "mu", L: "L", n: "n"},
    algorithm=points(Two, Nothing, _optimum_twice),
    functions=FUNCTIONS,
    drawing=Drawing(g=(True,)),
)


def _values(problem: Problem, x: Array) -> Array:
    """(1/n) sum_i f_i(x) + g(x)."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    of_g = problem.g.value(x[..., None, :])[..., 0]
    return problem.f.value(everywhere(problem, x)).sum(axis=-1) / problem.n + of_g


def _above_tangent(problem: Problem, params: object, state: Two) -> Array:
    """F(w) - F(x) - <(1/n) sum_i u_i + v, w - x>, with u_i = grad f_i(x) and v = grad g(x)."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    x, w = state
    v = problem.g.gradient(x[..., None, :])[..., 0, :]
    slope = problem.f.gradient(everywhere(problem, x)).sum(axis=-2) / problem.n + v
    return _values(problem, w) - _values(problem, x) - (slope * (w - x)).sum(axis=-1)


def _apart(problem: Problem, params: object, state: Two) -> Array:
    """|w - x|^2."""
    return ((state.w - state.x) ** 2).sum(axis=-1)


_square, _tangent = (sympy.Symbol(name) for name in ("|w-x|^2", "F(w)-F(x)-<R, w-x>"))


OPTIMALITY = section("Section 2.1", PAIRS, CONVEX, id="")(
    "optimality",
    Inequality(
        mu * _square, L * _square, (Quantity(_square, _apart), Quantity(_tangent, _above_tangent)), middle=_tangent
    ),
    "primal-dual optimality conditions",
    kind="identity",
    tex=r"x_{1}=\cdots=x_{n}=y, \quad 0=\nabla f_{i}(x_{i})-u_{i}, \quad 0=\nabla g(y)-v, \quad "
    r"0=u_{1}+\cdots+u_{n}+nv",
    reading="F = (1/n) sum_i f_i + g, u_i = grad f_i(x), v = grad g(x), R = (1/n) sum_i u_i + v, at any x_1 = ... = "
    "x_n = y = x: where R = 0 x alone minimises F, and where it is not w = x - R/(2 L) has F(w) <= F(x) - |R|^2/(4 L)",
)


# Section 3.1


class Three(NamedTuple):
    """``x (..., d)``; ``v``, ``w (..., n, d)``: two points of each client."""

    x: Array
    v: Array
    w: Array


def _optimum(problem: Problem, params: object) -> Three:
    at = everywhere(problem, problem.x_star)
    return Three(problem.x_star, at, at)


def _quarter(problem: Problem, x: Array) -> Array:
    """g~(x) = (mu/4)|x|^2."""
    return problem.mu / 4 * (x**2).sum(axis=-1)


def _average(problem: Problem, params: object, state: Three) -> Array:
    """(1/n) sum_i f_i(x)."""
    return problem.f.value(everywhere(problem, state.x)).sum(axis=-1) / problem.n


def _split_average(problem: Problem, params: object, state: Three) -> Array:
    """(1/n) sum_i f~_i(x) + g~(x), f~_i = f_i - g~."""
    at = everywhere(problem, state.x)
    shares = problem.f.value(at) - _quarter(problem, at)
    return shares.sum(axis=-1) / problem.n + _quarter(problem, state.x)


def _split_bregman(problem: Problem, params: object, state: Three) -> Array:
    """sum_i f~_i(w_i) - f~_i(v_i) - <grad f~_i(v_i), w_i - v_i>."""
    f, (_, v, w) = problem.f, state
    slope = f.gradient(v) - problem.mu / 2 * v
    values = f.value(w) - _quarter(problem, w) - f.value(v) + _quarter(problem, v)
    return (values - (slope * (w - v)).sum(axis=-1)).sum(axis=-1)


def _moves(problem: Problem, params: object, state: Three) -> Array:
    """sum_i |w_i - v_i|^2."""
    return ((state.w - state.v) ** 2).sum(axis=(-1, -2))


_EACH = Setting(
    "f_1, ..., f_n mu-strongly convex and L-smooth, no g; any x, v_i and w_i",
    letters={mu: "mu", L: "L", n: "n"},
    algorithm=points(Three, Nothing, _optimum),
    functions=FUNCTIONS,
)
_whole, _shared, _of_shares, _moved = (
    sympy.Symbol(name)
    for name in (
        "(1/n) sum_i(f_i(x))",
        "(1/n) sum_i(f~_i(x))+g~(x)",
        "sum_i(f~_i(w_i)-f~_i(v_i)-<grad f~_i(v_i), w_i-v_i>)",
        "sum_i(|w_i-v_i|^2)",
    )
)
EQUIVALENCE = section("Section 3.1", _EACH, CONVEX)(
    "equivalence",
    Inequality(
        mu / 4 * _moved,
        (L / 2 - mu / 4) * _moved,
        (
            Quantity(_moved, _moves),
            Quantity(_of_shares, _split_bregman),
            Quantity(_whole, _average),
            Quantity(_shared, _split_average),
        ),
        middle=_of_shares,
        also=(Comparison(_whole, "<=", _shared), Comparison(_shared, "<=", _whole)),
    ),
    "the split problem is the same problem",
    kind="identity",
    tex=r"\frac{1}{n}\sum_{i=1}^{n}f_{i}, \quad \frac{1}{n}\sum_{i=1}^{n}\tilde{f}_{i}+\tilde{g}",
    reading="both averages are equal, and the f~_i are mu~-strongly convex and L~-smooth; that g~ is so is "
    "section-3.1/constants",
)


class Stepsize(NamedTuple):
    """``gamma``: the stepsize."""

    gamma: Scalar


def _of_g(problem: Problem, params: Stepsize, state: Two) -> Array:
    """g~(w)."""
    return _quarter(problem, state.w)


def _by_slope(problem: Problem, params: Stepsize, state: Two) -> Array:
    """g~(x) + <s, w - x> + (mu/4)|w - x|^2, with s = (x - (1 - gamma mu/2) x)/gamma."""
    x, w = state
    slope = (x - (1 - params.gamma * problem.mu / 2) * x) / params.gamma
    return _quarter(problem, x) + (slope * (w - x)).sum(axis=-1) + _quarter(problem, w - x)


STEPS = Setting(
    "any y = x and w in R^d, mu and gamma > 0",
    letters=(mu, L, gamma),
    algorithm=points(Two, Stepsize, _optimum_twice),
    functions=FUNCTIONS,
)
STEP_5 = section("Section 3.1", STEPS, id="proof")(
    "step-5",
    identity(Quantity("g~(w)", _of_g), Quantity("g~(x)+<s, w-x>+(mu/4)|w-x|^2", _by_slope)),
    "y - gamma grad g~(y) = (1 - gamma mu/2) y, at Step 5 of Algorithm 1",
    tex=r"y^{t}-\gamma\nabla\tilde{g}(y^{t})=(1-\frac{\gamma\mu}{2})y^{t}",
    reading="s = (y - (1 - gamma mu/2) y)/gamma is the gradient of g~ = (mu/4)|.|^2 at y = x, as g~(w) is its tangent "
    "with the slope s, and (mu/4)|w - x|^2, at every w",
)
