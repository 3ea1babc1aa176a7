"""FedADMM: long runs of Algorithm 1 on functions of the plane, and what the theorems on limits assume of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.algorithms.selections import Covering, Fixed, Uniform
from fedtheory.instances import Instance, Instances, Recipe, generic, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.learning.receding import Receding, receding
from fedtheory.learning.subproblems import Adversary
from fedtheory.meanings import Coercive, Everywhere, Recurs
from fedtheory.numbers.rational import Array, square, to_float
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.iterates import objective, server_model
from fedtheory.papers.fedadmm.transition import SELECTED, SMOOTH, STEP, ratio
from fedtheory.problems.base import Problem, weighted_gradient, weighted_value
from fedtheory.problems.nonconvex import LessHuber, bent
from fedtheory.problems.optimum import Optimum
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.quantities import Away, Inner, Square
from fedtheory.settings.relations import Quantity


class Params(NamedTuple):
    """As :class:`fedadmm.Params`, and ``r (m,)``: declared Lipschitz constants; ``ratio``: the alpha_i r_i/sigma_i of
    all clients, a fraction; ``convex``: a bound on the curvature of f from below; ``w (d,)``: a stationary point, the
    minimiser where f is convex; ``zero``: whether the multipliers start at 0; ``flat``: whether f is constant about a
    minimiser."""

    alpha: Array
    sigma: Array
    nu: Array
    eps: Array
    k0: int
    selection: Any
    solver: Any
    r: Array
    ratio: Fraction
    convex: float
    w: Array
    zero: bool
    flat: bool = False


#: What a single step may meet: scales of m, sigma_i/(alpha_i r_i), 1 - nu_i, eps_i and starts; the largest d, subsets
#: in a plan beyond those that are needed, and iterations.
_CLIENTS, _DIMENSION, _MORE, _ITERATIONS = (Fraction(2), Fraction(64)), 8, 6, 64
_FACTORS, _SLOW = (Fraction(1, 10), Fraction(10**4)), (Fraction(1, 10**4), Fraction(1, 2))
_EPS, _STARTS = (Fraction(1, 10**8), Fraction(10**8)), (Fraction(1, 10**4), Fraction(10**9))
_KINDS = ("bent", "bent", "convex", "strong", "receding", "tail")


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        m = int(pick(rng, (2, 3, 4)))
        yield {
            "m": m,
            "d": 2,
            "kind": pick(rng, _KINDS),
            "functions": int(rng.integers(1000)),
            "k0": int(pick(rng, (1, 1, 2))),
            "s0": int(pick(rng, (2, 3))),
            "size": max(1, m // 2),
            "scheme": int(rng.random() < 0.9),
            "zero": int(rng.random() < 0.1),
            "residual": pick(rng, tuple(Fraction(v) for v in (0, "1/2", 1))),
            "factor": pick(rng, (Fraction(3),) * 8 + (Fraction(4), Fraction(2))),
            "declared": pick(rng, (Fraction(1),) * 9 + (Fraction(1, 2),)),
            "nu": pick(rng, (Fraction(1, 2), Fraction(3, 4))),
            "eps": pick(rng, (Fraction(1), Fraction(1, 100))),
            "start": Fraction(3),
        }


def _far(recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """Other sizes and constants, all at once: a step may depart at some of them only."""
    m = int(generic(rng, *_CLIENTS))
    size = int(rng.integers(-(-m // 6), m + 1))
    s0 = -(-m // size) + int(rng.integers(_MORE + 1))
    return {
        **recipe,
        "m": m,
        "d": int(rng.integers(1, _DIMENSION + 1)),
        "k0": int(generic(rng, Fraction(1), Fraction(_ITERATIONS, s0))),
        "s0": s0,
        "size": size,
        "residual": Fraction(int(rng.integers(17)), 16),
        "factor": generic(rng, *_FACTORS),
        "nu": 1 - generic(rng, *_SLOW),
        "eps": generic(rng, *_EPS),
        "start": generic(rng, *_STARTS),
    }


def _functions(recipe: Recipe, alpha: Array, rng: np.random.Generator) -> tuple[Any, float, Array]:
    """The f_i, a lower bound of the curvature of f, and a stationary point of f."""
    m, d = recipe["m"], recipe["d"]
    if recipe["kind"] == "receding":
        return receding(m, d, rng, to_float), -np.inf, np.full(d, np.nan)
    if recipe["kind"] == "tail":
        # Convex, and not coercive.
        flat = receding(m, d, rng, to_float)
        return Receding(flat.a, 0 * flat.b, flat.c, flat.e), 0.0, np.full(d, np.nan)
    if recipe["kind"] == "flat":
        return _flat(m, d), 0.0, np.zeros(d)
    f: Any = bent(m, d, rng, to_float)
    if recipe["kind"] in ("convex", "strong"):
        # The other functions make up for the bend of the first.
        wanted = 0.5 if recipe["kind"] == "strong" else 0.0
        missing = max(0.0, wanted - float((alpha * f.mu).sum()))
        more = np.where(np.arange(m) > 0, missing / alpha[1:].sum(), 0.0)
        f = LessHuber(f.h + more[:, None], f.c, f.u, f.b, f.t, f.width)
    w: Any = rng.standard_normal(d)
    return f.stationary_at(w, alpha), float((alpha * f.mu).sum()), w


def _flat(m: int, d: int) -> LessHuber:
    """f_i alike: |x|^2/2, but constant in the first coordinate up to a distance of 1 from the origin. They are convex,
    coercive, and minimal all along a segment."""
    one, first = np.ones(m), np.zeros((m, d))
    first[:, 0] = 1
    return LessHuber(np.ones((m, d)), np.zeros((m, d)), first, one, 0 * one, one)


def _or_flat(rng: np.random.Generator) -> Iterator[Recipe]:
    """One of eight with a segment of minimisers."""
    for recipe in _recipes(rng):
        yield {**recipe, "kind": "flat"} if rng.random() < 1 / 8 else recipe


def _build(recipe: Recipe, exact: bool, independent: bool = False) -> Instance:
    """``independent``: uniform subsets, each round's its own, for those of Scheme 4.1."""
    m, d = recipe["m"], recipe["d"]
    if m < 2 or d < 1 or not 1 <= recipe["size"] <= m or min(recipe["k0"], recipe["s0"]) < 1:
        raise ValueError("a long run needs two clients or more and subsets of them")
    positive = ("factor", "declared", "eps", "start")
    if min(recipe[name] for name in positive) <= 0 or not Fraction(1, 2) <= recipe["nu"] < 1:
        raise ValueError("penalties, accuracies and starts must be positive, 1/2 <= nu_i < 1")
    if not 0 <= recipe["residual"] <= 1:
        raise ValueError("residuals lie in [0, 1]")
    rng = np.random.default_rng(recipe["functions"])
    alpha = rng.dirichlet(np.full(m, 3.0))
    f, convex, w = _functions(recipe, alpha, rng)
    r = to_float(recipe["declared"]) * to_float(f.L)
    direction = rng.standard_normal((m, d))
    direction *= float(recipe["residual"]) * (1 - 1e-12) / np.sqrt(square(direction))[:, None]
    size, s0 = recipe["size"], max(recipe["s0"], -(-m // recipe["size"]))
    covering: Any = Uniform(m, size, s0) if independent else Covering(m, size, s0)
    selection = covering if recipe["scheme"] else Fixed(np.arange(m)[None] < size)
    sigma = float(recipe["factor"]) * alpha * r
    nu, eps = np.full(m, float(recipe["nu"])), np.full(m, float(recipe["eps"]))
    params = Params(
        alpha,
        sigma,
        nu,
        eps,
        recipe["k0"],
        selection,
        Adversary(direction),
        r,
        1 / recipe["factor"],
        convex,
        w,
        bool(recipe["zero"]),
        recipe["kind"] == "flat",
    )
    optimal = Optimum(w, f.gradient(np.broadcast_to(w, (m, d))), 0.0) if np.isfinite(w).all() and convex >= 0 else None
    problem = Problem(f, known=optimal)

    def at(theta: Array) -> tuple[Problem, fedadmm.State]:
        blocks = float(recipe["start"]) * to_float(theta).reshape(len(theta), 1, m + 1, d)
        W, start = blocks[..., 1:, :], blocks[..., 0, :]
        state = fedadmm.init(problem, params, W, 0 * W if params.zero else None, start)  # type: ignore[arg-type]
        return problem, state._replace(eps=np.broadcast_to(eps, (len(theta), 1, m)))

    text = ", ".join(f"{name}={recipe[name]}" for name in recipe)
    return Instance(problem, params, (m + 1) * d, at, quadratic=False, text=text)


LONG_RUNS = Instances(_recipes, _build, far=_far)
LONG = Setting(
    "Algorithm 1 on f_i convex or not; random subsets, residuals as large as (6) allows; any start. What is looked at "
    "are runs of some hundred steps, of few clients in two coordinates, that approach their limit at a geometric rate: "
    "such runs support a limit, and refute none",
    letters={ratio: "ratio"},
    drawing=Drawing(special=LONG_RUNS),
)

#: With functions whose stationary points are not isolated.
FLAT_TOO = replace(LONG, drawing=replace(LONG.drawing, special=Instances(_or_flat, _build, far=_far)))
RANDOM = replace(
    LONG,
    text=f"{LONG.text}. The subsets of all rounds are independent and uniform",
    drawing=replace(LONG.drawing, special=Instances(_recipes, partial(_build, independent=True), far=_far)),
)
RANDOM_FLAT_TOO = replace(
    RANDOM,
    drawing=replace(LONG.drawing, special=Instances(_or_flat, partial(_build, independent=True), far=_far)),
)

COERCIVE = Hypothesis(
    "Assumption 4.2: f is coercive",
    met=lambda problem, params: not isinstance(problem.f, Receding),
    says=(Coercive(objective, server_model),),
)
SCHEME = Hypothesis(
    "Scheme 4.1", met=lambda problem, params: isinstance(params.selection, Covering), says=(Recurs(SELECTED),)
)
INDEPENDENT = Hypothesis(
    "the subsets are independent and uniform", met=lambda problem, params: isinstance(params.selection, Uniform)
)
START = Hypothesis(
    "pi_i^0 = -alpha_i grad f_i(w_i^0), as Algorithm 1 says", met=lambda problem, params: not params.zero
)


# Assumptions of the theorems on f, as inequalities at the model of the server


def optimum(problem: Problem, params: object) -> Array:
    """w*, a minimiser of f: there is one, as f is coercive and continuous."""
    return problem.x_star


def least(problem: Problem, params: Any) -> Array:
    """f* = f(w*)."""
    return weighted_value(problem, params.alpha, problem.x_star)


def gradient(problem: Problem, params: Any, at: Any) -> Array:
    """The gradient of f at the model of the server."""
    return weighted_gradient(problem, params.alpha, at.w)


def _at(name: str, function: Any) -> Quantity:
    return transition.at(name, function)


#: f(w^{tau_k}) - f*, and the inner product of grad f(w^{tau_k}) and w^{tau_k} - w*.
ABOVE = _at("f(w^{tau_k})-f*", Away(objective, least))
TOWARDS = _at("<grad_f(w^{tau_k}),w^{tau_k}-w*>", Inner(gradient, Away(server_model, optimum)))
_DISTANCE = _at("|w^{tau_k}-w*|^2", Square(Away(server_model, optimum)))
#: A modulus of strong convexity, and below what it may be 0, in floats.
_modulus, _ROUNDING = sympy.Symbol("mu", positive=True), 1e-9


def _everywhere(left: sympy.Expr, right: sympy.Expr, *quantities: Quantity) -> Everywhere:
    return Everywhere(Inequality(left, right, quantities))


_BELOW_TANGENTS = (
    _everywhere(sympy.S.Zero, ABOVE.expression, ABOVE),
    _everywhere(ABOVE.expression, TOWARDS.expression, ABOVE, TOWARDS),
)
_MONOTONE = Everywhere(
    Inequality(_modulus * _DISTANCE.expression, TOWARDS.expression, (_DISTANCE, TOWARDS)),
    {_modulus: lambda problem, params: (params.alpha * problem.f.mu).sum()},
)
CONVEX = Hypothesis("f is convex", met=lambda problem, params: params.convex >= 0, says=_BELOW_TANGENTS)
STRONG = Hypothesis(
    "f is strongly convex",
    met=lambda problem, params: params.convex > _ROUNDING,
    says=(Coercive(objective, server_model), *_BELOW_TANGENTS, _MONOTONE),
)
ASSUMED = (SMOOTH, COERCIVE, STEP, SCHEME)

__all__ = [
    "ASSUMED",
    "COERCIVE",
    "CONVEX",
    "FLAT_TOO",
    "INDEPENDENT",
    "LONG",
    "LONG_RUNS",
    "RANDOM",
    "RANDOM_FLAT_TOO",
    "SCHEME",
    "START",
    "STRONG",
]
