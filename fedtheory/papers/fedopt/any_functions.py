"""Federated Optimization: settings of statements that need nothing of data, of any functions on any nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.classes import Smooth, SmoothStronglyConvex
from fedtheory.instances import Recipe, generic, number, numbers, pick
from fedtheory.learning.lower_bounds import Copies, Examples, Locals
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.predictors import K, L, Model, Two, eta, h, lamda, m, mu, n, sigma
from fedtheory.problems.base import Problem
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis

# f_1, ..., f_n, which the nodes hold


class Held(NamedTuple):
    """``h``: stepsize; ``m``: local steps; ``mu``, ``eta``: those of DANE; ``sizes``: how many functions each node
    holds."""

    h: Scalar
    m: int
    mu: Scalar
    eta: Scalar
    sizes: tuple[int, ...]


def _draw_held(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    count = len(recipe["clients"])
    ends = [*(i for i in range(1, count) if rng.random() < 1 / 2), count]
    return {
        **recipe,
        "sizes": tuple(b - a for a, b in zip([0, *ends], ends, strict=False)),
        "h": generic(rng, Fraction(1, 20), Fraction(2)),
        "steps": int(pick(rng, (1, 2, 2))),
        "regulariser": pick(rng, tuple(Fraction(v) for v in (0, "1/3", 1, 20))),
        "eta": pick(rng, tuple(Fraction(v) for v in (1, "1/2", 3))),
    }


def _held(recipe: Recipe, problem: Problem, exact: bool) -> Held:
    sizes = recipe["sizes"]
    if sum(sizes) != problem.n or min(sizes) < 1 or recipe["steps"] < 1:
        raise ValueError("every function lies on one node, and no node is empty")
    h, mu, eta = (number(recipe[name], exact) for name in ("h", "regulariser", "eta"))
    return Held(h, recipe["steps"], mu, eta, sizes)


def on_nodes(problem: Problem, params: Held) -> Any:
    """The functions of a problem where methods for data look for them."""
    f = Examples(problem.f, params.sizes)
    return SimpleNamespace(f=f, n=f.n, d=f.d)


def placed(method: Algorithm, params_of: Callable[[Held], object]) -> Algorithm:
    """A method for data on functions that the nodes hold; ``params_of``: its parameters, of those of the setting."""

    def draws(problem: Problem, params: Held, state: object) -> Any:
        return method.draws(on_nodes(problem, params), params_of(params), state)

    def step(problem: Problem, params: Held, state: object, draw: Array) -> Any:
        return method.step(on_nodes(problem, params), params_of(params), state, draw)

    return replace(method, Params=Held, draws=draws, step=step)


HELD = Setting(
    "f_1, ..., f_n with Lipschitz gradients, convex or not, on any nodes; any w and w^t",
    letters={
        L: "L",
        n: "n",
        K: lambda problem, params: len(params.sizes),
        h: "h",
        m: "m",
        mu: lambda problem, params: params.mu,
        eta: "eta",
    },
    algorithm=points(Two, Held, lambda problem, params: Two(problem.x_star, problem.x_star)),
    functions=Smooth(L, optimum="stationary"),
    drawing=Drawing(classes_stated=True, draw=_draw_held, parameters=_held),
    clients=(1, 2, 2, 3),
)

# F_1, ..., F_K for which (10) can be solved


class Solvable(NamedTuple):
    """``mu``, ``eta``: those of DANE; ``weights (K,)``: the n_k/n."""

    mu: Scalar
    eta: Scalar
    weights: Array


def _draw_solvable(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {
        **recipe,
        "sizes": tuple(int(v) for v in rng.integers(1, 4, len(recipe["clients"]))),
        "regulariser": pick(rng, tuple(Fraction(v) for v in (0, 0, "1/3", 1, 20))),
        "eta": pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", "7/10", 3))),
    }


def _solvable(recipe: Recipe, problem: Problem, exact: bool) -> Solvable:
    sizes = numbers(recipe["sizes"], exact)
    if len(sizes) != problem.n or min(recipe["sizes"]) < 1 or recipe["regulariser"] < 0:
        raise ValueError("every node holds something, and mu is at least 0")
    return Solvable(number(recipe["regulariser"], exact), number(recipe["eta"], exact), sizes / sizes.sum())


def locals_of(problem: Problem, params: Solvable) -> Any:
    """The F_k where methods for data look for them: with the mu of the parameters (10) is of the problem's class."""
    f = Locals(problem.f, params.weights, params.mu, problem.x_star)
    return SimpleNamespace(f=f, n=f.n, d=f.d, x_star=problem.x_star)


#: The least and the largest curvature of (10), of which n_k/n is taken out.
CURVATURES = _low, _high = sympy.symbols("m_G L_G", positive=True)
_CLASS = SmoothStronglyConvex(_low, _high, optimum="stationary")
LOCALS = Setting(
    "any F_1, ..., F_K, convex or not, for which (10) is a smooth and strongly convex problem, any n_k, and grad f(w*) "
    "= 0; any mu >= 0 and eta, any w",
    letters={_low: "mu", _high: "L", K: "n", mu: lambda problem, params: params.mu, eta: "eta"},
    algorithm=points(Model, Solvable, lambda problem, params: Model(problem.x_star)),
    functions=_CLASS,
    drawing=Drawing(classes_stated=True, draw=_draw_solvable, parameters=_solvable),
    clients=(1, 2, 2, 3),
)
#: The least of the n_k/n.
least_share = sympy.Symbol("min_k(n_k/n)", positive=True)
#: The condition on the F_k: the only hypothesis of the claims on them.
SOLVABLE = Hypothesis("(10) is smooth and strongly convex", met=_CLASS.contains)

# Quadratic F_1, ..., F_K, with two regularisers of (10)


class Larger(NamedTuple):
    """``mu``, ``more``: two local regularisers, mu and mu + more; ``eta``: the weight of the full gradient."""

    mu: Scalar
    more: Scalar
    eta: Scalar


class Moved(NamedTuple):
    """``w``, ``g (..., d)``: w^t, and a vector in the place of grad f(w^t)."""

    w: Array
    g: Array


def _draw_larger(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {**_draw_solvable(rng, recipe), "more": pick(rng, tuple(Fraction(v) for v in ("1/3", 1, 5, 100)))}


def _larger(recipe: Recipe, problem: Problem, exact: bool) -> Larger:
    if recipe["regulariser"] < 0 or recipe["more"] < 0 or recipe["eta"] <= 0:
        raise ValueError("mu >= 0, more >= 0 and eta > 0 are due")
    return Larger(*(number(recipe[name], exact) for name in ("regulariser", "more", "eta")))


def quadratics_of(problem: Problem, params: Larger) -> Any:
    """The F_k where methods for data look for them: with the mu of the parameters (10) is of the problem's class."""
    equal = np.broadcast_to(1 / (problem.n + 0 * params.mu), (problem.n,))
    f = Locals(problem.f, equal, params.mu, problem.x_star)
    return SimpleNamespace(f=f, n=f.n, d=f.d, x_star=problem.x_star)


_QUADRATICS = replace(_CLASS, quadratics=True)
more = sympy.Symbol("more", nonnegative=True)
LARGER = Setting(
    "any quadratic F_1, ..., F_K, convex or not, for which (10) is strongly convex; any mu >= 0, a larger one, mu + "
    "more, any eta > 0 and w, and any g for grad f(w)",
    letters={**LOCALS.sources, more: "more"},
    algorithm=points(Moved, Larger, lambda problem, params: Moved(problem.x_star, 0 * problem.x_star)),
    functions=_QUADRATICS,
    drawing=Drawing(classes_stated=True, draw=_draw_larger, parameters=_larger),
    clients=(1, 2, 2, 3),
)
#: The condition on these F_k.
QUADRATIC = Hypothesis("(10) is a strongly convex quadratic", met=_QUADRATICS.contains)

# The same function on every node


class Nodes(NamedTuple):
    """``K``: the number of nodes."""

    K: int


def _draw_nodes(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {**recipe, "K": int(pick(rng, (1, 1, 2, 3, 7)))}


def copies_of(problem: Problem, params: Nodes) -> Any:
    """The function, on every node, where methods for data look for it."""
    return SimpleNamespace(f=Copies(problem.f, params.K), n=params.K, d=problem.d, x_star=problem.x_star)


COPIES = Setting(
    "F_1 = ... = F_K, strongly convex and smooth; any w",
    letters={_low: "mu", _high: "L", K: "K"},
    algorithm=points(Model, Nodes, lambda problem, params: Model(problem.x_star)),
    functions=_CLASS,
    drawing=Drawing(
        classes_stated=True, draw=_draw_nodes, parameters=lambda recipe, problem, exact: Nodes(recipe["K"])
    ),
    clients=(1,),
)
SMOOTH_AND_STRONG = Hypothesis("F_k is smooth and strongly convex", met=_CLASS.contains)

# Algorithm 5


class Learning(NamedTuple):
    """``sigma``: that of Algorithm 5; ``lam``: lambda."""

    sigma: Scalar
    lam: Scalar


class Learnt(NamedTuple):
    """``w (..., d)``; ``g (..., K, d)``: the learnt vectors; ``b (..., K, d)``: (K/n) X_k alpha_k^0."""

    w: Array
    g: Array
    b: Array


def _draw_learning(rng: np.random.Generator, recipe: Recipe) -> Recipe:
    return {
        **recipe,
        "sigma": pick(rng, tuple(Fraction(v) for v in ("1/2", 1, "3/2", 2, 5))),
        "lam": generic(rng, Fraction(1, 50), Fraction(5)),
    }


def _learning(recipe: Recipe, problem: Problem, exact: bool) -> Learning:
    if recipe["sigma"] <= 0 or recipe["lam"] <= 0:
        raise ValueError("sigma and lambda must be positive")
    return Learning(number(recipe["sigma"], exact), number(recipe["lam"], exact))


def learning_of(problem: Problem, params: Learning) -> Any:
    """The F_k of eq. (12), whose mean is f, for which the problems of Algorithm 5 can be solved."""
    equal = np.broadcast_to(1 / (problem.n + 0 * params.lam), (problem.n,))
    mu = params.lam * (problem.n / params.sigma - 1)
    f = Locals(problem.f, equal, mu, problem.x_star, params.lam)
    return SimpleNamespace(f=f, n=f.n, d=f.d, x_star=problem.x_star)


def _at_optimum(problem: Problem, params: Learning) -> Learnt:
    none = np.zeros((problem.n, problem.d), dtype=int)
    return Learnt(problem.x_star, none, none)


LEARNING = Setting(
    "any F_1, ..., F_K, convex or not, for which line 8 of Algorithm 5 is a smooth and strongly convex problem, f "
    "their mean; any sigma > 0, lambda > 0, w, g_k and alpha^0",
    letters={_low: "mu", _high: "L", K: "n", sigma: "sigma", lamda: "lam"},
    algorithm=points(Learnt, Learning, _at_optimum),
    functions=_CLASS,
    drawing=Drawing(classes_stated=True, draw=_draw_learning, parameters=_learning),
    clients=(1, 2, 2, 3),
)
